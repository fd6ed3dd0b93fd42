#include "tools/c/team.hpp"

#include <algorithm>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include <muster/api/grow.hpp>
#include <muster/api/shrink.hpp>
#include <muster/api/split.hpp>
#include <muster/base/error.hpp>

#include "tools/c/errors.hpp"
#include "tools/c/operation.hpp"

using muster::c::guarded;
using muster::c::required_team;
using muster::c::visit;

static_assert(MUSTER_NO_COLOR == muster::no_color);

muster_team::muster_team(muster::c::job& in, muster::team& of) noexcept : in_(in), team_(of) {}
muster_team::muster_team(muster::c::job& in, std::unique_ptr<muster::team> own) noexcept
    : in_(in), own_(std::move(own)), team_(*own_) {}

muster_team::~muster_team() {
  for (const auto& each : unattended_) each->ask_to_stop();
  for (muster_operation* const each : pending_) each->ask_to_stop();
  unattended_.clear();
  for (muster_operation* const each : pending_) each->end_without_team();
}

void muster_team::add(muster_operation& pending) {
  pending.place = pending_.size();
  pending_.push_back(&pending);
}

void muster_team::remove(const muster_operation& pending) noexcept {
  pending_.back()->place = pending.place;
  pending_[pending.place] = pending_.back();
  pending_.pop_back();
}

bool muster_team::any_ended_unnoticed() noexcept {
  bool any = false;
  for (muster_operation* const each : pending_) any = each->ended_unnoticed() || any;
  return any;
}

void muster_team::keep_until_end(std::unique_ptr<muster_operation> pending) {
  drop_ended();
  unattended_.push_back(std::move(pending));
}

void muster_team::drop_ended() noexcept {
  if (unattended_.empty()) return;
  std::erase_if(unattended_, [](const auto& each) { return each->ended(); });
}

muster_team& muster::c::required_team(std::string_view call, muster_team* given) {
  if (given == nullptr) reject(call, "team is NULL; expected a team");
  return *given;
}

int muster_rank(const muster_team* team) { return team == nullptr ? -1 : team->rank(); }
int muster_size(const muster_team* team) { return team == nullptr ? -1 : team->size(); }

int muster_failure(muster_team* team) {
  return guarded("failure", [team] {
    const visit alone(required_team("failure", team).in(), "failure");
    const std::optional<muster::error> why = team->team().failure();
    if (!why) return static_cast<int>(MUSTER_SUCCESS);
    return muster::c::report(muster::c::failure_of(std::make_exception_ptr(*why), "failure"));
  });
}

int muster_revoke(muster_team* team, const char* why) {
  return guarded("revoke", [team, why] {
    const visit alone(required_team("revoke", team).in(), "revoke");
    team->team().revoke(why == nullptr ? "" : why);
  });
}

int muster_free(muster_team* team) {
  if (team == nullptr) return MUSTER_SUCCESS;
  return guarded("free", [team] {
    muster::c::job& in = team->in();
    const visit alone(in, "free");
    if (team == in.world()) {
      muster::c::reject("free", "team is the world; expected another, or muster_finalize");
    }
    in.remove(*team);
  });
}

// ---- teams made from teams

namespace {

using new_team = muster::task<std::unique_ptr<muster::team>>;

muster::task<> keep(new_team by, std::unique_ptr<muster::team>* to) {
  auto made = co_await std::move(by);
  *to = std::move(made);
}

/// Begins what `make(team)` returns.
template <class Make>
int begin(const char* call, muster_team* of, muster_team** made, muster_request* request,
          Make make) {
  return guarded(call, [&] {
    muster_operation*& to = muster::c::required(call, "request", request);
    to = nullptr;
    muster_team*& place = muster::c::required(call, "made", made);
    place = nullptr;
    muster_team& team = required_team(call, of);
    const visit alone(team.in(), call);
    auto pending = std::make_unique<muster_operation>(team, call);
    pending->makes(place);
    pending->begin(keep(make(team.team()), pending->made()));
    to = pending.release();
  });
}

int wait_if(int begun, muster_request& request) {
  return begun == MUSTER_SUCCESS ? muster_wait(&request) : begun;
}

}  // namespace

int muster_isplit(muster_team* team, int color, int key, muster_team** made,
                  muster_request* request) {
  return begin("split", team, made, request,
               [=](muster::team& of) { return muster::split(of, color, key); });
}
int muster_split(muster_team* team, int color, int key, muster_team** made) {
  muster_request request = nullptr;
  return wait_if(muster_isplit(team, color, key, made, &request), request);
}

int muster_iduplicate(muster_team* team, muster_team** made, muster_request* request) {
  return begin("duplicate", team, made, request,
               [](muster::team& of) { return muster::duplicate(of); });
}
int muster_duplicate(muster_team* team, muster_team** made) {
  muster_request request = nullptr;
  return wait_if(muster_iduplicate(team, made, &request), request);
}

int muster_isubset(muster_team* team, size_t count, const int* ranks, muster_team** made,
                   muster_request* request) {
  return begin("subset", team, made, request, [=](muster::team& of) {
    if (ranks == nullptr && count != 0) {
      muster::c::reject("subset", "ranks is NULL; expected a list");
    }
    std::vector<std::size_t> list;
    for (const int each : std::span(ranks, count)) {
      if (each < 0) {
        muster::c::reject("subset",
                          "ranks has " + std::to_string(each) + "; expected ranks of team");
      }
      list.push_back(static_cast<std::size_t>(each));
    }
    return muster::subset(of, list);
  });
}
int muster_subset(muster_team* team, size_t count, const int* ranks, muster_team** made) {
  muster_request request = nullptr;
  return wait_if(muster_isubset(team, count, ranks, made, &request), request);
}

int muster_ishrink(muster_team* team, muster_team** made, muster_request* request) {
  return begin("shrink", team, made, request, [](muster::team& of) { return muster::shrink(of); });
}
int muster_shrink(muster_team* team, muster_team** made) {
  muster_request request = nullptr;
  return wait_if(muster_ishrink(team, made, &request), request);
}

int muster_igrow(muster_team* team, muster_team** made, muster_request* request) {
  return begin("grow", team, made, request, [](muster::team& of) { return muster::grow(of); });
}
int muster_grow(muster_team* team, muster_team** made) {
  muster_request request = nullptr;
  return wait_if(muster_igrow(team, made, &request), request);
}
