"""Writes a C++ source that holds machine models: embed.py MODEL.json... > models_data.cpp"""

import pathlib
import sys

HEAD = """\
#include <array>

#include "tools/command/sim/models.hpp"

namespace muster::simulator {
namespace {

constexpr std::array models = {
"""
TAIL = """\
};

}  // namespace

std::span<const embedded_model> embedded_models() noexcept { return models; }

}  // namespace muster::simulator
"""


def entry(path):
    return f'    embedded_model{{"{path.stem}", R"model({path.read_text(encoding="utf-8")})model"}},\n'


def main(paths):
    text = HEAD + "".join(map(entry, sorted(map(pathlib.Path, paths)))) + TAIL
    sys.stdout.buffer.write(text.encode("utf-8"))


main(sys.argv[1:])
