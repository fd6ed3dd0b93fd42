#include "transports/verbs/device.hpp"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <muster/base/error.hpp>

#include "transports/verbs/device_ports.hpp"
#include "transports/verbs/queue_pair.hpp"

namespace muster::verbs {
namespace {

/// Queue pairs for which there is room at first.
constexpr std::size_t first_room = 8;

/// Where a queue pair breaks, each of its requests is told.
constexpr std::size_t completions_for(std::size_t queue_pairs) {
  return queue_pairs * (queue_pair::sends + queue_pair::receives);
}

[[noreturn]] void fail(const std::string& name, const std::string& what) {
  throw error(errc::resource, "verbs: " + name + ": " + what + ": " + std::strerror(errno));
}

void make_nonblocking(int descriptor) noexcept {
  ::fcntl(descriptor, F_SETFL, ::fcntl(descriptor, F_GETFL) | O_NONBLOCK);
}

}  // namespace

device::device(const port& at, const rail& told)
    : name_(told.name.view()), at_(at), told_(told), context_(open_device(at.device)) {
  domain_ = domain_handle(::ibv_alloc_pd(context_.get()));
  if (!domain_) fail(name_, "no protection domain");
  channel_ = channel_handle(::ibv_create_comp_channel(context_.get()));
  if (!channel_) fail(name_, "no completion channel");
  make_nonblocking(channel_->fd);
  make_nonblocking(context_->async_fd);
  ibv_device_attr limits{};
  if (::ibv_query_device(context_.get(), &limits) != 0) fail(name_, "its limits are not known");
  const auto most_completions = static_cast<std::size_t>(std::max(limits.max_cqe, 0));
  most_queue_pairs_ = std::min(static_cast<std::size_t>(std::max(limits.max_qp, 0)),
                               most_completions / completions_for(1));
  room_ = std::min(first_room, most_queue_pairs_);
  completions_ = completions_handle(::ibv_create_cq(
      context_.get(), static_cast<int>(completions_for(room_)), nullptr, channel_.get(), 0));
  if (!completions_) fail(name_, "no completion queue");
}

bool device::add_room() noexcept {
  if (queue_pairs_ == room_) {
    const std::size_t wider = std::min(2 * room_, most_queue_pairs_);
    if (wider == room_) return false;
    if (::ibv_resize_cq(completions_.get(), static_cast<int>(completions_for(wider))) != 0)
      return false;
    room_ = wider;
  }
  ++queue_pairs_;
  return true;
}

std::size_t device::poll(std::span<ibv_wc> to) noexcept {
  const int count = ::ibv_poll_cq(completions_.get(), static_cast<int>(to.size()), to.data());
  return static_cast<std::size_t>(std::max(count, 0));
}

void device::arm() noexcept {
  is_armed_ = true;
  ::ibv_req_notify_cq(completions_.get(), 0);
}

// An event may be of a completion that was taken before the arming, which it has used up: a rank
// that is about to sleep arms anew, and looks for completions after that.
void device::take_completion_events() noexcept {
  ibv_cq* of = nullptr;
  void* context = nullptr;
  while (::ibv_get_cq_event(channel_.get(), &of, &context) == 0) ::ibv_ack_cq_events(of, 1);
  if (is_armed_) arm();
}

bool device::read_events() noexcept {
  bool is_lost = false;
  ibv_async_event event{};
  while (::ibv_get_async_event(context_.get(), &event) == 0) {
    switch (event.event_type) {
      case IBV_EVENT_PORT_ACTIVE:
        if (event.element.port_num == at_.number) is_up_ = true;
        break;
      case IBV_EVENT_PORT_ERR:
        if (event.element.port_num != at_.number) break;
        [[fallthrough]];
      case IBV_EVENT_DEVICE_FATAL:
      case IBV_EVENT_CQ_ERR:
        is_up_ = false;
        is_lost = true;
        break;
      default:
        break;  // of a queue pair, which its completions tell, or of no matter here
    }
    ::ibv_ack_async_event(&event);
  }
  return is_lost;
}

}  // namespace muster::verbs
