#pragma once

#include <infiniband/verbs.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "transports/verbs/device.hpp"

namespace muster::testing {

/// A device whose requests and completions are counted, and can be held back or changed: it does
/// the work, and is as slow to tell of it as a test wants. For one queue pair at a time.
class spied_device {
public:
  /// \param of outlives this
  explicit spied_device(verbs::device& of);
  ~spied_device();
  spied_device(const spied_device&) = delete;
  spied_device& operator=(const spied_device&) = delete;

  /// What is not told until that is unset. It is kept.
  bool holds_completions = false;
  bool holds_notices = false;
  /// Told of each request before it is posted.
  std::function<void(ibv_send_wr&)> change;

  /// Requests of the last queue pair that were posted, and whose completion was not told: now, and
  /// at most.
  std::uint32_t under_way() const noexcept { return posted_ - complete_; }
  std::uint32_t most_under_way() const noexcept { return most_under_way_; }
  /// Requests, ever.
  std::size_t requests() const noexcept { return requests_; }
  /// Of them, those that bring a notice.
  std::size_t notices() const noexcept { return notices_; }
  /// The lengths of those that bring bytes and no notice: pieces of long messages.
  std::span<const std::size_t> pieces() const noexcept { return pieces_; }
  /// Bytes with all that bring one.
  std::size_t noticed_bytes() const noexcept { return noticed_bytes_; }

private:
  static spied_device& of(const ibv_context* context);
  int post(ibv_qp* to, ibv_send_wr* first, ibv_send_wr** bad);
  void count(const ibv_send_wr& one);
  int poll(ibv_cq* of, int room, ibv_wc* to);
  bool is_held(const ibv_wc& one) const noexcept;
  void note_told(const ibv_wc& one) noexcept;

  ibv_context* context_;
  decltype(ibv_context_ops::post_send) post_;
  decltype(ibv_context_ops::poll_cq) poll_;
  std::vector<ibv_wc> kept_;
  std::uint64_t queue_pair_ = 0;  // the last one, as its requests name it
  std::uint32_t posted_ = 0;
  std::uint32_t complete_ = 0;
  std::uint32_t most_under_way_ = 0;
  std::size_t requests_ = 0;
  std::size_t notices_ = 0;
  std::size_t noticed_bytes_ = 0;
  std::vector<std::size_t> pieces_;
};

}  // namespace muster::testing
