#include <muster/api/plan.hpp>

#include <string>
#include <utility>

#include <muster/run/operation.hpp>

namespace muster {

namespace {

/// Apart from the question, which every run asks.
[[noreturn, gnu::cold]] void refuse(const char* why) {
  throw error(errc::invalid_argument, std::string("plan: ") + why);
}

}  // namespace

plan::plan(task<> collective) : kept_(&operation_of(collective, "plan")) {
  kept_->keep(operation::keeper::plan);
}

task<> by(std::string_view algorithm, task<> collective) {
  operation& chosen = operation_of(collective, "by");
  chosen.choose(algorithm);
  chosen.keep(operation::keeper::plan);
  collective = {};  // which would take it along
  chosen.keep(operation::keeper::nobody);
  return chosen.run();
}

void plan::dropping::operator()(operation* kept) const noexcept { operation::drop(kept); }

operation& plan::idle() const {
  if (kept_ == nullptr) [[unlikely]] {
    refuse("run after it was moved from; expected a plan");
  }
  if (kept_->is_out()) [[unlikely]] {
    refuse("run again before the last run's end; expected one run at a time");
  }
  return *kept_;
}

task<> plan::run() { return idle().run(); }

task<> plan::run_on(const void* send, void* receive) {
  operation& one = idle();
  const arguments& call = one.call();
  if ((send == nullptr) != (call.send == nullptr) ||
      (receive == nullptr) != (call.receive == nullptr)) [[unlikely]] {
    refuse(
        "run_on: a buffer is null where the plan's is none, or the other way round; expected the "
        "same");
  }
  one.move_to(static_cast<const std::byte*>(send), static_cast<std::byte*>(receive));
  return one.run();
}

}  // namespace muster
