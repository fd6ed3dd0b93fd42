"""Packs a Python package into one file that runs: pack.py FILE MODULE.py…

The same modules give the same file, whenever and wherever it is made.
"""

import pathlib
import sys
import zipfile

PYTHON = b"#!/usr/bin/python3\n"  # Debian's, which has Debian's matplotlib
START = "from {}.__main__ import main\n\nmain()\n"
FIRST_DAY = (1980, 1, 1, 0, 0, 0)


def main() -> None:
    program, *modules = map(pathlib.Path, sys.argv[1:])
    package = modules[0].parent.name
    files = {f"{package}/{module.name}": module.read_text("utf-8") for module in modules}
    files["__main__.py"] = START.format(package)
    with program.open("wb") as out:
        out.write(PYTHON)
        with zipfile.ZipFile(out, "w") as archive:
            for name in sorted(files):
                archive.writestr(zipfile.ZipInfo(name, FIRST_DAY), files[name])
    program.chmod(0o755)


main()
