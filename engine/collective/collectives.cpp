#include "engine/collective/collectives.hpp"

#include <limits>
#include <string>

#include "engine/collective/context.hpp"
#include "engine/collective/describe.hpp"

namespace muster {
namespace {

[[noreturn]] void reject(const arguments& call, const std::string& why) {
  throw error(errc::invalid_argument, std::string(name(call.what)) + ": " + why);
}

bool has_root(collective what) noexcept {
  return what == collective::bcast || what == collective::reduce;
}
bool has_op(collective what) noexcept {
  return what == collective::reduce || what == collective::allreduce;
}

void check_extent(const team& on, const arguments& call) {
  const std::size_t blocks = call.receives_blocks() ? on.size() : 1;
  // Addresses are signed distances in C++: half of size_t is the most that a buffer can span.
  constexpr std::size_t largest = std::numeric_limits<std::ptrdiff_t>::max();
  const std::size_t bytes_a_count = call.element() * blocks;
  std::size_t bytes = 0;
  if (__builtin_mul_overflow(call.count, bytes_a_count, &bytes) || bytes > largest) [[unlikely]] {
    reject(call, "count " + std::to_string(call.count) + " of " + std::string(name(call.type)) +
                     " for " + std::to_string(blocks) + " block(s) overflows; expected at most " +
                     std::to_string(largest / bytes_a_count));
  }
}

void check_buffers(const team& on, const arguments& call) {
  if (call.what == collective::barrier || call.count == 0) return;
  const bool receives = call.what != collective::reduce || on.rank() == call.root;
  if (call.receive == nullptr && receives) {
    reject(call, "receive is null with count " + std::to_string(call.count) +
                     "; expected a buffer" + (call.in_place() ? "" : " to receive into"));
  }
  if (call.receive == nullptr && call.send == nullptr) {
    reject(call, "send is null with count " + std::to_string(call.count) + "; expected a buffer");
  }
}

void check(const team& on, const arguments& call) {
  if (has_root(call.what) && call.root >= on.size()) {
    reject(call, "root is " + std::to_string(call.root) + "; expected a rank from 0 to " +
                     std::to_string(on.size() - 1));
  }
  if (has_op(call.what) && (call.op == reduction::none || call.op > reduction::max)) {
    reject(call, "op is not a reduction; expected sum, product, min or max");
  }
  if (call.type > datatype::float64) reject(call, "type is unknown; expected a datatype");
  check_extent(on, call);
  check_buffers(on, call);
}

}  // namespace

task<> perform(team& on, arguments call) {
  check(on, call);
  on.require_whole();
  const algorithm& chosen = on.select(call);
  context me(on, call, chosen);
  try {
    co_await me.turn();
    co_await chosen.run(me, call);
    me.complete();
  } catch (const error& why) {
    me.abandon(why);
    throw;
  } catch (const std::exception& why) {
    me.abandon(error(errc::resource, me.describe() + ": " + why.what(), on.rank()));
    throw;
  }
}

task<> barrier(team& on) { return perform(on, arguments{}); }

std::string_view chosen_algorithm(const team& on, const arguments& call) {
  return on.select(call).id;
}

namespace detail {

void require_size(std::string_view call, std::string_view argument, std::size_t has,
                  std::size_t expected, std::string_view because) {
  if (has == expected) return;
  throw error(errc::invalid_argument, std::string(call) + ": " + std::string(argument) + " has " +
                                          std::to_string(has) + " elements, expected " +
                                          std::to_string(expected) + " (" + std::string(because) +
                                          ")");
}

std::size_t require_blocks(std::string_view call, std::size_t has, std::size_t ranks) {
  if (has % ranks == 0) return has / ranks;
  throw error(errc::invalid_argument, std::string(call) + ": the buffer has " +
                                          std::to_string(has) +
                                          " elements, expected a multiple of the " +
                                          std::to_string(ranks) + " ranks (one block a rank)");
}

}  // namespace detail
}  // namespace muster
