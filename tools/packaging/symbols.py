"""Which symbols libmuster.so has: those of what its installed headers declare, and nothing else.

A function or class in namespace muster is public where an installed header declares it, and so is a function of C
whose name begins with muster_. Everything else, our own and
what headers of other projects have left in our objects, is local: a program may have a Muster, a {fmt} or a JSON
library of another version beside it.
"""

import re

from commands import run

# Before the name, in what is said of a symbol that the compiler makes for a class or a variable.
MADE_FOR = re.compile(r"^(?:typeinfo(?: name)?|vtable|VTT|guard variable|TLS (?:init|wrapper) function) for ")
COMMENT = re.compile(r"//.*")
NAMESPACE = re.compile(r"\bnamespace ([a-z_:]+) \{")
DECLARATIONS = [
    re.compile(r"\b(?:class|struct)\s+(?:\[\[\w+\]\]\s+)?(\w+)[^;(){}]*\{"),
    re.compile(r"\b(\w+)\s*\("),  # a function
    re.compile(r"\b(?:extern|inline|static)\s[^;(){}]*?\b(\w+)\s*(?:=|\{|;)"),  # a variable
]
# Code, and data. Inline functions are compiled by whoever calls them.
EXPORTED = set("TDBRVu")


def declared(headers):
    """Names of classes and functions, and of namespaces."""
    names, namespaces = set(), set()
    for header in headers:
        text = COMMENT.sub("", header.read_text())
        for pattern in DECLARATIONS:
            names.update(pattern.findall(text))
        for path in NAMESPACE.findall(text):
            namespaces.update(path.split("::"))
    return names, namespaces


def is_public(demangled, names, namespaces):
    if demangled.startswith("muster_"):  # a name of C++ has its namespace and its parameters
        return demangled in names
    parts = re.findall(r"[\w~]+", re.split(r"[(<\[]", MADE_FOR.sub("", demangled))[0])
    if not parts or parts[0] != "muster":
        return False
    first = next((part for part in parts[1:] if part not in namespaces), "")
    return first in names


def exported(archive, headers):
    """The symbols, as the linker knows them."""
    names, namespaces = declared(headers)
    listed = run("nm", "--defined-only", "--extern-only", "--format=posix", archive)
    lines = (line.split() for line in listed.splitlines())
    found = sorted({words[0] for words in lines if len(words) > 1 and words[1] in EXPORTED})
    plain = run("c++filt", input="\n".join(found))
    return [symbol for symbol, text in zip(found, plain.splitlines()) if is_public(text, names, namespaces)]


def version_script(archive, headers, node):
    lines = "".join(f"    {symbol};\n" for symbol in exported(archive, headers))
    return f"{node} {{\n  global:\n{lines}  local:\n    *;\n}};\n"
