#pragma once

#include <cstddef>
#include <cstdint>

#include <muster/call/arguments.hpp>
#include <muster/call/combine.hpp>
#include <muster/select/catalog.hpp>
#include <muster/team/order.hpp>

namespace muster {

/// What is known of a call before it begins, the same on every rank that makes it.
struct prepared_call {
  const algorithm* chosen;
  tuning how;
  stage_kind stages;
  bool only_takes_place;  ///< in the team's order: it moves nothing, or is left to its caller
  /// Combines its contributions where they are short and nothing else is to be seen to; or null.
  few_combiner combine_few;
  std::uint64_t kind;   ///< for its record, like the next
  std::uint64_t count;  ///< as far as all ranks know it
  std::uint64_t details;
  std::uint64_t fingerprint;
};

/// The last call of a kind, prepared: programs repeat theirs.
class last_prepared {
public:
  /// What was prepared, if it was for a call like this one, with whatever buffers; or null.
  const prepared_call* find(const arguments& call) const noexcept {
    return is_like(call) ? &prepared_ : nullptr;
  }
  const prepared_call& keep(const arguments& call, const prepared_call& prepared) noexcept {
    ++changes_;
    word_ = has_pointers(call) || has_varying_blocks(call.what) ? of_none : word_of(call);
    count_ = call.count;
    root_ = call.root;
    prepared_ = prepared;
    return prepared_;
  }
  void forget() noexcept {
    ++changes_;
    word_ = of_none;
  }
  /// How often it was kept or forgotten.
  std::uint64_t changes() const noexcept { return changes_; }

private:
  /// All of what one word holds.
  static std::uint64_t word_of(const arguments& call) noexcept {
    return static_cast<std::uint64_t>(call.what) | static_cast<std::uint64_t>(call.type) << 8 |
           static_cast<std::uint64_t>(call.op) << 16 |
           static_cast<std::uint64_t>(call.order) << 24 |
           static_cast<std::uint64_t>(call.send == nullptr) << 32 |
           static_cast<std::uint64_t>(call.receive == nullptr) << 33 |
           static_cast<std::uint64_t>(call.may_be_left) << 34;
  }
  /// Whether it has what may change behind a pointer.
  static bool has_pointers(const arguments& call) noexcept {
    const auto bits = [](const void* at) { return reinterpret_cast<std::uintptr_t>(at); };
    return (bits(call.custom) | bits(call.send_blocks) | bits(call.receive_blocks) |
            bits(call.neighbors)) != 0;
  }
  bool is_like(const arguments& call) const noexcept {
    return word_of(call) == word_ && call.count == count_ && call.root == root_ &&
           !has_pointers(call);
  }

  static constexpr std::uint64_t of_none = ~std::uint64_t{0};

  std::uint64_t changes_ = 0;
  std::uint64_t word_ = of_none;
  std::size_t count_ = 0;
  std::size_t root_ = 0;
  prepared_call prepared_{};
};

}  // namespace muster
