#pragma once

#include <cstddef>

#include <muster/coro/frame_pool.hpp>
#include <muster/run/context.hpp>

namespace muster {

/// A context that lives as long as its coroutine, or as the plan that keeps it.
class operation : public context {
public:
  operation(team& on, const arguments& call) : context(on, call, on.prepare_call(call)) {}
  virtual ~operation() = default;

  /// Whether it stays when its coroutine goes, to be run again.
  void keep(bool kept) noexcept { kept_ = kept; }
  bool is_kept() const noexcept { return kept_; }
  /// Whether a coroutine of it is there.
  bool is_out() const noexcept { return out_; }
  task<> run() {
    task<> part = context::run();
    out_ = true;
    return part;
  }

  using context::move_to;

  /// Runs what `text` chooses, whatever the team would; see `team::find`. Before it begins.
  void choose(std::string_view text) { prepare_by(text); }

  /// Takes its place in the team's order before it begins, or ends without beginning.
  void reserve() noexcept { take_place(); }
  /// \param why not null
  void give_up(const std::exception_ptr& why) noexcept { end(why); }

  static void* operator new(std::size_t bytes) { return frame_pool::allocate(bytes); }
  static void operator delete(void* memory) noexcept { frame_pool::release(memory); }

private:
  void release() noexcept override {
    if (!kept_) {
      delete this;
      return;
    }
    end_if_running();
    out_ = false;
  }

  bool kept_ = false;
  bool out_ = false;
};

}  // namespace muster
