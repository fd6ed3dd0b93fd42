#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace muster::tcp {

/// How an endpoint learns what its sockets have to say: by epoll, which tells when to ask, or by
/// io_uring, which can bring what has come as well. All calls come from the thread that drives the
/// endpoint.
class reactor {
public:
  enum class kind : std::uint8_t { epoll, io_uring };

  /// What a descriptor is watched for.
  enum class interest : std::uint8_t {
    incoming,    ///< something to take
    everything,  ///< that, room, and the end
    messages,    ///< of a connected socket: what `registration` is asked for
  };

  /// Who is told. `what` is as it was given to `watch`.
  class handler {
  public:
    /// Something may have come, or there may be room.
    /// \param ends nothing more comes than what is there
    virtual void note(std::uint64_t what, bool readable, bool writable, bool ends) noexcept = 0;
    /// These have come. They are there during the call.
    virtual void bring(std::uint64_t what, std::span<const std::byte> bytes) noexcept = 0;
    /// It brings no more. \param ends since nothing more comes
    virtual void stop_bringing(std::uint64_t what, bool ends) noexcept = 0;

  protected:
    ~handler() = default;
  };

  virtual ~reactor() = default;

  virtual kind which() const noexcept = 0;
  /// Tells what has happened since.
  virtual void look(handler& who) noexcept = 0;
  /// Once armed, is readable when `look` has something to tell.
  virtual int descriptor() const noexcept = 0;
  virtual void arm() noexcept = 0;
  virtual void disarm() noexcept = 0;

  // ---- for `registration`

  /// \returns the watch's number
  virtual std::uint32_t add(int descriptor, std::uint64_t what, interest in) noexcept = 0;
  virtual void remove(std::uint32_t watch) noexcept = 0;
  virtual void await_readable(std::uint32_t watch, bool soon) noexcept = 0;
  virtual void await_writable(std::uint32_t watch) noexcept = 0;
  virtual void await_report(std::uint32_t watch) noexcept = 0;
  virtual void begin_bringing(std::uint32_t watch) noexcept = 0;
  virtual void end_bringing(std::uint32_t watch) noexcept = 0;
};

/// A descriptor that is watched, until this ends, which has to be before it is closed.
class registration {
public:
  registration() noexcept = default;
  registration(reactor& by, int descriptor, std::uint64_t what, reactor::interest in) noexcept
      : by_(&by), watch_(by.add(descriptor, what, in)) {}
  registration(registration&& other) noexcept
      : by_(std::exchange(other.by_, nullptr)), watch_(other.watch_) {}
  registration& operator=(registration&& other) noexcept {
    std::swap(by_, other.by_);
    std::swap(watch_, other.watch_);
    return *this;
  }
  ~registration() {
    if (by_ != nullptr) by_->remove(watch_);
  }

  // Of one for `interest::messages`.

  /// Whether what comes can be brought.
  bool can_bring() const noexcept { return by_->which() == reactor::kind::io_uring; }
  /// Tells once when there may be something to read, or room, of which there was none.
  /// \param soon something has just come, and more is likely to
  void await_readable(bool soon) const noexcept { by_->await_readable(watch_, soon); }
  void await_writable() const noexcept { by_->await_writable(watch_); }
  /// Tells, of nothing in particular, when there is a report of a send without copies.
  void await_report() const noexcept { by_->await_report(watch_); }
  /// Brings what comes, until it says that it does no more: asked to end that, or by itself.
  void begin_bringing() const noexcept { by_->begin_bringing(watch_); }
  void end_bringing() const noexcept { by_->end_bringing(watch_); }

private:
  reactor* by_ = nullptr;
  std::uint32_t watch_ = 0;
};

/// The bytes that a reactor brings at once, at most.
constexpr std::size_t most_brought = std::size_t{4} << 10;

/// Whether `MUSTER_REACTOR` names one. \throws error `errc::invalid_argument`
std::optional<reactor::kind> chosen_reactor();
std::string_view name(reactor::kind which) noexcept;
/// The one chosen; by itself io_uring, where the system has it.
/// \param why not null: gets what the system says where it has none
/// \throws error `errc::resource`
std::unique_ptr<reactor> make_reactor(std::optional<reactor::kind> chosen,
                                      std::string* why = nullptr);

}  // namespace muster::tcp
