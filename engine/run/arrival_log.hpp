#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <muster/base/random.hpp>
#include <muster/call/arguments.hpp>
#include <muster/progress/engine.hpp>
#include <muster/progress/ticks.hpp>

namespace muster {

class team;
struct prepared_call;

/// What one rank remembers of its collective calls: when it came to each, and when it left.
///
/// Calls with one signature on one team, under one label, are a *site*. A log may stay on for as
/// long as a program runs: it has so many sites and calls of each, and no more. From a site with
/// more calls it keeps a sample, drawn by their numbers in the team's order, so that every rank
/// keeps the same ones without a word between them. Recording a call takes a look at a table and,
/// where it is kept, two looks at the processor's ticks and a store; memory grows now and then,
/// until a site is full.
///
/// Belongs to the thread that drives the rank's engine.
///
/// Source: the profiling of process arrival patterns in Qian 2010 (6.3.1).
class arrival_log {
  struct growing_site;

public:
  static constexpr std::size_t most_sites = 1024;
  static constexpr std::size_t most_calls = 16 * 1024;  ///< of a site; kept, that is

  /// Times are those of the engine's clock in nanoseconds, the same on all ranks of a machine.
  struct call {
    std::uint64_t sequence : 63;  ///< in the team's order
    std::uint64_t failed : 1;
    std::int64_t arrived;
    std::int64_t left;
  };

  struct site {
    std::uint64_t team = 0;         ///< see `team::id`
    std::uint64_t fingerprint = 0;  ///< of the signature
    std::size_t ranks = 0;          ///< of the team
    std::size_t rank = 0;           ///< this rank, in the team
    std::uint64_t label = 0;        ///< see `label`
    std::string what;               ///< "allreduce(16 x float64, sum)"
    std::string algorithm;
    std::uint64_t calls = 0;  ///< that have begun, kept or not
    std::uint64_t bytes = 0;  ///< their payloads together: of each the vector, or one block
    std::vector<call> kept;   ///< in the order in which they ended
  };

  /// \param clock outlives the log
  explicit arrival_log(const engine& clock);
  arrival_log(const arrival_log&) = delete;
  arrival_log& operator=(const arrival_log&) = delete;
  ~arrival_log();

  /// Calls that begin from now on are those of this label: what their owner tells apart beyond
  /// signatures. The same on every rank.
  void label(std::uint64_t next) noexcept { label_ = next; }

  /// A call that has begun and is to be kept, or nothing.
  struct begun {
    growing_site* site = nullptr;
    std::uint64_t arrived = 0;
  };
  begun begin(const team& of, const prepared_call& how, const arguments& what,
              std::uint64_t sequence) noexcept;
  /// The call has ended.
  void end(const begun& call, std::uint64_t sequence, bool failed) noexcept;

  /// What was recorded so far.
  std::vector<site> sites() const;
  /// Calls that are part of no site, because there would be too many sites or there was no memory.
  std::uint64_t left_out() const noexcept { return left_out_; }

private:
  /// A site whose calls have times in ticks.
  struct growing_site : site {
    std::uint64_t sampling = 0;  // a mask: those calls are kept whose hash has none of its bits
    bool keeps(std::uint64_t sequence) const noexcept {
      return sampling == 0 || (mix_bits(sequence) & sampling) == 0;
    }
  };
  /// One moment by both clocks.
  struct moment {
    std::uint64_t ticks = 0;
    std::int64_t ns = 0;
  };

  /// The time, in the log's own unit.
  std::uint64_t ticks() const noexcept {
    return virtual_ ? static_cast<std::uint64_t>(clock_.now().count()) : count_ticks();
  }
  moment look_at_clocks() const noexcept;
  bool is_it(const growing_site& one, const team& of, const prepared_call& how) const noexcept;
  growing_site* find(const team& of, const prepared_call& how, const arguments& what) noexcept;
  [[gnu::noinline]] growing_site* find_among_all(const team& of, const prepared_call& how,
                                                 const arguments& what) noexcept;
  growing_site* make(const team& of, const prepared_call& how, const arguments& what) noexcept;
  [[gnu::noinline]] static bool make_room(growing_site& in) noexcept;
  static constexpr unsigned recent_bits = 6;
  /// The high bits of the product depend on all of the key.
  static std::size_t recent_place(std::uint64_t key) noexcept {
    return (key * 0x9e37'79b9'7f4a'7c15U) >> (64 - recent_bits);
  }

  const engine& clock_;
  bool virtual_;
  moment begin_;
  std::vector<std::unique_ptr<growing_site>> sites_;
  std::array<growing_site*, std::size_t{1} << recent_bits> recent_{};  // by a hash of theirs
  std::uint64_t label_ = 0;
  std::uint64_t left_out_ = 0;
};

}  // namespace muster
