#pragma once

#include "algos/patterns/node/node_alltoall.hpp"
#include "algos/patterns/node/node_messages.hpp"

/// Alltoalls over nodes in which every rank has its peers on the other nodes.
///
/// A rank speaks for its node to the ranks of its own index on each other node; where that has more
/// ranks than this one, also to those of its index plus any multiple of this node's size. So each
/// rank hears from one rank of each other node, and each block has one way. What they send is a row
/// of a piece by destination: all that the node has for the receiver.
namespace muster::algos {

/// Sends this rank's peers on a node their rows of the piece that goes there.
task<> send_to_peers(node_alltoall& in, std::size_t node, std::span<std::byte> piece);

/// Lets those who speak to this rank send what they have for it.
task<> invite_peers(node_alltoall& in, node_messages& rows);
/// Receives it. In step s from the node s back.
task<> receive_from_peers(node_alltoall& in, node_messages& rows);

}  // namespace muster::algos
