// A rank's flight recorder, and when it is written to files: upon a breakage, or a signal.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include <muster/base/error.hpp>
#include <muster/run/flight_recorder.hpp>

#include "transports/shm/job.hpp"

namespace muster::why {

/// Why records are written; each has its turn by itself.
enum class cause : std::uint8_t { breakage, signal };

/// Writes what all ranks of this machine have on record. A machine's ranks come to write at the
/// same time, so whoever is first does it for a second.
class files {
public:
  /// \param job outlives it
  /// \param rank this one, of the job
  files(const shm::job& job, std::string_view folder, std::size_t rank);

  /// What a signal's handler may do: the JSON alone.
  /// \returns whether it was written
  bool write_json(cause why, std::string_view reason) const noexcept;
  /// The page, and a line on the error stream that says where it is.
  void write_page(std::string_view reason) const;

private:
  bool take_turn(cause why) const noexcept;

  const shm::job& job_;
  std::string new_json_;  // until it is complete
  std::string json_;
  std::string page_;
};

/// Writes when the signal comes that the environment chooses, while it lives: the last one of a
/// process, which may have made its job anew.
class signal_watch {
public:
  /// \param to outlives it
  /// \throws error where there is no such signal
  explicit signal_watch(const files& to);
  ~signal_watch();
  /// Writes the page that goes with what the handler has written a moment ago, if it has.
  void finish() noexcept;
  signal_watch(const signal_watch&) = delete;
  signal_watch& operator=(const signal_watch&) = delete;

private:
  const files& to_;
  signal_watch* before_ = nullptr;  // the last but this one
};

/// The recorder of a rank, in the job's memory.
class reporting_recorder final : public flight_recorder {
public:
  /// \param index of the rank among those of its machine
  /// \param rank  of `ranks` in the whole job
  reporting_recorder(const shm::job& job, std::size_t index, std::size_t rank, std::size_t ranks);
  ~reporting_recorder() override;

  void note_breakage(const error& why) noexcept override;

private:
  void note_look() noexcept override;

  std::unique_ptr<files> on_breakage_;  // null: nobody wants any
  std::unique_ptr<files> on_signal_;
  std::unique_ptr<signal_watch> watch_;
};

/// The number of a signal of that name, as in USR1 or SIGUSR1.
/// \throws error `errc::invalid_argument` where there is none that can be chosen
int signal_named(const std::string& name);

}  // namespace muster::why
