// Bad input: an error that names call, argument and expectation, thrown before anything is sent.

#include <doctest/doctest.h>

#include <array>
#include <complex>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <muster/muster.hpp>

#include <muster/run/check.hpp>

#include "tests/harness/failure.hpp"
#include "tools/conformance/watchdog.hpp"

namespace muster::testing {
namespace {

constexpr std::size_t ranks = 2;
constexpr std::size_t huge = std::numeric_limits<std::size_t>::max();

using texts = std::vector<std::string_view>;  // all must occur

// ---- calls from their plain arguments

void do_nothing(const custom_reduction&, std::byte*, const std::byte*, const std::byte*,
                std::size_t) {}

/// Buffers and layouts that are large enough for any good call.
struct material {
  std::array<std::byte, 64> bytes{};
  std::array<std::size_t, ranks> counts = {4, 4};
  std::array<std::size_t, ranks> places = {0, 4};
  block_layout layout{counts, places};
  custom_reduction own{.apply = do_nothing, .element_bytes = 4, .commutative = true};

  material() = default;
  material(const material&) = delete;
  material& operator=(const material&) = delete;
};

bool has_send_layout(collective what, std::size_t rank) {
  return what == collective::alltoallv || what == collective::reduce_scatter ||
         (what == collective::scatterv && rank == 0);
}
bool has_receive_layout(collective what, std::size_t rank) {
  return what == collective::alltoallv || what == collective::allgatherv ||
         (what == collective::gatherv && rank == 0);
}

/// A call that is right in all respects, with root 0.
arguments good(collective what, std::size_t rank, material& with) {
  arguments call;
  call.what = what;
  if (what == collective::barrier) return call;
  call.type = datatype::int32;
  call.count = 4;
  call.send = what == collective::bcast ? nullptr : with.bytes.data();
  call.receive = with.bytes.data();
  if (has_op(what)) call.op = sum;
  if (has_send_layout(what, rank)) call.send_blocks = &with.layout;
  if (has_receive_layout(what, rank)) call.receive_blocks = &with.layout;
  return call;
}

/// A good call with one thing wrong, and what is said of it.
struct mistake {
  std::string what_is_wrong;
  void (*spoil)(arguments& call, material& with);
  texts text;
};

std::vector<mistake> mistakes_of_all() {
  return {
      {"unknown type",
       [](auto& call, auto&) { call.type = static_cast<datatype>(77); },
       {"type is unknown; expected a datatype"}},
      {"no buffers",
       [](auto& call, auto&) { call.send = nullptr, call.receive = nullptr; },
       {" is null", "; expected a buffer to "}},
      {"huge count",
       [](auto& call, auto&) { call.count = huge; },
       {"count 18446744073709551615 of int32", "overflows; expected at most"}},
      {"count that wraps",
       [](auto& call, auto&) { call.count = huge / 4 + 2; },
       {"count 4611686018427387905 of int32", "overflows; expected at most"}},
  };
}

std::vector<mistake> mistakes_of_roots() {
  return {
      {"wrong root",
       [](auto& call, auto&) { call.root = ranks; },
       {"root is 2; expected a rank from 0 to 1"}},
      {"huge root",
       [](auto& call, auto&) { call.root = huge; },
       {"root is 18446744073709551615; expected a rank from 0 to 1"}},
  };
}

std::vector<mistake> mistakes_of_blocks() {
  return {{"block that is too large for each rank",
           [](auto& call, auto&) { call.count = huge / 2 / 4 / ranks + 1; },
           {"count 1152921504606846976 of int32 for 2 block(s) overflows; expected at most "
            "1152921504606846975"}}};
}

std::vector<mistake> mistakes_of_movement() {
  return {
      {"an op", [](auto& call, auto&) { call.op = sum; }, {"op is sum; expected none"}},
      {"a reduction",
       [](auto& call, auto& with) { call.custom = &with.own; },
       {"a custom_reduction was given; expected none"}},
      {"type custom",
       [](auto& call, auto&) { call.type = datatype::custom; },
       {"type is custom; expected byte, or a type with a size"}},
  };
}

void use_own(arguments& call, const material& with) {
  call.op = reduction::custom;
  call.type = datatype::custom;
  call.custom = &with.own;
}

std::vector<mistake> mistakes_of_reductions() {
  return {
      {"no op",
       [](auto& call, auto&) { call.op = reduction::none; },
       {"op is not a reduction; expected sum, product"}},
      {"unknown op",
       [](auto& call, auto&) { call.op = static_cast<reduction>(99); },
       {"op is not a reduction; expected sum, product"}},
      {"unknown order",
       [](auto& call, auto&) { call.order = static_cast<combining>(2); },
       {"order is unknown; expected by_rank or by_arrival"}},
      {"an op that the type has not",
       [](auto& call, auto&) { call.type = datatype::complex64, call.op = min; },
       {"op is min, which complex64 does not have; expected one that it has"}},
      {"custom without a reduction",
       [](auto& call, auto&) { call.op = reduction::custom, call.type = datatype::custom; },
       {"op is custom of custom without a custom_reduction; expected one"}},
      {"sum of custom",
       [](auto& call, auto&) { call.type = datatype::custom; },
       {"op is sum of custom without a custom_reduction; expected one"}},
      {"sum with a reduction",
       [](auto& call, auto& with) { call.custom = &with.own; },
       {"op is sum of int32 with a custom_reduction; expected one with op custom"}},
      {"custom of a built-in type",
       [](auto& call, auto& with) { use_own(call, with), call.type = datatype::int32; },
       {"op is custom of int32 with a custom_reduction; expected one with op custom"}},
      {"reduction without a function",
       [](auto& call, auto& with) { use_own(call, with), with.own.apply = nullptr; },
       {"op is a custom_reduction without a function; expected one with apply"}},
      {"reduction of nothing",
       [](auto& call, auto& with) { use_own(call, with), with.own.element_bytes = 0; },
       {"custom_reduction of elements of 0 bytes; expected 1 to"}},
      {"reduction of too much",
       [](auto& call, auto& with) { use_own(call, with), with.own.element_bytes = huge / 2; },
       {"custom_reduction of elements of 9223372036854775807 bytes; expected 1 to"}},
  };
}

/// `send` or `receive` is null where it must not be.
std::vector<mistake> mistakes_of_buffers(collective what, std::size_t rank) {
  const bool at_root = rank == 0;
  const bool gathers = what == collective::gather || what == collective::gatherv;
  const bool scatters = what == collective::scatter || what == collective::scatterv;
  const bool must_send = scatters ? at_root : gathers && !at_root;
  const bool must_receive = gathers || what == collective::reduce ? at_root : !scatters || !at_root;
  std::vector<mistake> all;
  if (must_send) {
    all.push_back({"no send",
                   [](auto& call, auto&) { call.send = nullptr; },
                   {"send is null", "; expected a buffer to send from"}});
  }
  if (must_receive) {
    all.push_back({"no receive",
                   [](auto& call, auto&) { call.receive = nullptr; },
                   {"receive is null", "; expected a buffer to receive into"}});
  }
  return all;
}

std::vector<mistake> mistakes_of_layouts(collective what, std::size_t rank) {
  std::vector<mistake> all;
  if (has_send_layout(what, rank)) {
    all.push_back({"no send layout",
                   [](auto& call, auto&) { call.send_blocks = nullptr; },
                   {"send_blocks is missing; expected one at this rank"}});
  } else {
    all.push_back({"a send layout",
                   [](auto& call, auto& with) { call.send_blocks = &with.layout; },
                   {"send_blocks was given; expected none at this rank"}});
  }
  if (has_receive_layout(what, rank)) {
    all.push_back({"no receive layout",
                   [](auto& call, auto&) { call.receive_blocks = nullptr; },
                   {"receive_blocks is missing; expected one at this rank"}});
  } else {
    all.push_back({"a receive layout",
                   [](auto& call, auto& with) { call.receive_blocks = &with.layout; },
                   {"receive_blocks was given; expected none at this rank"}});
  }
  if (!has_send_layout(what, rank) && !has_receive_layout(what, rank)) return all;
  const std::array<mistake, 5> wrong_layouts = {{
      {"too few counts",
       [](auto&, auto& with) { with.layout.counts = std::span(with.counts).first(1); },
       {"_blocks has 1 counts and 2 displacements; expected 2, one for each rank"}},
      {"no displacements",
       [](auto&, auto& with) { with.layout.displacements = {}; },
       {"_blocks has 2 counts and 0 displacements; expected 2, one for each rank"}},
      {"huge block",
       [](auto&, auto& with) { with.counts[1] = huge / 8 + 1; },
       {"_blocks: block 1 has count 2305843009213693952", "overflow; expected at most"}},
      {"a block far away",
       [](auto&, auto& with) { with.places[0] = huge - 3; },
       {"_blocks: block 0 has count 4 and displacement 18446744073709551612",
        "overflow; expected at most"}},
      {"blocks too large together",
       [](auto&, auto& with) { with.counts = {huge / 16, huge / 16 + 2}, with.places = {0, 0}; },
       {"_blocks: block 1 has count 1152921504606846977", "overflow; expected at most"}},
  }};
  all.insert(all.end(), wrong_layouts.begin(), wrong_layouts.end());
  if (what == collective::alltoallv) return all;
  all.push_back({"a count that is not in the layout",
                 [](auto& call, auto&) { call.count = 3; },
                 {"count is 3; expected 4, this rank's own block in the layout"}});
  return all;
}

std::vector<mistake> mistakes_of(collective what, std::size_t rank) {
  std::vector<mistake> all;
  const auto add = [&](bool applies, std::vector<mistake> more) {
    if (applies) all.insert(all.end(), more.begin(), more.end());
  };
  const bool moves = what != collective::barrier;
  arguments call;
  call.what = what;
  const bool has_blocks =
      (call.sends_blocks() || call.receives_blocks()) && !has_varying_blocks(what);
  add(moves, mistakes_of_all());
  add(has_root(what), mistakes_of_roots());
  add(has_blocks, mistakes_of_blocks());
  add(!has_op(what), mistakes_of_movement());
  add(has_op(what), mistakes_of_reductions());
  add(moves, mistakes_of_buffers(what, rank));
  add(true, mistakes_of_layouts(what, rank));
  return all;
}

void check_text(const std::optional<error>& why, std::string_view call, const texts& text) {
  REQUIRE(why);
  CHECK(why->code() == errc::invalid_argument);
  INFO(why->text());
  CHECK(why->text().starts_with(std::string(call) + ": "));
  for (const std::string_view part : text) {
    INFO("expected: ", std::string(part));
    CHECK(why->text().find(part) != std::string::npos);
  }
}

void check_all_refused(team& of) {
  for (std::size_t i = 0; i < collectives_of_all; ++i) {
    const auto what = static_cast<collective>(i);
    for (const mistake& wrong : mistakes_of(what, of.rank())) {
      INFO(name(what), " with ", wrong.what_is_wrong);
      material with;
      arguments call = good(what, of.rank(), with);
      wrong.spoil(call, with);
      check_text(failure_of([&] { start(perform(of, call)).wait(); }), name(what), wrong.text);
    }
  }
}

// Whatever one of the ranks had sent or begun before would be a mismatch now.
void check_team_is_whole(team& of) {
  std::array<int, 2> both = {static_cast<int>(of.rank()), 1};
  start(allreduce(of, both, sum)).wait();
  CHECK(both == std::array<int, 2>{1, 2});
}

TEST_CASE("good calls are not refused, wrong ones are, and the team is whole afterwards") {
  const watchdog alive("invalid arguments");
  for (const std::vector<std::size_t>& nodes :
       {std::vector<std::size_t>{0, 0}, std::vector<std::size_t>{0, 1}}) {
    run_threads(ranks,
                [](team& of) {
                  for (std::size_t i = 0; i < collectives_of_all; ++i) {
                    material with;
                    CHECK_NOTHROW(check(of, good(static_cast<collective>(i), of.rank(), with)));
                  }
                  check_all_refused(of);
                  check_team_is_whole(of);
                },
                {.node_of = nodes});
  }
}

TEST_CASE("one rank alone is refused: nobody else notices") {
  const watchdog alive("invalid arguments of one rank");
  run_threads(ranks, [](team& of) {
    check_team_is_whole(of);
    if (of.rank() == 0) check_all_refused(of);
    check_team_is_whole(of);
  });
}

TEST_CASE("a collective that there is not") {
  run_threads(ranks, [](team& of) {
    arguments call;
    call.what = static_cast<collective>(collectives);
    check_text(failure_of([&] { start(perform(of, call)).wait(); }), "perform",
               {"what is unknown; expected a collective"});
  });
}

TEST_CASE("in place, an alltoallv sends blocks as they are received") {
  run_threads(ranks, [](team& of) {
    material with;
    material other;
    other.places = {4, 0};
    arguments call = good(collective::alltoallv, of.rank(), with);
    call.send = nullptr;
    CHECK_NOTHROW(check(of, call));
    call.send_blocks = &other.layout;
    check_text(failure_of([&] { check(of, call); }), "alltoallv",
               {"send_blocks differ from receive_blocks; expected the same"});
    other.counts = {0, 0};  // a null buffer, for nothing
    with.counts[of.rank()] = 0;
    CHECK_NOTHROW(check(of, call));
  });
}

TEST_CASE("blocks of a reduce-scatter that do not follow each other") {
  const watchdog alive("apart");
  run_threads(ranks, [](team& of) {
    material with;
    with.places = {0, 5};
    const arguments call = good(collective::reduce_scatter, of.rank(), with);
    check_text(failure_of([&] { start(perform(of, call)).wait(); }), "reduce_scatter",
               {"block 1 begins at 5", "expected 4"});
    check_team_is_whole(of);
  });
}

TEST_CASE("nothing to move needs no buffers") {
  const watchdog alive("no buffers needed");
  run_threads(ranks, [](team& of) {
    for (std::size_t i = 0; i < collectives_of_all; ++i) {
      material with;
      with.counts = {0, 0};
      with.places = {0, 0};
      arguments call = good(static_cast<collective>(i), of.rank(), with);
      call.count = 0;
      call.send = nullptr;
      call.receive = nullptr;
      start(perform(of, call)).wait();
    }
    std::vector<double> none;
    start(allreduce(of, none, none, max)).wait();
    start(bcast(of, none, 1)).wait();
    start(alltoall(of, none, none)).wait();
    start(allgather(of, none, none)).wait();
    start(reduce(of, none, none, max, 1)).wait();
  });
}

// ---- typed calls

/// A team, buffers of several lengths, and what calls with them say.
class typed_calls {
public:
  explicit typed_calls(team& of) : of_(of) {}

  void blocks_alike() const;
  void reductions() const;
  void reductions_of_blocks() const;
  void blocks_at_the_root() const;
  void varying_blocks() const;
  void varying_blocks_at_the_root() const;

private:
  template <class Call>
  void refused(const Call& call, std::string_view name, const texts& text) const {
    check_text(failure_of([&] { start(call()).wait(); }), name, text);
  }

  team& of_;
  mutable std::vector<int> three_ = std::vector<int>(3);
  mutable std::vector<int> four_ = std::vector<int>(4);
  mutable std::vector<int> six_ = std::vector<int>(6);
  std::array<std::size_t, 3> three_counts_ = {1, 1, 1};
  std::array<std::size_t, 2> counts_ = {3, 3};
  std::array<std::size_t, 2> places_ = {3, 2};
  std::array<std::size_t, 2> endless_ = {huge / 2, 1};
};

void typed_calls::blocks_alike() const {
  refused([&] { return allgather(of_, three_, four_); }, "allgather",
          {"receive has 4 elements; expected 6, a block"});
  refused([&] { return allgather(of_, three_); }, "allgather",
          {"the buffer has 3 elements; expected a multiple of the 2 ranks"});
  refused([&] { return alltoall(of_, three_, three_); }, "alltoall",
          {"the buffer has 3 elements; expected a multiple of the 2 ranks"});
  refused([&] { return alltoall(of_, four_, six_); }, "alltoall",
          {"receive has 6 elements; expected 4, as many as in send"});
  refused([&] { return alltoall(of_, three_); }, "alltoall",
          {"the buffer has 3 elements; expected a multiple of the 2 ranks"});
  refused([&] { return bcast(of_, three_, 2); }, "bcast", {"root is 2; expected a rank"});
}

void typed_calls::reductions() const {
  struct own {
    int a, b;
  };
  std::vector<own> pairs(2);
  std::vector<std::complex<float>> complex(2);
  const auto of_own = make_reduction<own>([](const own& a, const own&) { return a; });
  refused([&] { return allreduce(of_, three_, four_, sum); }, "allreduce",
          {"receive has 4 elements; expected 3, as many as in send"});
  refused([&] { return scan(of_, three_, four_, sum); }, "scan",
          {"receive has 4 elements; expected 3, as many as in send"});
  refused([&] { return exscan(of_, three_, four_, sum); }, "exscan",
          {"receive has 4 elements; expected 3, as many as in send"});
  refused([&] { return allreduce(of_, pairs, sum); }, "allreduce",
          {"op is sum, the elements of a type of the program's own; expected a custom_reduction"});
  refused([&] { return allreduce(of_, three_, of_own); }, "allreduce",
          {"op combines elements of 8 bytes; expected 4, as in the buffers"});
  refused([&] { return scan(of_, complex, min); }, "scan",
          {"op is min, which complex64 does not have; expected"});
}

void typed_calls::reductions_of_blocks() const {
  refused([&] { return reduce_scatter_block(of_, three_, four_, sum); }, "reduce_scatter_block",
          {"send has 3 elements; expected 8, a block as long as receive"});
  refused([&] { return reduce_scatter_block(of_, three_, sum); }, "reduce_scatter_block",
          {"the buffer has 3 elements; expected a multiple of the 2 ranks"});
  refused([&] { return reduce_scatter(of_, three_, three_counts_, three_, sum); }, "reduce_scatter",
          {"counts has 3 elements; expected 2, one for each rank"});
  refused([&] { return reduce_scatter(of_, four_, counts_, three_, sum); }, "reduce_scatter",
          {"send has 4 elements; expected 6, all blocks"});
  refused([&] { return reduce_scatter(of_, six_, counts_, four_, sum); }, "reduce_scatter",
          {"receive has 4 elements; expected 3, this rank's own block"});
  refused([&] { return reduce_scatter(of_, four_, counts_, sum); }, "reduce_scatter",
          {"data has 4 elements; expected 6, all blocks"});
  refused([&] { return reduce_scatter(of_, four_, endless_, sum); }, "reduce_scatter",
          {"counts add up to more than a buffer can hold; expected at most"});
}

// Elsewhere the larger buffer is ignored, and the call would wait.
void typed_calls::blocks_at_the_root() const {
  refused([&] { return reduce(of_, three_, four_, sum, 0); }, "reduce",
          {"receive has 4 elements; expected 3, as many as in send, at the root"});
  refused([&] { return scatter(of_, three_, four_, 0); }, "scatter",
          {"send has 3 elements; expected 8, a block as long as receive"});
  refused([&] { return scatter(of_, three_, 0); }, "scatter",
          {"the buffer has 3 elements; expected a multiple of the 2 ranks"});
  refused([&] { return gather(of_, four_, three_, 0); }, "gather",
          {"receive has 3 elements; expected 8, a block as long as send"});
  refused([&] { return gather(of_, three_, 0); }, "gather",
          {"the buffer has 3 elements; expected a multiple of the 2 ranks"});
}

void typed_calls::varying_blocks() const {
  const block_layout good{counts_};
  refused([&] { return allgatherv(of_, three_, four_, good); }, "allgatherv",
          {"receive has 4 elements; expected at least 6, all blocks"});
  refused([&] { return allgatherv(of_, four_, six_, good); }, "allgatherv",
          {"send has 4 elements; expected 3, this rank's own block"});
  refused([&] { return allgatherv(of_, six_, {three_counts_}); }, "allgatherv",
          {"counts has 3 elements; expected 2, one for each rank"});
  refused([&] { return allgatherv(of_, six_, {counts_, three_counts_}); }, "allgatherv",
          {"displacements has 3 elements; expected 2, one for each rank"});
  refused([&] { return allgatherv(of_, four_, {counts_, places_}); }, "allgatherv",
          {"data: block 0 is 3 elements from 3; expected it within the buffer's 4"});
  refused([&] { return allgatherv(of_, six_, {endless_, places_}); }, "allgatherv",
          {"counts add up to more than a buffer can hold"});
  refused([&] { return alltoallv(of_, four_, good, six_, good); }, "alltoallv",
          {"send has 4 elements; expected at least 6, all blocks"});
  refused([&] { return alltoallv(of_, six_, good, four_, good); }, "alltoallv",
          {"receive has 4 elements; expected at least 6, all blocks"});
  refused([&] { return alltoallv(of_, four_, good); }, "alltoallv",
          {"data has 4 elements; expected at least 6, all blocks"});
  refused([&] { return alltoallw(of_, std::as_bytes(std::span(three_)), good, {}, good); },
          "alltoallv", {"receive has 0 elements; expected at least 6, all blocks"});
}

void typed_calls::varying_blocks_at_the_root() const {
  const block_layout good{counts_};
  refused([&] { return scatterv(of_, four_, good, three_, 0); }, "scatterv",
          {"send has 4 elements; expected at least 6, all blocks"});
  refused([&] { return scatterv(of_, six_, good, four_, 0); }, "scatterv",
          {"receive has 4 elements; expected 3, the root's own block"});
  refused([&] { return scatterv(of_, four_, good, 0); }, "scatterv",
          {"data has 4 elements; expected at least 6, all blocks"});
  refused([&] { return gatherv(of_, three_, four_, good, 0); }, "gatherv",
          {"receive has 4 elements; expected at least 6, all blocks"});
  refused([&] { return gatherv(of_, four_, six_, good, 0); }, "gatherv",
          {"send has 4 elements; expected 3, the root's own block"});
  refused([&] { return gatherv(of_, four_, good, 0); }, "gatherv",
          {"data has 4 elements; expected at least 6, all blocks"});
}

TEST_CASE("wrong typed calls are refused and the team is whole afterwards") {
  const watchdog alive("wrong typed calls");
  run_threads(ranks, [](team& of) {
    const typed_calls calls(of);
    calls.blocks_alike();
    calls.reductions();
    calls.reductions_of_blocks();
    calls.varying_blocks();
    if (of.rank() == 0) {
      calls.blocks_at_the_root();
      calls.varying_blocks_at_the_root();
    }
    check_team_is_whole(of);
  });
}

}  // namespace
}  // namespace muster::testing
