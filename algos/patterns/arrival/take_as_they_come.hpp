#pragma once

#include <muster/run/context.hpp>

namespace muster::algos {

/// The root's part of a gather of blocks of any lengths from ranks of any nodes: invites everybody
/// at once, then takes the blocks in the order in which they come.
task<> take_as_they_come(context& me, const arguments& call);

}  // namespace muster::algos
