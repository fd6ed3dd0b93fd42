#pragma once

#include <infiniband/verbs.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "transports/verbs/control.hpp"
#include "transports/verbs/device.hpp"
#include "transports/verbs/handles.hpp"
#include "transports/verbs/notice.hpp"

namespace muster::verbs {

/// Writes that are posted together: one doorbell for all of them.
class request_chain {
public:
  static constexpr std::size_t most = 16;

  bool has_room(std::size_t requests) const noexcept { return count_ + requests <= most; }
  std::size_t size() const noexcept { return count_; }
  /// \param key   of `from`; where that is not longer than `most_inline` none is needed
  /// \param which is said of it when it is complete
  void write(std::span<const std::byte> from, std::uint32_t key, const remote_memory& to,
             std::uint64_t which, std::uint32_t most_inline) noexcept;
  /// Of the last write: its coming is noticed by the peer.
  void notify(const notice& what) noexcept;
  /// Of the last write: its completion is told.
  void signal() noexcept { requests_[count_ - 1].send_flags |= IBV_SEND_SIGNALED; }

private:
  friend class queue_pair;

  std::array<ibv_send_wr, most> requests_;
  std::array<ibv_sge, most> parts_;
  std::size_t count_ = 0;
};

/// A reliable connection to a queue pair of another rank.
class queue_pair {
public:
  /// Requests that may be under way at once, and notices that may come before any is taken.
  static constexpr std::uint32_t sends = 64;
  static constexpr std::uint32_t receives = 128;

  /// Can receive once it is connected.
  /// \param of    outlives this \param which is said of each notice
  /// \throws error `errc::resource`
  queue_pair(device& of, std::uint64_t which);
  ~queue_pair() { of_.give_room_back(); }
  queue_pair(const queue_pair&) = delete;
  queue_pair& operator=(const queue_pair&) = delete;

  const device& of() const noexcept { return of_; }
  queue_pair_address address() const noexcept;
  /// Bytes that a request may bring with it.
  std::uint32_t most_inline() const noexcept { return most_inline_; }
  /// 0, or an error number.
  int connect(const queue_pair_address& peer) noexcept;
  /// Nothing more is sent, and nothing more that comes is taken.
  void stop() noexcept;
  /// False: it is broken.
  bool post(request_chain& all) noexcept;
  /// Notices were taken: so many more can come.
  bool post_receives(std::size_t count) noexcept;

private:
  void make_ready();
  int begin_receiving(const queue_pair_address& peer) noexcept;
  int begin_sending() noexcept;

  device& of_;
  std::uint64_t which_;
  std::uint32_t first_packet_;
  std::uint32_t most_inline_ = 0;
  pair_handle pair_;
};

}  // namespace muster::verbs
