#include "tests/transports/mpi/mailroom.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <set>
#include <utility>

#include <muster/progress/engine.hpp>

namespace muster::testing {

using mpi::messenger;

class mailroom::desk final : public messenger {
public:
  desk(mailroom& of, std::size_t rank) : of_(of), rank_(rank) {}

  std::uint32_t most_tag() const noexcept override { return 32'767; }
  request send(std::size_t to, std::uint32_t tag, std::span<const std::byte> bytes) override {
    return send(to, tag, bytes, bytes.size() <= of_.eager_);
  }
  request put(std::size_t to, std::uint32_t tag, std::span<const std::byte> bytes) override {
    return send(to, tag, bytes, false);
  }
  request receive(std::size_t from, std::uint32_t tag, std::span<std::byte> to) override;
  bool take_back(request receive) override;
  request begin_barrier() override;
  std::span<const ended> look() override;

private:
  request send(std::size_t to, std::uint32_t tag, std::span<const std::byte> bytes, bool is_copied);

  mailroom& of_;
  std::size_t rank_;
  std::vector<ended> told_;
};

mailroom::mailroom(std::size_t ranks, std::size_t eager, std::uint64_t seed)
    : eager_(eager), boxes_(ranks), random_(seed) {}
mailroom::~mailroom() = default;

std::unique_ptr<messenger> mailroom::messenger_of(std::size_t rank, int bell) {
  const std::lock_guard alone(lock_);
  boxes_[rank].bell = bell;
  return std::make_unique<desk>(*this, rank);
}

std::size_t mailroom::leftovers() const {
  const std::lock_guard alone(lock_);
  return std::accumulate(
      boxes_.begin(), boxes_.end(), std::size_t{0}, [](std::size_t sum, const box& each) {
        return sum + each.on_the_way.size() + each.came.size() + each.receives.size();
      });
}

messenger::request mailroom::name(box& of) {
  if (of.free.empty()) return of.next++;
  const messenger::request again = of.free.back();
  of.free.pop_back();
  return again;
}

void mailroom::end(std::size_t rank, const messenger::ended& what) {
  if (what.which == messenger::over) return;
  boxes_[rank].ended.push_back(what);
  if (boxes_[rank].bell >= 0) doorbell::ring(boxes_[rank].bell);
}

void mailroom::deliver(std::size_t rank, const expected& to, const sent& what) {
  const std::span<const std::byte> bytes = what.copy.empty() ? what.bytes : what.copy;
  REQUIRE(bytes.size() <= to.to.size());
  if (!bytes.empty()) std::memcpy(to.to.data(), bytes.data(), bytes.size());
  end(rank, {.which = to.request, .from = what.from, .bytes = bytes.size()});
  end(what.from, {.which = what.waits, .from = 0, .bytes = 0});
}

void mailroom::come(std::size_t rank, sent what) {
  box& there = boxes_[rank];
  const auto found = std::ranges::find_if(there.receives, [&](const expected& each) {
    return each.tag == what.tag && (each.from == what.from || each.from == messenger::anybody);
  });
  if (found == there.receives.end()) {
    there.came.push_back(std::move(what));
  } else {
    deliver(rank, *found, what);
    there.receives.erase(found);
  }
}

void mailroom::bring_some(std::size_t rank) {
  std::list<sent>& all = boxes_[rank].on_the_way;
  std::set<std::pair<std::size_t, std::uint32_t>> held;
  for (auto one = all.begin(); one != all.end();) {
    const std::pair way(one->from, one->tag);
    if (held.contains(way) || random_.one_in(3)) {
      held.insert(way);
      ++one;
    } else {
      come(rank, std::move(*one));
      one = all.erase(one);
    }
  }
}

messenger::request mailroom::desk::send(std::size_t to, std::uint32_t tag,
                                        std::span<const std::byte> bytes, bool is_copied) {
  const std::lock_guard alone(of_.lock_);
  const bool is_over = is_copied && of_.random_.one_in(2);
  sent next{.from = rank_,
            .tag = tag,
            .copy = {},
            .bytes = bytes,
            .waits = is_over ? over : of_.name(of_.boxes_[rank_])};
  const request made = next.waits;
  if (is_copied) {
    next.copy.assign(bytes.begin(), bytes.end());
    of_.end(rank_, {.which = next.waits, .from = 0, .bytes = 0});
    next.waits = over;
  }
  box& there = of_.boxes_[to];
  there.on_the_way.push_back(std::move(next));
  if (there.bell >= 0) doorbell::ring(there.bell);
  return made;
}

messenger::request mailroom::desk::receive(std::size_t from, std::uint32_t tag,
                                           std::span<std::byte> to) {
  const std::lock_guard alone(of_.lock_);
  box& mine = of_.boxes_[rank_];
  const expected next{.from = from, .tag = tag, .to = to, .request = of_.name(mine)};
  const auto found = std::ranges::find_if(mine.came, [&](const sent& each) {
    return each.tag == tag && (from == each.from || from == anybody);
  });
  if (found == mine.came.end()) {
    mine.receives.push_back(next);
  } else {
    of_.deliver(rank_, next, *found);
    mine.came.erase(found);
  }
  return next.request;
}

bool mailroom::desk::take_back(request receive) {
  const std::lock_guard alone(of_.lock_);
  box& mine = of_.boxes_[rank_];
  const auto found = std::ranges::find(mine.receives, receive, &expected::request);
  if (found == mine.receives.end()) return false;
  mine.receives.erase(found);
  mine.free.push_back(receive);
  return true;
}

messenger::request mailroom::desk::begin_barrier() {
  const std::lock_guard alone(of_.lock_);
  const request made = of_.name(of_.boxes_[rank_]);
  of_.at_barrier_.emplace_back(rank_, made);
  if (of_.at_barrier_.size() == of_.boxes_.size()) {
    for (const auto& [rank, request] : of_.at_barrier_) {
      of_.end(rank, {.which = request, .from = 0, .bytes = 0});
    }
    of_.at_barrier_.clear();
  }
  return made;
}

std::span<const messenger::ended> mailroom::desk::look() {
  const std::lock_guard alone(of_.lock_);
  box& mine = of_.boxes_[rank_];
  for (const ended& each : told_) mine.free.push_back(each.which);
  told_.clear();
  of_.bring_some(rank_);
  // Some of it, in any order.
  while (!mine.ended.empty() && !of_.random_.one_in(4)) {
    std::swap(mine.ended[of_.random_.below(mine.ended.size())], mine.ended.back());
    told_.push_back(mine.ended.back());
    mine.ended.pop_back();
  }
  const bool is_all = mine.ended.empty() && mine.on_the_way.empty();
  if (!is_all && mine.bell >= 0) doorbell::ring(mine.bell);
  return told_;
}

}  // namespace muster::testing
