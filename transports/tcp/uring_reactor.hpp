#pragma once

#include <liburing.h>
#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "transports/tcp/reactor.hpp"

namespace muster::tcp {

/// Has the system tell and bring by io_uring. What comes of a connected socket is put into buffers
/// of a pool that all sockets share, one multishot receive each. A look at what has come makes no
/// system call where nothing has.
class uring_reactor final : public reactor {
public:
  /// Null where the system does not have what it needs: Linux 6.0, and leave to use it.
  /// \param why gets what it says then
  static std::unique_ptr<uring_reactor> try_make(std::string& why);
  ~uring_reactor() override;

  kind which() const noexcept override { return kind::io_uring; }
  void look(handler& who) noexcept override;
  int descriptor() const noexcept override { return ring_.ring_fd; }
  void arm() noexcept override;
  void disarm() noexcept override { is_armed_ = false; }

  std::uint32_t add(int descriptor, std::uint64_t what, interest in) noexcept override;
  void remove(std::uint32_t watch) noexcept override;
  void await_readable(std::uint32_t watch, bool soon) noexcept override;
  void await_writable(std::uint32_t watch) noexcept override;
  void await_report(std::uint32_t watch) noexcept override;
  void begin_bringing(std::uint32_t watch) noexcept override;
  void end_bringing(std::uint32_t watch) noexcept override;

private:
  /// What a completion is of.
  enum class operation : std::uint64_t { changes, readable, writable, report, receive, cancel };
  struct watched {
    int descriptor;
    std::uint64_t what;
    interest in;
    std::uint32_t generation;  // completions of others before it are nobody's
    bool awaits_readable;
    bool awaits_writable;
    bool awaits_report;
    unsigned tries;  // since something came
  };

  uring_reactor() noexcept = default;
  bool begin(std::string& why) noexcept;
  /// Whether this process has it from one that forked it, which goes on using it.
  bool is_inherited() const noexcept;
  void cancel_all() noexcept;
  void unmap() noexcept;
  std::uint64_t name_of(std::uint32_t watch, operation what) const noexcept;
  io_uring_sqe& next_entry() noexcept;
  void submit() noexcept;
  /// What was asked for last is on its way before the engine sleeps.
  void submit_if_armed() noexcept;
  void try_again(handler& who) noexcept;
  void poll_once(std::uint32_t watch, operation what, unsigned events) noexcept;
  void poll_changes(std::uint32_t watch) noexcept;
  void receive(std::uint32_t watch) noexcept;
  void handle(const io_uring_cqe& done, handler& who) noexcept;
  void handle_received(const io_uring_cqe& done, std::uint32_t watch, bool is_current,
                       handler& who) noexcept;
  void give_back(unsigned buffer) noexcept;

  io_uring ring_{};
  bool has_ring_ = false;
  pid_t owner_ = 0;
  struct deleter {
    void operator()(io_uring_buf_ring* pool) const noexcept { std::free(pool); }
  };
  std::unique_ptr<io_uring_buf_ring, deleter> free_;
  std::unique_ptr<std::byte[]> buffers_;
  std::vector<watched> watched_;
  std::vector<std::uint32_t> unused_;  // of `watched_`
  std::vector<std::uint32_t> soon_;    // from which something is expected
  std::vector<std::uint32_t> trying_;  // of those, during a look
  bool is_armed_ = false;
};

}  // namespace muster::tcp
