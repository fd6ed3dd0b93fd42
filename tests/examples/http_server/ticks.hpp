#pragma once

#include <algorithm>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <vector>

/// Something else that a server's thread has to do, each millisecond; and how late that comes.
class ticks {
public:
  boost::asio::awaitable<void> run() {
    using clock = std::chrono::steady_clock;
    boost::asio::steady_timer timer(co_await boost::asio::this_coro::executor);
    for (auto due = clock::now(); !over_;) {
      due += std::chrono::milliseconds(1);
      timer.expires_at(due);
      co_await timer.async_wait(boost::asio::use_awaitable);
      late_us_.push_back(std::chrono::duration<double, std::micro>(clock::now() - due).count());
    }
  }
  /// After one more.
  void end() noexcept { over_ = true; }

  std::size_t count() const noexcept { return late_us_.size(); }
  /// How late the given part of them was at most.
  double late_us(double part) {
    if (late_us_.empty()) return 0;
    const auto at = static_cast<std::size_t>(part * static_cast<double>(count() - 1));
    std::ranges::nth_element(late_us_, late_us_.begin() + static_cast<std::ptrdiff_t>(at));
    return late_us_[at];
  }

private:
  bool over_ = false;
  std::vector<double> late_us_;
};
