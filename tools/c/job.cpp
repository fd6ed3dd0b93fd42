#include "tools/c/job.hpp"

#include <sched.h>

#include <span>
#include <string>
#include <utility>

#include <muster/base/error.hpp>
#include <muster/progress/waiting.hpp>

#include "tools/c/errors.hpp"
#include "tools/c/team.hpp"

namespace muster::c {

static_assert(own_ops::first + own_ops::most == MUSTER_IN_ARRIVAL_ORDER);

function_reduction::function_reduction(muster_function* combine, void* context, std::size_t bytes,
                                       bool is_commutative)
    : custom_reduction{.apply =
                           [](const custom_reduction& self, std::byte* to, const std::byte* left,
                              const std::byte* right, std::size_t count) {
                             const auto& mine = static_cast<const function_reduction&>(self);
                             mine.combine_(mine.context_, to, left, right, count);
                           },
                       .element_bytes = bytes,
                       .commutative = is_commutative},
      combine_(combine),
      context_(context) {}

job::job(bool rejoins) : joined_({.progress = progress::external, .rejoins = rejoins}) {
  teams_.push_back(std::make_unique<muster_team>(*this, joined_.team()));
}

job::job(bootstrap& with) : joined_(with, {.progress = progress::external}) {
  teams_.push_back(std::make_unique<muster_team>(*this, joined_.team()));
}

job::~job() {
  while (!teams_.empty()) teams_.pop_back();
}

muster_team* job::add(std::unique_ptr<muster::team> made) {
  teams_.push_back(std::make_unique<muster_team>(*this, std::move(made)));
  return teams_.back().get();
}

void job::remove(const muster_team& which) noexcept {
  std::erase_if(teams_, [&which](const auto& each) { return each.get() == &which; });
}

int job::add(std::shared_ptr<const function_reduction> op) { return ops_.add(std::move(op)); }

void job::remove_op(int op) {
  static_cast<void>(this->op("op_free", op));
  ops_.remove(op);
}

std::shared_ptr<const custom_reduction> job::op(std::string_view call, int which) const {
  std::shared_ptr<const custom_reduction> found = ops_.find(which);
  if (found == nullptr) {
    reject(call, "op is " + std::to_string(which) +
                     "; expected MUSTER_SUM, another of these, or one of muster_op_create");
  }
  return found;
}

bool job::look() {
  constexpr unsigned looks_between_checks = 16;
  if (engine().poll()) return true;
  if (++looks_in_vain_ % looks_between_checks != 0) return false;
  return engine().resume_interrupted(false);
}

bool job::look_for_a_moment() {
  // As Asio's driver does: polls, or turns of the ranks of this core.
  const bool yields = engine().waiting().yields_at_once();
  for (unsigned left = yields ? 4 : 32; left != 0; --left) {
    if (look()) return true;
    yields ? static_cast<void>(::sched_yield()) : spin_pause();
  }
  return false;
}

bool job::any_ended_unnoticed() noexcept {
  bool any = false;
  for (const auto& each : teams_) any = each->any_ended_unnoticed() || any;
  return any;
}

visit::visit(job& of, std::string_view call) : of_(of) {
  // acquire: what the thread that was here before has done.
  if (of.is_visited_.exchange(true, std::memory_order_acquire)) {
    reject(call, "called while another call of Muster is under way; expected one at a time");
  }
}
visit::~visit() { of_.is_visited_.store(false, std::memory_order_release); }

}  // namespace muster::c

namespace {

using muster::c::job;

/// How processes that somebody else connects tell each other what it takes.
class told_by_function final : public muster::bootstrap {
public:
  told_by_function(std::size_t rank, std::size_t size, muster_allgather_function* allgather,
                   void* context)
      : rank_(rank), size_(size), allgather_(allgather), context_(context) {}

  std::size_t rank() const noexcept override { return rank_; }
  std::size_t size() const noexcept override { return size_; }
  void allgather(std::span<const std::byte> mine, std::span<std::byte> all) override {
    const int failed = allgather_(context_, mine.data(), all.data(), mine.size());
    if (failed == 0) return;
    throw muster::error(muster::errc::bootstrap,
                        "init_with: allgather returned " + std::to_string(failed) + "; expected 0");
  }

private:
  std::size_t rank_;
  std::size_t size_;
  muster_allgather_function* allgather_;
  void* context_;
};

/// Whether the process has joined a job.
std::atomic<bool>& has_joined() noexcept {
  static constinit std::atomic<bool> joined{false};
  return joined;
}

template <class Join>
int join_once(const char* call, muster_team** world, Join join) {
  return muster::c::guarded(call, [&] {
    muster_team*& made = muster::c::required(call, "world", world);
    made = nullptr;
    if (has_joined().exchange(true)) {
      muster::c::reject(call, "called again; expected once in a process");
    }
    try {
      made = join()->world();
    } catch (...) {
      has_joined() = false;
      throw;
    }
  });
}

}  // namespace

int muster_init(muster_team** world) {
  return join_once("init", world, [] { return new job(false); });
}

int muster_rejoin(muster_team** world) {
  if (world != nullptr && !muster::world::is_to_rejoin()) {
    *world = nullptr;
    return MUSTER_SUCCESS;
  }
  return join_once("rejoin", world, [] { return new job(true); });
}

int muster_init_with(int rank, int size, muster_allgather_function* allgather, void* context,
                     muster_team** world) {
  return join_once("init_with", world, [&] {
    if (size < 1 || rank < 0 || rank >= size) {
      muster::c::reject("init_with", "rank is " + std::to_string(rank) + " of size " +
                                         std::to_string(size) +
                                         "; expected one from 0 to size - 1");
    }
    if (allgather == nullptr) {
      muster::c::reject("init_with", "allgather is NULL; expected a function");
    }
    told_by_function with(static_cast<std::size_t>(rank), static_cast<std::size_t>(size), allgather,
                          context);
    return new job(with);
  });
}

int muster_finalize(muster_team* world) {
  if (world == nullptr) return MUSTER_SUCCESS;
  return muster::c::guarded("finalize", [world] {
    job& mine = world->in();
    if (world != mine.world()) {
      muster::c::reject("finalize", "world is another team; expected that of muster_init");
    }
    {
      const muster::c::visit alone(mine, "finalize");
    }
    delete &mine;
  });
}
