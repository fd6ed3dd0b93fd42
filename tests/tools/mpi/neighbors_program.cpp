// Neighbourhood collectives on every kind of topology, in every form, against plain references.
// With `alone`, without what the MPIs themselves get wrong.

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <numeric>
#include <sstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <muster/base/random.hpp>

#include "tests/tools/mpi/functions.hpp"
#include "tests/tools/mpi/image.hpp"
#include "tests/tools/mpi/job.hpp"
#include "tests/tools/mpi/shapes.hpp"
#include "tests/tools/mpi/turns.hpp"
#include "tools/conformance/build.hpp"
#include "tools/conformance/graphs.hpp"

namespace {

using namespace muster::testing;
using muster::mix_bits;
using muster::no_rank;
using muster::random_stream;

enum class routine { allgather, alltoall, allgatherv, alltoallv, alltoallw };
constexpr routine all_routines[] = {routine::allgather, routine::alltoall, routine::allgatherv,
                                    routine::alltoallv, routine::alltoallw};
constexpr const char* names[] = {"allgather", "alltoall", "allgatherv", "alltoallv", "alltoallw"};

constexpr bool gathers(routine what) {
  return what == routine::allgather || what == routine::allgatherv;
}
constexpr bool varies(routine what) { return what >= routine::allgatherv; }

/// A communicator with a topology, and what that means.
struct place {
  std::string name;
  MPI_Comm on = MPI_COMM_NULL;
  graph with;
  bool blocks_only = false;  ///< all that the MPI alone gets right
};

/// A call, alike on all ranks.
struct neighbor_case {
  routine what = routine::alltoall;
  form how = form::blocking;
  bool large = false;
  bool tests = false;
  bool frees_types = false;
  const shape* sent = nullptr;
  const shape* received = nullptr;
  std::size_t elements = 0;
  std::uint64_t seed = 0;

  std::string describe(const place& at) const {
    std::ostringstream text;
    text << (how == form::nonblocking ? "i" : "") << "neighbor_"
         << names[static_cast<std::size_t>(what)] << (how == form::persistent ? "_init" : "")
         << (large ? "_c" : "") << " on " << at.name << " of " << elements << " x " << sent->name
         << " to " << received->name << (frees_types ? ", types freed" : "") << ", case " << seed;
    return text.str();
  }
  std::uint64_t key(const graph::origin& from, int round) const {
    const std::uint64_t block = gathers(what) ? 0 : from.block;
    return mix_bits(mix_bits(seed + static_cast<std::uint64_t>(round) + from.rank * 0x9e37'79b9) +
                    block);
  }
  std::size_t elements_of(const graph::origin& from) const {
    if (!varies(what)) return elements;
    const std::uint64_t bits = key(from, 77);
    if (bits % 4 == 0) return 0;
    return (bits >> 8) % (elements / common_elements + 1) * common_elements;
  }
};

/// One of a rank's buffers: as MPI is given it, and as it should be after the call.
class side {
public:
  side(const shape& of, std::vector<std::size_t> elements, bool spread, unsigned char guard,
       std::uint64_t seed, bool owns_type)
      : blocks_(lay(of, elements, spread, seed)),
        memory_(blocks_, guard),
        expected_(blocks_, guard),
        type_(of.type),
        owns_type_(owns_type) {
    if (owns_type) MPI_Type_dup(of.type, &type_);
  }

  void clear() {
    memory_.clear();
    expected_.clear();
  }
  void hold(std::size_t block, std::uint64_t key) { memory_.put(blocks_[block], key); }
  void expect(std::size_t block, std::uint64_t key) { expected_.put(blocks_[block], key); }
  void verify(job& of, const char* name) {
    const auto wrong = memory_.difference(expected_);
    if (wrong) {
      of.check(false, name, ": byte ", *wrong, " is ", memory_.byte(*wrong), "; expected ",
               expected_.byte(*wrong));
    }
  }
  void free_type() {
    if (owns_type_) MPI_Type_free(&type_);
  }
  const std::vector<block>& blocks() const { return blocks_; }
  void* address() { return memory_.bytes().data() + memory_.origin(); }
  MPI_Datatype type() const { return type_; }

private:
  static std::vector<block> lay(const shape& of, const std::vector<std::size_t>& elements,
                                bool spread, std::uint64_t seed) {
    random_stream chance(seed);
    std::vector<std::size_t> order(elements.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    for (std::size_t i = order.size(); spread && i > 1; --i) {
      std::swap(order[i - 1], order[chance.below(i)]);
    }
    std::vector<block> all(elements.size());
    std::ptrdiff_t at = 0;
    for (const std::size_t i : order) {
      if (spread) at += static_cast<std::ptrdiff_t>(chance.below(3)) * of.extent;
      all[i] = {.at = at, .count = elements[i] / of.elements, .of = &of};
      at += static_cast<std::ptrdiff_t>(all[i].count) * of.extent;
    }
    return all;
  }

  std::vector<block> blocks_;
  image memory_;
  image expected_;
  MPI_Datatype type_;
  bool owns_type_;
};

/// What a v or w function is told of a side.
template <class Count, class Displacement>
struct layout {
  std::vector<Count> counts;
  std::vector<Displacement> displacements;
  std::vector<MPI_Datatype> types;

  layout(const side& of, bool in_bytes) {
    for (const block& one : of.blocks()) {
      counts.push_back(static_cast<Count>(one.count));
      displacements.push_back(
          static_cast<Displacement>(in_bytes ? one.at : one.at / one.of->extent));
      types.push_back(of.type());
    }
    // There has to be an address, even of nothing.
    counts.reserve(1);
    displacements.reserve(1);
    types.reserve(1);
  }
};

template <class Count>
void call(const turns& by, const neighbor_case& what, side& send, side& receive, MPI_Comm on) {
  using mpi = functions<Count>;
  using displacement = typename mpi::displacement;
  const auto sent = static_cast<Count>(what.elements / what.sent->elements);
  const auto received = static_cast<Count>(what.elements / what.received->elements);
  const layout<Count, displacement> out(send, false);
  const layout<Count, displacement> in(receive, false);
  const layout<Count, MPI_Aint> out_bytes(send, true);
  const layout<Count, MPI_Aint> in_bytes(receive, true);
  const void* const from = send.address();
  void* const to = receive.address();
  switch (what.what) {
    case routine::allgather:
      return carry_out(by, mpi::neighbor_allgather, from, sent, send.type(), to, received,
                       receive.type(), on);
    case routine::alltoall:
      return carry_out(by, mpi::neighbor_alltoall, from, sent, send.type(), to, received,
                       receive.type(), on);
    case routine::allgatherv:
      return carry_out(by, mpi::neighbor_allgatherv, from, out.counts[0], send.type(), to,
                       in.counts.data(), in.displacements.data(), receive.type(), on);
    case routine::alltoallv:
      return carry_out(by, mpi::neighbor_alltoallv, from, out.counts.data(),
                       out.displacements.data(), send.type(), to, in.counts.data(),
                       in.displacements.data(), receive.type(), on);
    case routine::alltoallw:
      return carry_out(by, mpi::neighbor_alltoallw, from, out_bytes.counts.data(),
                       out_bytes.displacements.data(), out_bytes.types.data(), to,
                       in_bytes.counts.data(), in_bytes.displacements.data(), in_bytes.types.data(),
                       on);
  }
}

void check_case(job& of, const place& at, const neighbor_case& what) {
  of.now(what.describe(at));
  int mpi_rank = 0;
  MPI_Comm_rank(at.on, &mpi_rank);
  const auto rank = static_cast<std::size_t>(mpi_rank);
  const graph::node& mine = at.with.nodes[rank];

  std::vector<std::size_t> lengths;
  const std::size_t blocks = gathers(what.what) ? 1 : mine.destinations.size();
  for (std::size_t i = 0; i < blocks; ++i) {
    const bool is_there = gathers(what.what) || mine.destinations[i] != no_rank;
    lengths.push_back(is_there ? what.elements_of({rank, i}) : what.elements);
  }
  side send(*what.sent, lengths, varies(what.what) && blocks > 1, 0x5a, what.seed + 2 * rank,
            what.frees_types);
  lengths.clear();
  for (const graph::origin& from : mine.arriving) {
    lengths.push_back(from.rank == no_rank ? what.elements : what.elements_of(from));
  }
  side receive(*what.received, lengths, varies(what.what), 0xa5, what.seed + 2 * rank + 1,
               what.frees_types);

  turns by{.how = what.how, .tests = what.tests, .prepare = {}, .meanwhile = {}, .verify = {}};
  by.prepare = [&](int round) {
    send.clear();
    receive.clear();
    for (std::size_t i = 0; i < blocks; ++i) {
      send.hold(i, what.key({rank, i}, round));
      send.expect(i, what.key({rank, i}, round));
    }
    for (std::size_t i = 0; i < mine.arriving.size(); ++i) {
      if (mine.arriving[i].rank != no_rank) receive.expect(i, what.key(mine.arriving[i], round));
    }
  };
  by.meanwhile = [&] {
    send.free_type();
    receive.free_type();
  };
  by.verify = [&](int) {
    send.verify(of, "sent");
    receive.verify(of, "received");
  };
  if (what.large) return call<large_count>(by, what, send, receive, at.on);
  call<int>(by, what, send, receive, at.on);
}

// ---- topologies

std::vector<int> as_mpi(const std::vector<std::size_t>& ranks) {
  std::vector<int> result;
  for (const std::size_t one : ranks) result.push_back(static_cast<int>(one));
  result.reserve(1);
  return result;
}

class program {
public:
  explicit program(job& mine) : job_(mine), chance_(mine.seed()) {}

  void run() {
    check_no_topology();
    for (int round = 0; round < static_cast<int>(rounds(6, 3)); ++round) {
      place at = round % 3 == 0 ? distributed() : round % 3 == 1 ? on_grid() : plain_graph();
      use(at);
      if (round % 4 == 0) check_many(at);
      if (round % 4 == 1) check_odd_lengths(at);
      MPI_Comm_free(&at.on);
    }
    check_short_grids();
    check_duplicate();
    check_lone_ranks();
  }

private:
  std::size_t ranks() const { return static_cast<std::size_t>(job_.size()); }
  bool coin() { return chance_.one_in(2); }

  graph_traits traits(bool mutual) const {
#ifdef OPEN_MPI
    const bool multiple = true;
#else
    // MPICH 4.0 receives the blocks of a pair in the opposite order.
    const bool multiple = !alone_;
#endif
    return {.gaps = false, .multiple = multiple, .lone = alone_, .mutual = mutual};
  }

  place distributed() {
    place at{.name = "a distributed graph",
             .with = random_graph(chance_.next(), ranks(), traits(false))};
    const graph::node& mine = at.with.nodes[static_cast<std::size_t>(job_.rank())];
    const std::vector<int> in = as_mpi(mine.sources);
    const std::vector<int> out = as_mpi(mine.destinations);
    const bool weighted = coin();
    std::vector<int> ones(std::max<std::size_t>({1, in.size(), out.size()}), 1);
    MPI_Dist_graph_create_adjacent(
        MPI_COMM_WORLD, static_cast<int>(in.size()), in.data(),
        weighted ? ones.data() : MPI_UNWEIGHTED, static_cast<int>(out.size()), out.data(),
        weighted ? ones.data() : MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &at.on);
    return at;
  }

  place plain_graph() {
    place at{.name = "a graph", .with = random_graph(chance_.next(), ranks(), traits(true))};
    std::vector<int> index;
    std::vector<int> edges;
    for (const graph::node& each : at.with.nodes) {
      for (const std::size_t one : each.destinations) edges.push_back(static_cast<int>(one));
      index.push_back(static_cast<int>(edges.size()));
    }
    edges.reserve(1);
    MPI_Graph_create(MPI_COMM_WORLD, job_.size(), index.data(), edges.data(), 0, &at.on);
    return at;
  }

  place on_grid() { return on(random_grid(chance_.next(), ranks())); }

  place on(const grid& one) {
    place at{.name = "a grid", .with = graph_of(one)};
    std::vector<int> dims;
    std::vector<int> periodic;
    int short_loops = 0;
    int loops_of_one = 0;
    for (std::size_t i = 0; i < one.dims.size(); ++i) {
      dims.push_back(static_cast<int>(one.dims[i]));
      periodic.push_back(one.periodic[i] ? 1 : 0);
      at.name += " " + std::to_string(one.dims[i]) + (one.periodic[i] ? "p" : "");
      short_loops += one.periodic[i] && one.dims[i] <= 2 ? 1 : 0;
      loops_of_one += one.periodic[i] && one.dims[i] == 1 ? 1 : 0;
    }
    MPI_Cart_create(MPI_COMM_WORLD, static_cast<int>(dims.size()), dims.data(), periodic.data(), 0,
                    &at.on);
#ifdef OPEN_MPI
    // Open MPI 4.1 has the two directions the wrong way round where it does not block.
    at.blocks_only = short_loops > 0;
#else
    // MPICH 4.0 knows of one such dimension.
    if (alone_ && loops_of_one > 1) at.with = {};
#endif
    static_cast<void>(short_loops);
    static_cast<void>(loops_of_one);
    return at;
  }

  form any_form(const place& at) {
    if (alone_ && at.blocks_only) return form::blocking;
    constexpr form all[] = {form::blocking, form::nonblocking, form::persistent};
    return all[chance_.below(alone_ ? 2 : 3)];
  }

  void use(const place& at) {
    if (at.with.nodes.empty()) return;
    for (const routine what : all_routines) {
      for (const std::size_t bytes : {0, 8, 500, 20'000, 300'000}) check_random(at, what, bytes);
    }
    for (int i = 0; i < 10; ++i) {
      check_random(at, all_routines[chance_.below(std::size(all_routines))], chance_.below(5000));
    }
  }

  void check_random(const place& at, routine what, std::size_t most_bytes) {
    const shape& sent = shapes_.all()[chance_.below(shapes_.all().size())];
    const shape& received = shapes_.all()[chance_.below(shapes_.all().size())];
    if (alone_ && !(sent.goes_forward() && received.goes_forward())) return;
    const form how = any_form(at);
    if (chance_.one_in(4) && job_.rank() % 2 == 0) {
      std::this_thread::sleep_for(std::chrono::microseconds(50));
    }
    check_case(job_, at,
               {.what = what,
                .how = how,
                .large = has_large_counts && coin(),
                .tests = coin(),
                .frees_types = how != form::blocking && !alone_ && coin(),
                .sent = &sent,
                .received = &received,
                .elements = most_bytes / sizeof(int) / common_elements * common_elements,
                .seed = chance_.next()});
  }

  /// Several in flight, ended in another order.
  void check_many(const place& at) {
    if (at.with.nodes.empty() || (alone_ && at.blocks_only)) return;
    job_.now("many in flight on " + at.name);
    constexpr int many = 12;
    const auto rank = static_cast<std::size_t>(job_.rank());
    const graph::node& mine = at.with.nodes[rank];
    std::vector<std::vector<int>> sent(many, std::vector<int>(mine.destinations.size() + 1));
    std::vector<std::vector<int>> received(many, std::vector<int>(mine.sources.size() + 1, -1));
    std::vector<MPI_Request> requests(many);
    const auto value = [](int i, const graph::origin& from) {
      return i * 1'000'000 + static_cast<int>(from.rank * 1000 + from.block);
    };
    for (int i = 0; i < many; ++i) {
      const auto n = static_cast<std::size_t>(i);
      for (std::size_t to = 0; to < mine.destinations.size(); ++to)
        sent[n][to] = value(i, {rank, to});
      MPI_Ineighbor_alltoall(sent[n].data(), 1, MPI_INT, received[n].data(), 1, MPI_INT, at.on,
                             &requests[n]);
      if (i == many / 2) MPI_Barrier(at.on);
    }
    for (std::size_t n = many; n-- > 0;) MPI_Wait(&requests[n], MPI_STATUS_IGNORE);
    for (int i = 0; i < many; ++i) {
      for (std::size_t from = 0; from < mine.sources.size(); ++from) {
        const graph::origin& origin = mine.arriving[from];
        const int expected = origin.rank == no_rank ? -1 : value(i, origin);
        job_.check_equal(received[static_cast<std::size_t>(i)][from], expected, "block ", from,
                         " of ", i);
      }
    }
  }

  /// Where a rank has nobody to send to, or to hear of, its counts have no meaning.
  void check_odd_lengths(const place& at) {
    if (at.with.nodes.empty()) return;
    const auto rank = static_cast<std::size_t>(job_.rank());
    const graph::node& mine = at.with.nodes[rank];
    job_.now("no neighbors to send to, or to hear of, on " + at.name);
    const bool sends =
        std::ranges::any_of(mine.destinations, [](std::size_t to) { return to != no_rank; });
    const bool hears =
        std::ranges::any_of(mine.sources, [](std::size_t from) { return from != no_rank; });
    std::vector<int> sent(3, static_cast<int>(rank));
    std::vector<int> received(3 * mine.sources.size() + 1, -1);
    MPI_Neighbor_allgather(sent.data(), sends ? 3 : 0, MPI_INT, received.data(), hears ? 3 : 0,
                           MPI_INT, at.on);
    for (std::size_t i = 0; i < mine.arriving.size(); ++i) {
      const int expected =
          mine.arriving[i].rank == no_rank ? -1 : static_cast<int>(mine.arriving[i].rank);
      job_.check_equal(received[3 * i + 2], expected, "the last of block ", i);
    }
  }

  /// Where both directions lead to the same rank.
  void check_short_grids() {
    const std::size_t all = ranks();
    if (all % 2 == 0) {
      place two = on({.dims = {2, all / 2}, .periodic = {true, true}});
      use(two);
      MPI_Comm_free(&two.on);
    }
    place one = on({.dims = {1, all, 1}, .periodic = {true, true, true}});
    use(one);
    MPI_Comm_free(&one.on);
  }

  /// A duplicate has the topology, too; it is used once and again, as programs do.
  void check_duplicate() {
    place at = on_grid();
    if (!at.with.nodes.empty() && !(alone_ && at.blocks_only)) {
      MPI_Comm copy = MPI_COMM_NULL;
      MPI_Comm_dup(at.on, &copy);
      std::swap(copy, at.on);
      MPI_Comm_free(&copy);
      for (int i = 0; i < 30; ++i) use_again(at, i);
    }
    MPI_Comm_free(&at.on);
  }

  void use_again(const place& at, int round) {
    job_.now("again and again on " + at.name);
    const auto rank = static_cast<std::size_t>(job_.rank());
    const graph::node& mine = at.with.nodes[rank];
    std::vector<double> sent(2 * mine.destinations.size() + 1,
                             static_cast<double>(100 * rank) + round);
    std::vector<double> received(2 * mine.sources.size() + 1, -1);
    if (round % 3 == 2) {
      MPI_Request request = MPI_REQUEST_NULL;
      MPI_Ineighbor_alltoall(sent.data(), 2, MPI_DOUBLE, received.data(), 2, MPI_DOUBLE, at.on,
                             &request);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
    } else {
      MPI_Neighbor_alltoall(sent.data(), 2, MPI_DOUBLE, received.data(), 2, MPI_DOUBLE, at.on);
    }
    for (std::size_t i = 0; i < mine.sources.size(); ++i) {
      const bool is_there = mine.sources[i] != no_rank;
      const double expected = is_there ? static_cast<double>(100 * mine.sources[i]) + round : -1;
      job_.check_equal(received[2 * i + 1], expected, "the second of block ", i);
    }
  }

  /// Ranks without neighbors leave calls to neighbors out, and nobody waits for them. The others
  /// are the first ones, in pairs; one that is left over is its own neighbor.
  void check_lone_ranks() {
    const int others = (job_.size() + 1) / 2;
    const int rank = job_.rank();
    const auto partner = [others](int of) { return (of ^ 1) < others ? of ^ 1 : of; };
    const int degree = rank < others ? 1 : 0;
    const int peer = partner(rank);
    std::vector<int> index;
    std::vector<int> edges;
    for (int i = 0; i < job_.size(); ++i) {
      if (i < others) edges.push_back(partner(i));
      index.push_back(std::min(i + 1, others));
    }
    MPI_Comm on = MPI_COMM_NULL;
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, degree, &peer, MPI_UNWEIGHTED, degree, &peer,
                                   MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &on);
    use_with_lone_ranks(on, "some have no neighbors", degree, peer);
#ifndef OPEN_MPI  // 4.1 hangs in it now and then, also without the shim
    MPI_Dist_graph_create(MPI_COMM_WORLD, degree, &rank, &degree, &peer, MPI_UNWEIGHTED,
                          MPI_INFO_NULL, 0, &on);
    use_with_lone_ranks(on, "some have no neighbors, in a graph that all make", degree, peer);
#endif
    MPI_Graph_create(MPI_COMM_WORLD, job_.size(), index.data(), edges.data(), 0, &on);
    use_with_lone_ranks(on, "some have no neighbors, in a graph that all know", degree, peer);
    job_.now("some are not there");
    MPI_Graph_create(MPI_COMM_WORLD, others, index.data(), edges.data(), 0, &on);
    job_.check_equal(on == MPI_COMM_NULL, degree == 0, "who is not there");
    if (on != MPI_COMM_NULL) MPI_Comm_free(&on);
  }

  void use_with_lone_ranks(MPI_Comm on, const char* name, int degree, int peer) {
    job_.now(name);
    std::array<MPI_Comm, 2> both{on};
    MPI_Comm_dup(on, &both[1]);
    for (int round = 0; round < 8; ++round) {
      const MPI_Comm one = both[static_cast<std::size_t>(round % 2)];
      const bool takes_part = degree != 0 || round == 7;
      if (round >= 4) MPI_Barrier(one);
      const int sent = 100 * job_.rank() + round;
      int received = -1;
      MPI_Request request = MPI_REQUEST_NULL;
      if (takes_part && round % 4 < 2) {
        const int count = 1;
        const int place = 0;
        MPI_Neighbor_allgatherv(&sent, 1, MPI_INT, &received, &count, &place, MPI_INT, one);
      } else if (takes_part) {
        MPI_Ineighbor_allgather(&sent, 1, MPI_INT, &received, 1, MPI_INT, one, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
      }
      const int expected = degree == 0 ? -1 : 100 * peer + round;
      job_.check_equal(received, expected, "what came from the partner");
    }
    for (MPI_Comm& one : both) MPI_Comm_free(&one);
  }

  /// The MPI says what is wrong.
  void check_no_topology() {
    job_.now("no topology");
    MPI_Comm plain = MPI_COMM_NULL;
    MPI_Comm_dup(MPI_COMM_WORLD, &plain);
    MPI_Comm_set_errhandler(plain, MPI_ERRORS_RETURN);
    // Open MPI 4.1 tells that of all processes.
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    int sent = 1;
    int received = 0;
    const int count = 1;
    const int place = 0;
    const int code =
        MPI_Neighbor_allgatherv(&sent, 1, MPI_INT, &received, &count, &place, MPI_INT, plain);
    int error_class = MPI_SUCCESS;
    MPI_Error_class(code, &error_class);
    job_.check(error_class != MPI_SUCCESS, "no error without a topology");
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    MPI_Comm_free(&plain);
  }

  job& job_;
  random_stream chance_;
  bool alone_ = job_.has("alone");
  shape_family shapes_{"MPI_INT", MPI_INT, sizeof(int)};
};

}  // namespace

int main(int argc, char** argv) {
  job mine(argc, argv);
  {
    program all(mine);
    all.run();
  }
  return mine.finish();
}
