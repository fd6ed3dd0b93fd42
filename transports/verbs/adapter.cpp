#include "transports/verbs/adapter.hpp"

#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include <muster/base/error.hpp>

#include "transports/verbs/connection.hpp"
#include "transports/verbs/pair_memory.hpp"
#include "transports/verbs/userfault_monitor.hpp"

namespace muster::verbs {
namespace {

constexpr unsigned slot_bits = 16;

/// Of user's memory, at once; what is used at the moment is not counted.
constexpr registrations::limits cached{.bytes = std::size_t{4} << 30, .regions = 4096};

std::string shortage(std::size_t bytes) {
  std::string text = "verbs: " + std::to_string(bytes) +
                     " bytes of memory cannot be registered: " + std::strerror(errno);
  if (errno == ENOMEM) {
    text +=
        "; expected a higher limit of locked memory, as by `ulimit -l unlimited` or `memlock` in "
        "/etc/security/limits.conf";
  }
  return text;
}

}  // namespace

adapter::adapter(const settings& how, const found_ports& here, std::vector<paths> peers)
    : how_(how), peers_(std::move(peers)), registered_(*this, userfault_monitor::make(), cached) {
  ::ibv_fork_init();  // where the kernel needs it, pages that devices use are not a child's
  for (std::size_t i = 0; i < here.ports.size(); ++i) {
    devices_.push_back(std::make_unique<device>(here.ports[i], here.told.rails[i]));
    descriptors_.push_back(devices_.back()->completion_descriptor());
    descriptors_.push_back(devices_.back()->event_descriptor());
  }
  complained_.resize(devices_.size());
  // Whether any connection can be made is known before any is wanted.
  pair_memory(*this, 2 * how_.window);
  if (how_.most_queue_pairs == 0) {
    for (const auto& each : devices_) how_.most_queue_pairs += each->most_queue_pairs();
  }
  how_.most_queue_pairs = std::min(how_.most_queue_pairs, std::size_t{1} << slot_bits);
}

adapter::~adapter() = default;

// ---- carrier

std::unique_ptr<tcp::peer_connection> adapter::connect(stream::connections& of, std::size_t rank,
                                                       tcp::endpoint& by) {
  auto made = std::make_unique<connection>(of, rank, *this, by, how_.window);
  connections_.push_back(made.get());
  return made;
}

void adapter::look() noexcept {
  ++looks_;
  take_completions();
  tell_failures();
}

void adapter::take_completions() noexcept {
  std::array<ibv_wc, 32> done;
  for (const auto& each : devices_) {
    std::size_t count = 0;
    do {
      count = each->poll(done);
      for (const ibv_wc& one : std::span(done).first(count)) tell(one);
    } while (count == done.size());
  }
}

void adapter::tell(const ibv_wc& done) noexcept {
  const auto number = static_cast<std::uint32_t>(done.wr_id >> name_bits);
  const slot* const of = find(number);
  if (of == nullptr) return;
  if (done.status != IBV_WC_SUCCESS) return report(number, ::ibv_wc_status_str(done.status));
  if ((done.wr_id & is_notice) != 0) {
    of->of->note_notice(of->subflow, ntohl(done.imm_data));
  } else {
    of->of->note_complete(of->subflow, static_cast<std::uint32_t>(done.wr_id & request_bits));
  }
}

const adapter::slot* adapter::find(std::uint32_t number) const noexcept {
  const slot& one = slots_[number & ((1U << slot_bits) - 1)];
  return one.of != nullptr && one.generation == number >> slot_bits ? &one : nullptr;
}

void adapter::report(std::uint32_t number, const char* why) {
  failures_.push_back({number, why, false});
}

void adapter::report_refusal(std::uint32_t number, const char* what) {
  failures_.push_back({number, what, true});
}

void adapter::hear_all() noexcept {
  for (connection* const each : connections_) each->hear();
}

void adapter::tell_failures() noexcept {
  while (!failures_.empty()) {
    const failure one = failures_.front();
    failures_.erase(failures_.begin());
    // Of one that was stopped there may be requests that were not carried out.
    const slot* const of = find(one.number);
    if (of == nullptr) continue;
    if (one.is_refusal) {
      of->of->refuse(one.why);
    } else {
      of->of->lose(of->subflow, one.why);
    }
  }
}

void adapter::note(int descriptor) noexcept {
  for (std::size_t i = 0; i < devices_.size(); ++i) {
    if (descriptor == devices_[i]->completion_descriptor()) devices_[i]->take_completion_events();
    if (descriptor != devices_[i]->event_descriptor() || !devices_[i]->read_events()) continue;
    for (connection* const each : connections_)
      each->lose_rail(i, "the port or its device is down");
  }
}

void adapter::arm() noexcept {
  for (const auto& each : devices_) each->arm();
}

void adapter::disarm() noexcept {
  for (const auto& each : devices_) each->disarm();
}

std::size_t adapter::connection_bytes() const noexcept {
  return pair_memory::bytes(2 * how_.window);
}

// ---- memory

std::unique_ptr<region> adapter::enroll(std::span<std::byte> pages, access how) noexcept {
  const int flags = how == access::write ? IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE : 0;
  std::vector<region_handle> by_device;
  for (const auto& each : devices_) {
    by_device.emplace_back(::ibv_reg_mr(each->domain(), pages.data(), pages.size(), flags));
    if (!by_device.back()) return nullptr;
  }
  return std::make_unique<device_region>(std::move(by_device));
}

std::shared_ptr<device_region> adapter::hold(std::span<const std::byte> bytes,
                                             access how) noexcept {
  if (bytes.empty()) return nullptr;
  return std::static_pointer_cast<device_region>(registered_.hold(bytes, how));
}

std::unique_ptr<device_region> adapter::enroll_own(std::span<std::byte> bytes) {
  std::unique_ptr<region> made = enroll(bytes, access::write);
  if (made == nullptr) throw error(errc::resource, shortage(bytes.size()));
  return std::unique_ptr<device_region>(static_cast<device_region*>(made.release()));
}

// ---- queue pairs

std::uint32_t adapter::add(connection& who, std::size_t subflow) {
  if (counted_.queue_pairs >= how_.most_queue_pairs && !make_room_beside(who)) {
    throw error(errc::resource,
                "all of " + std::to_string(how_.most_queue_pairs) + " queue pairs are in use");
  }
  if (free_.empty()) {
    free_.push_back(static_cast<std::uint32_t>(slots_.size()));
    slots_.push_back({});
  }
  const std::uint32_t at = free_.back();
  free_.pop_back();
  slot& one = slots_[at];
  one.of = &who;
  one.subflow = static_cast<std::uint16_t>(subflow);
  ++one.generation;
  ++counted_.made;
  ++counted_.queue_pairs;
  counted_.most_queue_pairs = std::max(counted_.most_queue_pairs, counted_.queue_pairs);
  return static_cast<std::uint32_t>(one.generation) << slot_bits | at;
}

void adapter::remove(std::uint32_t number) noexcept {
  const std::uint32_t at = number & ((1U << slot_bits) - 1);
  slots_[at].of = nullptr;
  free_.push_back(at);
  --counted_.queue_pairs;
}

bool adapter::make_room_beside(const connection& who) noexcept {
  std::vector<connection*> oldest_first = connections_;
  std::erase(oldest_first, &who);
  std::ranges::sort(oldest_first, {}, &connection::last_used);
  for (connection* const each : oldest_first) {
    const std::uint64_t before = counted_.queue_pairs;
    if (!each->rest()) continue;
    counted_.recycled += before - counted_.queue_pairs;
    return true;
  }
  return false;
}

void adapter::complain(std::size_t rail, const std::string& why) noexcept {
  if (complained_[rail]) return;
  complained_[rail] = true;
  std::fprintf(stderr, "muster: rank %zu lost a queue pair: %s\n", how_.rank, why.c_str());
}

void adapter::forget(connection& who) noexcept { std::erase(connections_, &who); }

}  // namespace muster::verbs
