#pragma once

#include <infiniband/verbs.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "transports/verbs/control.hpp"
#include "transports/verbs/handles.hpp"
#include "transports/verbs/ports.hpp"

namespace muster::verbs {

/// A port that is open: its completions, and what all that is made of it needs.
class device {
public:
  /// \throws error `errc::resource`
  device(const port& at, const rail& told);

  const std::string& name() const noexcept { return name_; }
  ibv_pd* domain() const noexcept { return domain_.get(); }
  ibv_cq* completions() const noexcept { return completions_.get(); }
  const port& at() const noexcept { return at_; }
  const rail& told() const noexcept { return told_; }
  /// That a queue pair may have, of this device.
  std::size_t most_queue_pairs() const noexcept { return most_queue_pairs_; }
  /// Whether the port carries anything, as far as the device has said.
  bool is_up() const noexcept { return is_up_; }

  /// Makes room for the completions of one queue pair more. False: there is none.
  bool add_room() noexcept;
  void give_room_back() noexcept { --queue_pairs_; }
  /// Takes completions; how many.
  std::size_t poll(std::span<ibv_wc> to) noexcept;

  /// Readable when there are completions, once armed; and when the device has something to say.
  int completion_descriptor() const noexcept { return channel_->fd; }
  int event_descriptor() const noexcept { return context_->async_fd; }
  void arm() noexcept;
  void disarm() noexcept { is_armed_ = false; }
  /// The descriptor of completions is readable.
  void take_completion_events() noexcept;
  /// Takes what the device says of itself. True: the port, or the device, was lost.
  bool read_events() noexcept;

private:
  std::string name_;
  port at_;
  rail told_;
  context_handle context_;
  domain_handle domain_;
  channel_handle channel_;
  completions_handle completions_;
  std::size_t room_ = 0;  // queue pairs whose completions fit
  std::size_t queue_pairs_ = 0;
  std::size_t most_queue_pairs_ = 0;
  bool is_up_ = true;
  bool is_armed_ = false;
};

}  // namespace muster::verbs
