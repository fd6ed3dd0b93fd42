#!/usr/bin/env python3
"""Each piece of C++ on the guide's pages is a piece of a file that is compiled, and each such piece is on a page.

usage: shown.py PAGE... -- FILE...

Before a piece a page says where it is from, `<!-- FILE: NAME -->` for what stands in FILE between the comments `[NAME]`
and `[NAME end]`, or `<!-- FILE -->` for all of it. Indentation does not count. Proves first, on a made-up page, that
what differs is found.
"""

import re
import sys
import textwrap

PIECE = re.compile(r"^ *(?://|#) \[([\w ]+)\]\n(.*?)^ *(?://|#) \[\1 end\]$", re.DOTALL | re.MULTILINE)
BLOCK = re.compile(r"(?:^<!-- ([^:\n]+?)(?:: ([^\n]+?))? -->\n\n?)?^```(\w*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)


def pieces(files):
    """From texts by path: the text of each piece by path and name; None names the whole file."""
    found = {}
    for path, text in files.items():
        named = PIECE.findall(text)
        for name, inside in named:
            found[path, name] = textwrap.dedent(inside)
        if not named:
            found[path, None] = text
    return found


def complaints(pages, files):
    left = pieces(files)
    known = dict(left)
    wrong = []
    for page, text in pages.items():
        for path, name, language, shown in BLOCK.findall(text):
            key = (path, name or None)
            first = shown.split("\n", 1)[0]
            if not path:
                if language == "cpp":
                    wrong.append(f"{page}: '{first}' has no comment before it that says where it is from")
            elif key not in known:
                wrong.append(f"{page}: {path} has no piece '{name}'")
            else:
                left.pop(key, None)
                if textwrap.dedent(shown) != known[key]:
                    wrong.append(f"{page}: '{first}' is not what {path} has as '{name}'")
    wrong += [f"{path}: no page shows '{name}'" for path, name in left]
    return wrong


FILES = {"a.cpp": "int main() {\n  // [one]\n  f();\n  // [one end]\n}\n", "b.cpp": "int b;\n"}
WHOLE = "<!-- b.cpp -->\n```cpp\nint b;\n```\n"
# a page, whether it is right
PAGES = [
    ("<!-- a.cpp: one -->\n\n```cpp\nf();\n```\n" + WHOLE, True),
    ("<!-- a.cpp: one -->\n```cpp\ng();\n```\n" + WHOLE, False),
    ("<!-- a.cpp: two -->\n```cpp\nf();\n```\n" + WHOLE, False),
    ("```cpp\nf();\n```\n<!-- a.cpp: one -->\n```cpp\nf();\n```\n" + WHOLE, False),
    ("<!-- a.cpp: one -->\n```cpp\nf();\n```\n", False),
    ("<!-- a.cpp: one -->\n```cpp\nf();\n```\n<!-- b.cpp -->\n```cpp\nint c;\n```\n", False),
]


def read(paths):
    texts = {}
    for path in paths:
        with open(path, encoding="utf-8") as file:
            texts[path] = file.read()
    return texts


def main():
    failed = 0
    for page, right in PAGES:
        if (not complaints({"page": page}, FILES)) != right:
            failed += 1
            print(f"should be {'right' if right else 'wrong'}:\n{page}")
    end = sys.argv.index("--")
    pages, files = read(sys.argv[1:end]), read(sys.argv[end + 1 :])
    wrong = complaints(pages, files)
    print("\n".join(wrong), end="\n" if wrong else "")
    count = sum(language == "cpp" for text in pages.values() for _, _, language, _ in BLOCK.findall(text))
    print(f"{count} pieces of C++")
    failed += bool(wrong) + (count < 20)
    print(f"cases: {len(PAGES) + 2 - failed} passed, {failed} failed")
    return 1 if failed else 0


sys.exit(main())
