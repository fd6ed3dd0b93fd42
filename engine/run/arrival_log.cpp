#include <muster/run/arrival_log.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <new>

#include <muster/call/describe.hpp>
#include <muster/run/team.hpp>
#include <muster/select/prepared_call.hpp>

namespace muster {
namespace {

// What is rare is kept out of the way of what every call does.

[[gnu::noinline]] std::uint64_t mean_block_bytes(const arguments& what,
                                                 std::size_t ranks) noexcept {
  return std::max(what.contributed_bytes(ranks), what.received_bytes(ranks)) / ranks;
}

[[gnu::noinline]] std::uint64_t mean_neighbor_bytes(const arguments& what,
                                                    std::size_t ranks) noexcept {
  return what.received_bytes(ranks) / std::max<std::size_t>(1, what.neighbors->sources.size());
}

/// The vector, or one block, of which the ranks may have different ones.
std::uint64_t payload_bytes(const arguments& what, std::size_t ranks) noexcept {
  if (what.what == collective::alltoallv) return mean_block_bytes(what, ranks);
  if (what.neighbors != nullptr) return mean_neighbor_bytes(what, ranks);
  return what.bytes();
}

}  // namespace

arrival_log::arrival_log(const engine& clock)
    : clock_(clock), virtual_(clock.has_virtual_clock()), begin_(look_at_clocks()) {}

arrival_log::~arrival_log() = default;

arrival_log::moment arrival_log::look_at_clocks() const noexcept {
  // The one of a few looks that was least disturbed.
  moment best;
  std::uint64_t least = std::numeric_limits<std::uint64_t>::max();
  for (int look = 0; look < 5; ++look) {
    const std::uint64_t before = ticks();
    const std::int64_t ns = clock_.now().count();
    const std::uint64_t taken = ticks() - before;
    if (taken >= least) continue;
    least = taken;
    best = {before + taken / 2, ns};
  }
  return best;
}

arrival_log::begun arrival_log::begin(const team& of, const prepared_call& how,
                                      const arguments& what, std::uint64_t sequence) noexcept {
  growing_site* const at = find(of, how, what);
  if (at == nullptr) {
    ++left_out_;
    return {};
  }
  ++at->calls;
  at->bytes += payload_bytes(what, of.size());
  if (!at->keeps(sequence)) return {};
  return {at, ticks()};
}

void arrival_log::end(const begun& call, std::uint64_t sequence, bool failed) noexcept {
  if (call.site == nullptr) return;
  growing_site& at = *call.site;
  const std::uint64_t left = ticks();
  if (!at.keeps(sequence)) return;  // the sample has become smaller meanwhile
  const bool full = at.kept.size() == at.kept.capacity();
  if (full && !(make_room(at) && at.keeps(sequence))) return;
  at.kept.push_back({.sequence = sequence,
                     .failed = failed,
                     .arrived = static_cast<std::int64_t>(call.arrived),
                     .left = static_cast<std::int64_t>(left)});
}

bool arrival_log::is_it(const growing_site& one, const team& of,
                        const prepared_call& how) const noexcept {
  return one.fingerprint == how.fingerprint && one.team == of.id() && one.label == label_;
}

arrival_log::growing_site* arrival_log::find(const team& of, const prepared_call& how,
                                             const arguments& what) noexcept {
  growing_site*& recent = recent_[recent_place(how.fingerprint ^ of.id() ^ label_)];
  if (recent != nullptr && is_it(*recent, of, how)) [[likely]] {
    return recent;
  }
  growing_site* const at = find_among_all(of, how, what);
  if (at != nullptr) recent = at;
  return at;
}

arrival_log::growing_site* arrival_log::find_among_all(const team& of, const prepared_call& how,
                                                       const arguments& what) noexcept {
  const auto found =
      std::ranges::find_if(sites_, [&](const auto& one) { return is_it(*one, of, how); });
  return found != sites_.end() ? found->get() : make(of, how, what);
}

arrival_log::growing_site* arrival_log::make(const team& of, const prepared_call& how,
                                             const arguments& what) noexcept {
  if (sites_.size() == most_sites) return nullptr;
  try {
    auto one = std::make_unique<growing_site>();
    one->team = of.id();
    one->fingerprint = how.fingerprint;
    one->ranks = of.size();
    one->rank = of.rank();
    one->label = label_;
    one->what = describe(what);
    one->algorithm = how.chosen->id;
    return sites_.emplace_back(std::move(one)).get();
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

bool arrival_log::make_room(growing_site& in) noexcept {
  constexpr std::size_t least = 64;
  try {
    if (in.kept.capacity() < most_calls) {
      in.kept.reserve(std::clamp(2 * in.kept.capacity(), least, most_calls));
    }
  } catch (const std::bad_alloc&) {  // it has to do with what it has
    if (in.kept.empty()) return false;
  }
  while (in.kept.size() == in.kept.capacity()) {
    in.sampling = 2 * in.sampling + 1;
    std::erase_if(in.kept, [&](const call& one) { return !in.keeps(one.sequence); });
  }
  return true;
}

std::vector<arrival_log::site> arrival_log::sites() const {
  const moment end = look_at_clocks();
  const double ns = static_cast<double>(end.ns - begin_.ns);
  const double a_tick =
      end.ticks > begin_.ticks ? ns / static_cast<double>(end.ticks - begin_.ticks) : 1;
  const auto convert = [&](std::int64_t& time) {
    const double since_begin = static_cast<double>(time - static_cast<std::int64_t>(begin_.ticks));
    time = begin_.ns + std::llround(since_begin * a_tick);
  };
  std::vector<site> result;
  for (const auto& one : sites_) {
    site& copy = result.emplace_back(*one);
    for (call& each : copy.kept) {
      convert(each.arrived);
      convert(each.left);
    }
  }
  return result;
}

}  // namespace muster
