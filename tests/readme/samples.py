#!/usr/bin/env python3
"""A page shows the files that it says it shows, as they are, and no other C++.

usage: samples.py PAGE FILE...
"""

import re
import sys

page, files = sys.argv[1], sys.argv[2:]
with open(page, encoding="utf-8") as file:
    shown = dict(re.findall(r"^`([^`\n]+)`:\n\n```cpp\n(.*?)```$", file.read(), re.DOTALL | re.MULTILINE))

failed = 0
for path in files:
    with open(path, encoding="utf-8") as file:
        if shown.pop(path, None) == file.read():
            continue
    failed += 1
    print(f"{page} does not show {path} as it is: expected its path in backquotes with a colon, then its text")
for path in shown:
    failed += 1
    print(f"{page} shows {path}, which no test builds")
print(f"cases: {max(len(files) - failed, 0)} passed, {failed} failed")
sys.exit(1 if failed else 0)
