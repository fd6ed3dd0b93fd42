// Recording the arrivals of a job's ranks, into a folder that the environment names.
#pragma once

#include <filesystem>
#include <optional>

#include <muster/progress/clock_relation.hpp>
#include <muster/run/arrival_log.hpp>
#include <muster/run/team.hpp>

namespace muster::profile {

/// The folder that the environment names, if it does.
std::optional<std::filesystem::path> folder_asked_for();

/// Before any rank records: makes the folder where there is none, and removes an earlier job's
/// records. Its whole path.
/// \throws error `errc::invalid_argument` where nothing can be written there
std::filesystem::path prepare_folder(const std::filesystem::path& folder);

/// One rank's recording: of its job's team and all that are made from it, for the life of the
/// object, which then writes it down. Outlives these teams' calls.
class recording {
public:
  /// \param clock of this machine; nothing: all ranks have one clock
  /// \throws error `errc::invalid_argument` where the record cannot be written
  recording(muster::team& of, const std::filesystem::path& folder,
            const std::optional<clock_relation>& clock = {});
  ~recording();
  recording(const recording&) = delete;
  recording& operator=(const recording&) = delete;

private:
  void write() const;

  muster::team& team_;
  arrival_log log_;
  std::filesystem::path file_;
  std::optional<clock_relation> clock_;
};

}  // namespace muster::profile
