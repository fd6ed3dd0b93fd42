"""Writes the selection tables that come with Muster as C++: parsing them took each process of a
program longer than all else that it does at its start.

usage: tables.py TABLE.json... HEADER
"""
import json
import pathlib
import sys

HEAD = """#pragma once

#include <array>
#include <string_view>

#include <muster/select/selection.hpp>

namespace muster::tune {

/// A rule of a table that comes with Muster.
struct built_in_rule {
  collective what;
  selection_table::range nodes;
  selection_table::range ranks_a_node;
  selection_table::range bytes;
  std::string_view algorithm;
};
"""


def ends(rule, key):
    first, last = rule.get(key, [0, None])
    return f"{{{first}}}" if last is None else f"{{{first}, {last}}}"


def written(rule):
    ranges = ", ".join(ends(rule, key) for key in ("nodes", "ranks_a_node", "bytes"))
    what = json.dumps(rule["algorithm"])
    return f"    {{collective::{rule['collective']}, {ranges}, {what}}},\n"


def main(tables, header):
    text = HEAD
    for table in map(pathlib.Path, tables):
        rules = json.loads(table.read_text())["rules"]
        text += f"\ninline constexpr std::array<built_in_rule, {len(rules)}> rules_of_{table.stem}{{{{\n"
        text += "".join(map(written, rules)) + "}};\n"
    pathlib.Path(header).write_text(text + "\n}  // namespace muster::tune\n")


main(sys.argv[1:-1], sys.argv[-1])
