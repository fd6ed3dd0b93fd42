#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "transports/mpi/messenger.hpp"

namespace muster::mpi {

/// A message that has come.
struct arrived_message {
  std::unique_ptr<std::byte[]> bytes;
  std::size_t length = 0;
  std::size_t from = 0;
};

/// Receives for messages of one tag, whoever sends them. They are taken in the order in which the
/// receives were posted, and so in the order in which each rank has sent them.
class arrival_ring {
public:
  /// \param longest the longest message
  arrival_ring(messenger& by, std::uint32_t tag, std::size_t receives, std::size_t longest);
  ~arrival_ring();
  arrival_ring(const arrival_ring&) = delete;
  arrival_ring& operator=(const arrival_ring&) = delete;

  /// True: it was one of these.
  bool note(const messenger::ended& one) noexcept;
  /// The next that has come; null: none has.
  const arrived_message* next() const noexcept {
    return places_[next_].has_come ? &places_[next_].message : nullptr;
  }
  /// Takes it, and posts another receive. `next` is not null.
  arrived_message take();
  /// Its memory is used again.
  void give_back(std::unique_ptr<std::byte[]> bytes) { spare_.push_back(std::move(bytes)); }
  /// Nothing is taken any more.
  void close() noexcept;

private:
  struct place {
    messenger::request request = 0;
    bool has_come = false;
    arrived_message message;
  };
  void post(place& one);

  messenger& by_;
  std::uint32_t tag_;
  std::size_t longest_;
  std::vector<place> places_;
  std::size_t next_ = 0;
  std::vector<std::unique_ptr<std::byte[]>> spare_;
  bool is_closed_ = false;
};

}  // namespace muster::mpi
