// Random programs, held against a plain list of what is registered.

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "tests/transports/verbs/fakes.hpp"
#include "tools/conformance/random.hpp"
#include "transports/verbs/registrations.hpp"

namespace muster::testing {
namespace {

using held = verbs::registrations::held;

/// What is registered when, said as plainly as can be. Regions are numbered in the order in which
/// they are made.
class model {
public:
  struct region {
    std::size_t number;
    address_range where;
    access how;
  };
  struct outcome {
    std::optional<region> got;
    bool is_hit = false;
  };
  struct memory {
    address_range unwatchable;
    address_range read_only;
    std::size_t most_bytes;
  };

  model(const verbs::registrations::limits& most, const memory& of) : most_(most), memory_(of) {}

  void give_back(const address_range& gone) { gone_.push_back(gone); }
  void let_go(std::size_t which) { held.erase(held.begin() + static_cast<std::ptrdiff_t>(which)); }

  outcome hold(const address_range& some, access how, bool is_all) {
    for (const address_range& each : std::exchange(gone_, {})) {
      std::erase_if(kept, [&](const region& one) { return one.where.overlaps(each); });
    }
    if (is_all) {
      if (const auto found = find(some, how)) return {found, true};
    }
    for (const region& each : passing_) {
      if (each.where == some && suffices(each, how) && is_held(each)) return {each, true};
    }
    return {add(some, how, is_all), false};
  }
  std::size_t bytes_kept() const { return sum(kept); }
  std::vector<region> registered() const {
    std::vector<region> all = kept;
    for (const region& each : held) {
      if (std::ranges::find(all, each.number, &region::number) == all.end()) all.push_back(each);
    }
    return all;
  }

  std::vector<region> kept;  // the last one used first
  std::vector<region> held;  // each as often as it is

private:
  static bool suffices(const region& one, access how) {
    return one.how == access::write || how == access::read;
  }
  static std::size_t sum(const std::vector<region>& some) {
    std::size_t bytes = 0;
    for (const region& each : some) bytes += each.where.size();
    return bytes;
  }
  bool is_held(const region& one) const {
    return std::ranges::find(held, one.number, &region::number) != held.end();
  }
  /// Of several, that for writing, and that which begins last.
  std::optional<region> find(const address_range& some, access how) {
    auto best = kept.end();
    for (auto each = kept.begin(); each != kept.end(); ++each) {
      if (!each->where.covers(some) || !suffices(*each, how)) continue;
      if (best == kept.end() ||
          std::pair(best->how, best->where.begin) < std::pair(each->how, each->where.begin)) {
        best = each;
      }
    }
    if (best == kept.end()) return std::nullopt;
    std::rotate(kept.begin(), best, best + 1);
    return kept.front();
  }
  std::optional<region> add(const address_range& some, access how, bool is_all) {
    const bool stays = is_all && make_room(some) && !some.overlaps(memory_.unwatchable);
    if (how == access::write && some.overlaps(memory_.read_only)) return std::nullopt;
    while (sum(registered()) + some.size() > memory_.most_bytes) {
      const std::size_t before = bytes_kept();
      while (before - bytes_kept() < some.size() && evict()) {
      }
      if (bytes_kept() == before) return std::nullopt;
    }
    const region made{next_++, some, how};
    if (stays) {
      std::erase_if(kept, [&](const region& each) {
        return some.covers(each.where) && (how == access::write || each.how == access::read);
      });
      kept.insert(kept.begin(), made);
    } else {
      passing_.push_back(made);
    }
    return made;
  }
  bool make_room(const address_range& some) {
    if (some.size() > most_.bytes) return false;
    while (bytes_kept() + some.size() > most_.bytes || kept.size() >= most_.regions) {
      if (!evict()) return false;
    }
    return true;
  }
  bool evict() {
    for (auto each = kept.end(); each != kept.begin();) {
      if (is_held(*--each)) continue;
      kept.erase(each);
      return true;
    }
    return false;
  }

  verbs::registrations::limits most_;
  memory memory_;
  std::size_t next_ = 0;
  std::vector<address_range> gone_;
  std::vector<region> passing_;
};

class program {
public:
  explicit program(std::uint64_t seed)
      : random_(seed),
        most_{.bytes = (4 + random_.below(30)) * page, .regions = 1 + random_.below(10)},
        memory_{.unwatchable = pages(20, 22),
                .read_only = pages(0, 2),
                .most_bytes = (6 + random_.below(60)) * page},
        expected_(most_, memory_),
        all_(by_, std::unique_ptr<fake_monitor>(monitor_), most_) {
    monitor_->unwatchable = memory_.unwatchable;
    by_.read_only = memory_.read_only;
    by_.most_bytes = memory_.most_bytes;
  }

  void run() {
    for (int step = 0; step < 200; ++step) {
      CAPTURE(step);
      switch (random_.below(4)) {
        case 0:
          give_back();
          break;
        case 1:
          let_go();
          break;
        default:
          hold();
          check();
      }
    }
  }

private:
  address_range any() {
    constexpr std::size_t all = 24;
    const std::size_t from = random_.below(all);
    return pages(from, from + 1 + random_.below(std::min(all - from, std::size_t{8})));
  }
  void give_back() {
    const address_range gone = any();
    monitor_->give_back(gone);
    expected_.give_back(gone);
  }
  void let_go() {
    if (held_.empty()) return;
    const std::size_t which = random_.below(held_.size());
    held_.erase(held_.begin() + static_cast<std::ptrdiff_t>(which));
    expected_.let_go(which);
  }
  void hold() {
    const address_range some = any();
    const access how = random_.one_in(2) ? access::read : access::write;
    monitor_->is_all = !random_.one_in(8);
    const auto [expected, is_hit] = expected_.hold(some, how, monitor_->is_all);
    const auto hits = all_.statistics().hits;
    const held got = all_.hold(some.bytes(), how);
    CHECK((all_.statistics().hits != hits) == is_hit);
    REQUIRE((got != nullptr) == expected.has_value());
    if (!got) return;
    if (!is_hit) numbers_.push_back(what_is(got).number);
    CHECK(what_is(got).number == numbers_[expected->number]);
    CHECK(what_is(got).where.covers(some));
    if (!random_.one_in(3)) return;
    held_.push_back(got);
    expected_.held.push_back(*expected);
  }
  void check() const {
    REQUIRE(all_.kept().regions == expected_.kept.size());
    CHECK(all_.kept().bytes == expected_.bytes_kept());
    CHECK(all_.kept().bytes <= most_.bytes);
    CHECK(all_.kept().regions <= most_.regions);
    std::set<std::uint64_t> numbers;
    for (const auto& each : expected_.registered()) numbers.insert(numbers_[each.number]);
    std::set<std::uint64_t> registered;
    for (const auto& each : by_.all) registered.insert(each.number);
    CHECK(registered == numbers);
  }

  random_stream random_;
  verbs::registrations::limits most_;
  model::memory memory_;
  fake_registrar by_;
  fake_monitor* monitor_ = new fake_monitor;
  model expected_;
  verbs::registrations all_;
  std::vector<held> held_;
  std::vector<std::uint64_t> numbers_;  // of the model's regions, at the registrar
};

TEST_CASE("random programs find registered what a plain list has") {
  INFO(how_to_replay());
  for (std::uint64_t n = 0; n < 400; ++n) {
    CAPTURE(n);
    program(derive(run_seed(), n)).run();
  }
}

}  // namespace
}  // namespace muster::testing
