#pragma once

#include <coroutine>
#include <exception>

#include <muster/coro/task.hpp>

namespace muster {

/// What is left of a part that has ended well already: nothing. Any number of tasks may stand for
/// it; it outlives them.
class ended_part final : public bracket {
public:
  explicit ended_part(muster::engine& where) noexcept : bracket(where) { ended_at_once_ = true; }

  std::coroutine_handle<> attempt() noexcept override { return nullptr; }
  bool begin(const coroutine_place&, std::coroutine_handle<>) noexcept override { return true; }
  void enter() override {}
  void end(const std::exception_ptr&) noexcept override {}
  void release() noexcept override {}
};

}  // namespace muster
