#pragma once

#include <infiniband/verbs.h>
#include <sys/types.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <muster/wire/fabric.hpp>

#include "transports/tcp/carrier.hpp"
#include "transports/verbs/device.hpp"
#include "transports/verbs/ports.hpp"
#include "transports/verbs/registrations.hpp"

namespace muster::verbs {

class connection;

/// Memory registered with each of a rank's devices.
class device_region final : public region {
public:
  explicit device_region(std::vector<region_handle> by_device) : by_device_(std::move(by_device)) {}

  std::uint32_t local_key(std::size_t device) const noexcept { return by_device_[device]->lkey; }
  std::uint32_t remote_key(std::size_t device) const noexcept { return by_device_[device]->rkey; }

private:
  std::vector<region_handle> by_device_;
};

/// A rank's way to ranks of other machines by RDMA: its devices, the memory that is registered with
/// them, and who is told of what they complete.
class adapter final : public tcp::carrier, private registrar {
public:
  struct settings {
    std::size_t rank = 0;
    /// See `stream::connection::window`: a power of two.
    std::size_t window = std::size_t{64} << 10;
    /// Queue pairs of this rank; 0: as many as its devices take.
    std::size_t most_queue_pairs = 0;
  };
  /// \param peers how each rank is reached; in no way: not by this
  /// \throws error `errc::resource`
  adapter(const settings& how, const found_ports& here, std::vector<paths> peers);
  ~adapter() override;
  adapter(const adapter&) = delete;
  adapter& operator=(const adapter&) = delete;

  // ---- carrier

  bool carries(std::size_t rank) const noexcept override { return !peers_[rank].empty(); }
  std::unique_ptr<tcp::peer_connection> connect(stream::connections& of, std::size_t rank,
                                                tcp::endpoint& by) override;
  void look() noexcept override;
  std::span<const int> descriptors() const noexcept override { return descriptors_; }
  void note(int descriptor) noexcept override;
  void arm() noexcept override;
  void disarm() noexcept override;
  wire::traffic traffic() const noexcept override { return counted_; }
  std::size_t connection_bytes() const noexcept override;

  // ---- for connections

  wire::traffic& count() noexcept { return counted_; }
  std::span<const path> paths_to(std::size_t rank) const noexcept { return peers_[rank]; }
  device& at(std::size_t rail) noexcept { return *devices_[rail]; }
  /// Memory that all devices may use while it is held; null: the system refuses, errno says why.
  std::shared_ptr<device_region> hold(std::span<const std::byte> bytes, access how) noexcept;
  /// Of memory that is not given back meanwhile. \throws error `errc::resource`
  std::unique_ptr<device_region> enroll_own(std::span<std::byte> bytes);

  /// Makes a queue pair possible, of which completions say the number returned. Where there are as
  /// many as there may be, those that were not used for longest go.
  /// \throws error `errc::resource`
  std::uint32_t add(connection& who, std::size_t subflow);
  void remove(std::uint32_t number) noexcept;
  /// Takes what has been completed so far.
  void take_completions() noexcept;
  /// A queue pair has failed: its connection is told so when all completions were taken.
  void report(std::uint32_t number, const char* why);
  /// The same of a peer that has said what cannot be.
  void report_refusal(std::uint32_t number, const char* what);
  /// Reads what all peers say by their sockets.
  void hear_all() noexcept;
  /// Whether this process has all this from one that forked it.
  bool is_inherited() const noexcept { return ::getpid() != owner_; }
  /// Makes room where a device takes no more queue pairs. False: nobody can rest.
  bool make_room_beside(const connection& who) noexcept;
  /// Something was lost by a rail: says so on the error stream, once until that carries again.
  void complain(std::size_t rail, const std::string& why) noexcept;
  void note_carries(std::size_t rail) noexcept { complained_[rail] = false; }
  /// It is no more.
  void forget(connection& who) noexcept;
  /// Counts looks: later ones are higher.
  std::uint64_t moment() const noexcept { return looks_; }

  // What completions say: of which queue pair, and of which of its requests, or of a notice.
  static constexpr unsigned name_bits = 32;
  static constexpr std::uint64_t is_notice = std::uint64_t{1} << (name_bits - 1);
  static constexpr std::uint64_t request_bits = is_notice - 1;
  static std::uint64_t request_name(std::uint32_t number, std::uint64_t request) noexcept {
    return std::uint64_t{number} << name_bits | (request & request_bits);
  }
  static std::uint64_t notice_name(std::uint32_t number) noexcept {
    return std::uint64_t{number} << name_bits | is_notice;
  }

private:
  struct slot {
    connection* of = nullptr;  // null: free
    std::uint16_t subflow = 0;
    std::uint16_t generation = 0;
  };
  struct failure {
    std::uint32_t number;
    const char* why;
    bool is_refusal;
  };

  std::unique_ptr<region> enroll(std::span<std::byte> pages, access how) noexcept override;
  void tell(const ibv_wc& done) noexcept;
  void tell_failures() noexcept;
  /// Null: there is no such queue pair any more.
  const slot* find(std::uint32_t number) const noexcept;

  settings how_;
  pid_t owner_ = ::getpid();
  std::vector<std::unique_ptr<device>> devices_;
  std::vector<paths> peers_;
  std::vector<int> descriptors_;
  registrations registered_;
  std::vector<connection*> connections_;
  std::vector<slot> slots_;
  std::vector<std::uint32_t> free_;
  std::vector<failure> failures_;
  std::vector<bool> complained_;  // by rail
  wire::traffic counted_;
  std::uint64_t looks_ = 0;
};

}  // namespace muster::verbs
