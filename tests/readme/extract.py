"""Prints the first C++ example of a Markdown file."""

import re
import sys

with open(sys.argv[1], encoding="utf-8") as page:
    print(re.search(r"```cpp\n(.*?)```", page.read(), re.DOTALL).group(1))
