"""Draws what Muster's commands found, from the JSON that they write.

The JSON says itself what it is: measurements of muster bench, simulations of muster sim, what
muster sim --validate compared, a selection table, or the arrivals of a recorded run. The same JSON
gives the same file.
"""

from __future__ import annotations

import argparse
import json
import pathlib
import sys

from plot.kinds import drawing_of
from plot.output import write


def main() -> None:
    parser = argparse.ArgumentParser(prog="muster plot", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("json", metavar="FILE.json", help="what a command wrote; -: standard input")
    parser.add_argument("-o", metavar="FILE", dest="file", type=pathlib.Path,
                        help="the picture: .svg, .html, .png or .pdf (default: FILE.svg)")
    wanted = parser.parse_args()
    file = wanted.file or pathlib.Path(wanted.json).with_suffix(".svg")
    try:
        text = sys.stdin.read() if wanted.json == "-" else pathlib.Path(wanted.json).read_text("utf-8")
        write(drawing_of(json.loads(text)), file)
    except (OSError, ValueError, RecursionError) as why:
        sys.exit(f"muster plot: {wanted.json}: {why}")


if __name__ == "__main__":
    main()
