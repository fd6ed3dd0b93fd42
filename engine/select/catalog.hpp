#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <ranges>
#include <span>
#include <string_view>

#include <muster/base/version.hpp>
#include <muster/call/arguments.hpp>
#include <muster/coro/task.hpp>
#include <muster/team/machine.hpp>
#include <muster/team/order.hpp>
#include <muster/team/shape.hpp>

namespace muster {

class context;

/// What a call costs each node of a team of equal ones.
struct node_cost {
  /// Posted to other nodes by all its ranks. Each may be cut into pieces of 32 KiB, or, where it
  /// goes in place, need an invitation.
  std::size_t messages = 0;
  std::size_t bytes = 0;        ///< in them
  std::size_t connections = 0;  ///< pairs of a rank here that sends and one elsewhere that receives
  std::size_t memory = 0;       ///< that its ranks stage in, beside their buffers, in bytes

  friend bool operator==(const node_cost&, const node_cost&) = default;
};

/// A team of equal nodes.
struct even_nodes {
  std::size_t nodes = 1;         ///< n in formulas
  std::size_t ranks_a_node = 1;  ///< p
};

/// One row of the catalog: an algorithm for a collective.
struct algorithm {
  std::string_view id;  ///< unique within its collective
  collective what;
  std::string_view summary;                         ///< one line, for people
  std::string_view source;                          ///< where it comes from
  std::string_view needs = "any ranks, any sizes";  ///< what `suits` asks for, for people
  /// What it costs a node, for people: n nodes of p ranks, blocks of m bytes, k ports, g groups.
  std::string_view formula = {};
  /// The same as figures; null where there is no formula. Blocks are `call.bytes()`, or, where all
  /// ranks know their lengths, as `call.receive_blocks` says; `call.how` is what it says, with 0
  /// for one port and one group.
  node_cost (*costs)(const even_nodes&, const arguments& call) = nullptr;
  bool has_ports = false;   ///< whether `tuning::ports` means something to it
  bool has_groups = false;  ///< whether `tuning::groups` does
  /// Whether it can run this call on this team. A pure function of facts that are the same on
  /// every rank.
  bool (*suits)(const shape&, const machine&, const arguments&);
  /// Where it suits, whether it is to be chosen before those after it; not asked where it is chosen
  /// by hand. Pure likewise; null: always.
  bool (*pays)(const shape&, const machine&, const arguments&) = nullptr;
  /// The stages it uses for this call; pure likewise.
  stage_kind (*stages)(const shape&, const machine&, const arguments&);
  /// One rank's part of the operation.
  task<> (*run)(context&, const arguments&);
  /// The same without a coroutine, which costs less: announces the rank as `run` does, and
  /// where all that `run` would wait for is there, does the rest and returns true. Else it changes
  /// nothing but that, and returns false; it may be called again, and then `run`, which goes on
  /// without a second announcement. Null: `run` alone.
  bool (*at_once)(context&, const arguments&) = nullptr;
  /// Other than `no`: it only takes the operation's place in the order, and the caller, who said
  /// that the call may be left so, carries it out behind that. Chosen by hand it is so for such
  /// calls alone. It has neither `stages` nor `run`.
  leavable leaves = leavable::no;
};

/// An algorithm, and how it is to run.
struct choice {
  const algorithm* row = nullptr;
  tuning how;
};

/// Which Muster a catalog was compiled with. It is the first thing in every version's catalog, so
/// that another version can read it.
struct catalog_stamp {
  std::array<char, 16> magic = {"muster::catalog"};
  std::array<char, 24> version = padded(muster::version);
  /// Of one version from one day to the next: what rows, and what they are asked about, take.
  std::array<std::uint32_t, 4> layout = {sizeof(algorithm), sizeof(arguments),
                                         sizeof(muster::shape), sizeof(muster::machine)};

  friend bool operator==(const catalog_stamp&, const catalog_stamp&) = default;

private:
  static constexpr std::array<char, 24> padded(std::string_view text) {
    std::array<char, 24> result{};
    for (std::size_t i = 0; i < text.size(); ++i) result[i] = text[i];
    return result;
  }
};

/// The algorithms an engine was given, the preferred one first within each collective: a view of
/// rows that somebody else holds.
class catalog {
public:
  catalog() = default;
  /// \param rows outlive the catalog and its copies
  template <class Rows>
    requires(!std::same_as<Rows, catalog>) &&
            std::convertible_to<const Rows&, std::span<const algorithm>>
  catalog(const Rows& rows) : rows_(rows) {}
  catalog(const algorithm* first, std::size_t count) : rows_(first, count) {}

  const algorithm* begin() const noexcept { return rows_.data(); }
  const algorithm* end() const noexcept { return rows_.data() + rows_.size(); }
  const algorithm* data() const noexcept { return rows_.data(); }
  std::size_t size() const noexcept { return rows_.size(); }
  const algorithm& operator[](std::size_t i) const noexcept { return rows_[i]; }
  const catalog_stamp& made_by() const noexcept { return made_by_; }

private:
  catalog_stamp made_by_;
  std::span<const algorithm> rows_;
};

}  // namespace muster

template <>
inline constexpr bool std::ranges::enable_borrowed_range<muster::catalog> = true;

/// What a shared library of algorithms exports, for the commands' `--catalog`: its rows, which stay
/// as long as it is loaded. See docs/own-algorithm.md.
extern "C" const muster::catalog* muster_catalog() noexcept;
