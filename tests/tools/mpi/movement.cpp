#include "tests/tools/mpi/movement.hpp"

#include <algorithm>
#include <numeric>
#include <optional>
#include <sstream>
#include <utility>
#include <vector>

#include <muster/base/random.hpp>

#include "tests/tools/mpi/accelerator.hpp"
#include "tests/tools/mpi/image.hpp"

namespace muster::testing {
namespace {

using enum movement;

constexpr bool varies(movement what) { return what >= scatterv; }
constexpr bool is_scatter(movement what) { return what == scatter || what == scatterv; }
constexpr bool is_gather(movement what) { return what == gather || what == gatherv; }
constexpr bool is_allgather(movement what) { return what == allgather || what == allgatherv; }
constexpr bool is_alltoall(movement what) {
  return what == alltoall || what == alltoallv || what == alltoallw;
}

const char* name_of(movement what) {
  static constexpr const char* names[] = {"bcast",     "scatter",  "gather",  "allgather",
                                          "alltoall",  "scatterv", "gatherv", "allgatherv",
                                          "alltoallv", "alltoallw"};
  return names[static_cast<std::size_t>(what)];
}

std::uint64_t mixed(std::uint64_t seed, std::uint64_t a, std::uint64_t b) {
  return mix_bits(mix_bits(seed + a * 0x9e37'79b9) + b);
}

/// What a case says to one rank.
class plan {
public:
  plan(const movement_case& what, int rank, int size)
      : what_(what), rank_(rank), at_root_(rank == what.root) {
    if (sends()) lay(sent_, *what.sent, sends_blocks() ? size : 1);
    if (receives()) lay(received_, *what.received, receives_blocks() ? size : 1);
  }

  bool in_place() const {
    if (!what_.in_place) return false;
    return is_alltoall(what_.what) || is_allgather(what_.what) || at_root_;
  }
  const std::vector<block>& sent() const { return sent_; }
  const std::vector<block>& received() const { return received_; }

  /// The message in a block of what is sent, and in one of what has arrived.
  std::uint64_t sent_key(int block, int round) const {
    return sends_blocks() ? key(rank_, block, round) : key(rank_, rank_, round);
  }
  std::uint64_t received_key(int block, int round) const {
    if (!receives_blocks()) return key(what_.root, rank_, round);
    return key(block, rank_, round);
  }

private:
  bool sends() const {
    if (what_.what == bcast) return at_root_;
    if (is_scatter(what_.what)) return at_root_;
    return is_gather(what_.what) ? !(at_root_ && what_.in_place) : !what_.in_place;
  }
  bool receives() const {
    if (what_.what == bcast) return !at_root_;
    if (is_gather(what_.what)) return at_root_;
    return !(is_scatter(what_.what) && at_root_ && what_.in_place);
  }
  bool sends_blocks() const { return is_scatter(what_.what) || is_alltoall(what_.what); }
  bool receives_blocks() const {
    return is_gather(what_.what) || is_allgather(what_.what) || is_alltoall(what_.what);
  }

  std::uint64_t key(int from, int to, int round) const {
    if (what_.what == bcast || is_gather(what_.what) || is_allgather(what_.what)) to = 0;
    return mixed(what_.seed + static_cast<std::uint64_t>(round), static_cast<std::uint64_t>(from),
                 static_cast<std::uint64_t>(to));
  }

  /// Elements from one rank to another; both ways the same where all is in place.
  std::size_t elements(int from, int to) const {
    if (!varies(what_.what)) return what_.elements;
    if (what_.in_place && from > to) std::swap(from, to);
    if (is_gather(what_.what) || is_allgather(what_.what)) to = 0;
    const std::uint64_t bits =
        mixed(~what_.seed, static_cast<std::uint64_t>(from), static_cast<std::uint64_t>(to));
    if (bits % 4 == 0) return 0;
    const std::size_t whole = common_elements;
    return (bits >> 8) % (what_.elements / whole + 1) * whole;
  }

  void lay(std::vector<block>& side, const shape& of, int blocks) const {
    const bool sends_it = &side == &sent_;
    for (int i = 0; i < blocks; ++i) {
      std::size_t length = 0;
      if (is_alltoall(what_.what)) {
        length = sends_it ? elements(rank_, i) : elements(i, rank_);
      } else if (is_scatter(what_.what)) {
        length = elements(what_.root, blocks == 1 ? rank_ : i);
      } else {
        length = elements(blocks == 1 ? rank_ : i, 0);
      }
      side.push_back({.count = length / of.elements, .of = &of});
    }
    if (varies(what_.what) && blocks > 1) {
      scatter_blocks(side, of, sends_it);
    } else {
      std::ptrdiff_t at = 0;
      for (block& one : side)
        at = (one.at = at) + static_cast<std::ptrdiff_t>(one.count) * of.extent;
    }
  }

  /// In some order, with gaps, on both sides of the address.
  void scatter_blocks(std::vector<block>& side, const shape& of, bool sends_it) const {
    random_stream chance(mixed(what_.seed, static_cast<std::uint64_t>(rank_), sends_it ? 1 : 2));
    std::vector<std::size_t> order(side.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[chance.below(i)]);
    std::ptrdiff_t at = 0;
    for (const std::size_t i : order) {
      at += static_cast<std::ptrdiff_t>(chance.below(3)) * of.extent;
      side[i].at = at;
      at += static_cast<std::ptrdiff_t>(side[i].count) * of.extent;
    }
    const std::ptrdiff_t middle = side[chance.below(side.size())].at;
    for (block& one : side) one.at -= middle;
  }

  const movement_case& what_;
  int rank_;
  bool at_root_;
  std::vector<block> sent_;
  std::vector<block> received_;
};

/// A buffer as MPI is given it, and as it should be after the call.
class side {
public:
  side(const std::vector<block>& blocks, const shape& of, unsigned char guard, bool frees_type)
      : blocks_(blocks),
        memory_(blocks, guard),
        expected_(blocks, guard),
        far_(memory_.bytes().size()),
        type_(of.type) {
    if (frees_type) {
      MPI_Type_dup(of.type, &type_);
      is_own_ = true;
    }
  }

  void clear() {
    memory_.clear();
    expected_.clear();
  }
  void hold(std::size_t block, std::uint64_t key) { memory_.put(blocks_[block], key); }
  void expect(std::size_t block, std::uint64_t key) { expected_.put(blocks_[block], key); }
  std::size_t blocks() const { return blocks_.size(); }

  void* address() { return far_.place(memory_.bytes().data(), memory_.origin()); }
  /// Where MPI finds it.
  void hand_over() { far_.upload(memory_.bytes().data()); }
  MPI_Datatype type() const { return type_; }
  void free_type() {
    if (is_own_) MPI_Type_free(&type_);
  }
  void verify(job& of, const char* name) {
    far_.download(memory_.bytes().data());
    const auto wrong = memory_.difference(expected_);
    if (wrong) {
      of.check(false, name, ": byte ", *wrong, " is ", memory_.byte(*wrong), "; expected ",
               expected_.byte(*wrong));
    }
  }

private:
  const std::vector<block>& blocks_;
  image memory_;
  image expected_;
  far_copy far_;
  MPI_Datatype type_;
  bool is_own_ = false;
};

/// Counts and displacements in one of MPI's widths.
template <class Count>
struct layout {
  using displacement = typename functions<Count>::displacement;
  std::vector<Count> counts;
  std::vector<displacement> displacements;
  std::vector<MPI_Datatype> types;

  layout(const std::vector<block>& blocks, std::size_t ranks, bool in_bytes, MPI_Datatype type)
      : counts(ranks), displacements(ranks), types(ranks, type) {
    for (std::size_t i = 0; i < blocks.size(); ++i) {
      counts[i] = static_cast<Count>(blocks[i].count);
      displacements[i] =
          static_cast<displacement>(in_bytes ? blocks[i].at : blocks[i].at / blocks[i].of->extent);
    }
  }
};

template <class Count>
void call(const turns& by, const movement_case& what, const plan& mine, side& send, side& receive,
          MPI_Comm on) {
  using mpi = functions<Count>;
  int size = 0;
  MPI_Comm_size(on, &size);
  const bool in_bytes = what.what == alltoallw;
  const layout<Count> out(mine.sent(), static_cast<std::size_t>(size), in_bytes, send.type());
  const layout<Count> in(mine.received(), static_cast<std::size_t>(size), in_bytes, receive.type());

  void* to = receive.address();
  const void* from = send.address();
  if (mine.in_place() && is_scatter(what.what)) {
    to = MPI_IN_PLACE;
  } else if (mine.in_place()) {
    from = MPI_IN_PLACE;
  }
  // MPI_Scatter and its like want the counts of what other ranks send or receive to be right, too.
  const auto uniform = [&](const layout<Count>& all, const shape& of) {
    return varies(what.what) ? all.counts[0] : static_cast<Count>(what.elements / of.elements);
  };
  const Count sent = uniform(out, *what.sent);
  const Count received = uniform(in, *what.received);

  switch (what.what) {
    case bcast: {
      side& own = mine.sent().empty() ? receive : send;
      const Count count = mine.sent().empty() ? received : sent;
      return carry_out(by, mpi::bcast, own.address(), count, own.type(), what.root, on);
    }
    case scatter:
      return carry_out(by, mpi::scatter, from, sent, send.type(), to, received, receive.type(),
                       what.root, on);
    case gather:
      return carry_out(by, mpi::gather, from, sent, send.type(), to, received, receive.type(),
                       what.root, on);
    case allgather:
      return carry_out(by, mpi::allgather, from, sent, send.type(), to, received, receive.type(),
                       on);
    case alltoall:
      return carry_out(by, mpi::alltoall, from, sent, send.type(), to, received, receive.type(),
                       on);
    case scatterv:
      return carry_out(by, mpi::scatterv, from, out.counts.data(), out.displacements.data(),
                       send.type(), to, received, receive.type(), what.root, on);
    case gatherv:
      return carry_out(by, mpi::gatherv, from, sent, send.type(), to, in.counts.data(),
                       in.displacements.data(), receive.type(), what.root, on);
    case allgatherv:
      return carry_out(by, mpi::allgatherv, from, sent, send.type(), to, in.counts.data(),
                       in.displacements.data(), receive.type(), on);
    case alltoallv:
      return carry_out(by, mpi::alltoallv, from, out.counts.data(), out.displacements.data(),
                       send.type(), to, in.counts.data(), in.displacements.data(), receive.type(),
                       on);
    case alltoallw:
      return carry_out(by, mpi::alltoallw, from, out.counts.data(), out.displacements.data(),
                       out.types.data(), to, in.counts.data(), in.displacements.data(),
                       in.types.data(), on);
  }
}

}  // namespace

std::string movement_case::describe() const {
  std::ostringstream text;
  text << (how == form::nonblocking ? "i" : "") << name_of(what)
       << (how == form::persistent ? "_init" : "") << (large ? "_c" : "")
       << (in_place ? " in place" : "") << " of " << elements << " x " << sent->name;
  if (received != sent) text << " to " << received->name;
  if (has_root(what)) text << ", root " << root;
  if (frees_types) text << ", types freed";
  text << ", case " << seed;
  return text.str();
}

void check_movement(job& of, MPI_Comm on, const movement_case& what) {
  of.now(what.describe());
  int rank = 0;
  int size = 0;
  MPI_Comm_rank(on, &rank);
  MPI_Comm_size(on, &size);
  const plan mine(what, rank, size);
  // Padding may be copied or not: then both sides have the same there.
  const unsigned char guard = 0xa5;
  side send(mine.sent(), *what.sent, what.sent->pads ? guard : 0x5a, what.frees_types);
  side receive(mine.received(), *what.received, guard, what.frees_types);

  turns by{.how = what.how, .tests = what.tests, .prepare = {}, .meanwhile = {}, .verify = {}};
  by.prepare = [&](int round) {
    send.clear();
    receive.clear();
    for (std::size_t i = 0; i < send.blocks(); ++i) {
      send.hold(i, mine.sent_key(static_cast<int>(i), round));
      send.expect(i, mine.sent_key(static_cast<int>(i), round));
    }
    for (std::size_t i = 0; i < receive.blocks(); ++i) {
      receive.expect(i, mine.received_key(static_cast<int>(i), round));
    }
    if (mine.in_place() && is_alltoall(what.what)) {
      for (std::size_t i = 0; i < receive.blocks(); ++i) {
        receive.hold(i, mine.sent_key(static_cast<int>(i), round));
      }
    } else if (mine.in_place() && !is_scatter(what.what)) {
      const auto own = static_cast<std::size_t>(rank);
      receive.hold(own, mine.received_key(rank, round));
    }
    send.hand_over();
    receive.hand_over();
  };
  by.meanwhile = [&] {
    send.free_type();
    receive.free_type();
  };
  by.verify = [&](int) {
    send.verify(of, "sent");
    receive.verify(of, "received");
  };
  if (what.large) return call<large_count>(by, what, mine, send, receive, on);
  call<int>(by, what, mine, send, receive, on);
}

}  // namespace muster::testing
