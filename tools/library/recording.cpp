#include "tools/library/recording.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <string>
#include <system_error>

#include <muster/base/error.hpp>
#include <muster/environment/environment.hpp>

#include "tools/library/record.hpp"

namespace muster::profile {
namespace {

[[noreturn]] void refuse(const std::filesystem::path& what, const std::string& why) {
  throw error(errc::invalid_argument, "cannot write " + what.string() + ": " + why +
                                          "; expected a folder for records of arrivals (" +
                                          environment::arrivals.name + ")");
}

void write_file(const std::filesystem::path& path, const std::string& text) {
  errno = 0;
  std::ofstream file(path, std::ios::binary);
  file << text << std::flush;
  if (!file) refuse(path, std::strerror(errno));
}

}  // namespace

std::optional<std::filesystem::path> folder_asked_for() {
  const char* const folder = environment::read(environment::arrivals);
  if (folder == nullptr || *folder == '\0') return std::nullopt;
  return folder;
}

std::filesystem::path prepare_folder(const std::filesystem::path& folder) {
  const std::filesystem::path whole = std::filesystem::absolute(folder).lexically_normal();
  try {
    std::filesystem::create_directories(whole);
    for (const auto& entry : std::filesystem::directory_iterator(whole)) {
      if (entry.path().filename().string().starts_with("rank-")) {
        std::filesystem::remove(entry.path());
      }
    }
  } catch (const std::filesystem::filesystem_error& why) {
    refuse(whole, why.code().message());
  }
  write_file(record_file(whole, 0), {});
  return whole;
}

recording::recording(muster::team& of, const std::filesystem::path& folder,
                     const std::optional<clock_relation>& clock)
    : team_(of),
      log_(of.engine()),
      file_(record_file(std::filesystem::absolute(folder), of.rank())),
      clock_(clock) {
  write_file(file_, {});
  team_.record_arrivals(&log_);
}

recording::~recording() {
  team_.record_arrivals(nullptr);
  try {
    write();
  } catch (const std::exception& why) {
    std::fprintf(stderr, "muster: %s\n", why.what());
  }
}

void recording::write() const {
  rank_record record;
  record.rank = team_.rank();
  record.ranks = team_.size();
  record.clock = clock_;
  record.machine = team_.machine();
  record.left_out = log_.left_out();
  record.sites = log_.sites();
  write_file(file_, to_text(record));
}

}  // namespace muster::profile
