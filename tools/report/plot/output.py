"""A page as a file."""

from __future__ import annotations

import io
import pathlib

from plot.page import Page


def svg_of(page: Page) -> str:
    text = io.StringIO()
    metadata = {"Title": page.title, "Date": None, "Creator": "muster plot"}
    page.figure.savefig(text, format="svg", metadata=metadata)
    # A path in a line.
    return text.getvalue().replace(" \n", " ")


def html_of(page: Page) -> str:
    svg = svg_of(page)
    return (
        '<!doctype html>\n<html lang="en">\n<head><meta charset="utf-8">'
        "<style>body{margin:0;background:#fff}"
        "svg{display:block;margin:0 auto;max-width:100%;height:auto}</style></head>\n"
        f"<body>\n{svg[svg.index('<svg'):]}</body>\n</html>\n"
    )


def write(page: Page, file: pathlib.Path) -> None:
    """SVG, a page with it, or whatever else matplotlib writes, as the name says."""
    if file.suffix in (".html", ".htm"):
        file.write_text(html_of(page), "utf-8")
    elif file.suffix in (".svg", ""):
        file.write_text(svg_of(page), "utf-8")
    else:
        page.figure.savefig(file)
