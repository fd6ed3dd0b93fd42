#include "tools/command/why/processes.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <cstddef>
#include <cstring>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <muster/base/descriptor.hpp>
#include <muster/base/process_status.hpp>
#include <muster/run/flight_record.hpp>

#include "tools/library/why/look.hpp"

namespace muster::why {
namespace {

namespace files = std::filesystem;

files::path folder_of(std::int64_t process) { return "/proc/" + std::to_string(process); }

/// Of all processes, who has started whom.
std::multimap<std::int64_t, std::int64_t> children() {
  std::multimap<std::int64_t, std::int64_t> found;
  for (const auto& entry : files::directory_iterator("/proc")) {
    const std::string name = entry.path().filename().string();
    std::int64_t process = 0;
    const auto [end, code] = std::from_chars(name.data(), name.data() + name.size(), process);
    if (code != std::errc{} || end != name.data() + name.size()) continue;
    found.emplace(process_status(process).parent(), process);
  }
  return found;
}

std::vector<std::int64_t> with_descendants(std::int64_t process) {
  const auto of = children();
  std::vector<std::int64_t> found = {process};
  for (std::size_t i = 0; i < found.size(); ++i) {
    const auto [first, last] = of.equal_range(found[i]);
    for (auto each = first; each != last; ++each) found.push_back(each->second);
  }
  return found;
}

/// The memory of a job, to be looked at.
class job_memory {
public:
  /// \param file under /proc
  explicit job_memory(const std::string& file) : opened_(::open(file.c_str(), O_RDONLY)) {
    if (!opened_ || ::fstat(opened_.get(), &status_) != 0) opened_ = {};
  }
  ~job_memory() {
    if (base_ != MAP_FAILED) ::munmap(base_, size());
  }
  job_memory(const job_memory&) = delete;
  job_memory& operator=(const job_memory&) = delete;

  /// Tells it from others.
  ino_t number() const { return status_.st_ino; }
  /// \throws std::runtime_error where it is of another version of Muster
  void read_into(std::vector<seen_rank>& found) {
    base_ = ::mmap(nullptr, size(), PROT_READ, MAP_SHARED, opened_.get(), 0);
    if (base_ == MAP_FAILED) throw std::runtime_error(std::strerror(errno));
    const auto* const base = static_cast<const std::byte*>(base_);
    flight_directory where{};
    read_directory(base, where);
    require_known(where);
    for (std::size_t i = 0; i < where.ranks; ++i) {
      auto one = look_at(find_record(base, where, i));
      if (!one) continue;
      require_rank(*one);
      found.push_back(std::move(*one));
    }
  }
  bool is_open() const { return static_cast<bool>(opened_); }

private:
  std::size_t size() const { return static_cast<std::size_t>(status_.st_size); }
  /// As it is now: who has the memory may change it at any time. All zeros where there is no room.
  void read_directory(const std::byte* base, flight_directory& to) const {
    if (size() < flight_directory::place + sizeof to) return;
    const auto& from = *reinterpret_cast<const flight_directory*>(base + flight_directory::place);
    to.magic = from.magic;
    to.layout = from.layout;
    to.ranks = from.ranks;
    to.first = from.first;
    to.stride = from.stride;
    to.first_asleep = from.first_asleep;
    to.asleep_stride = from.asleep_stride;
  }
  /// Whether that many `T` are in it.
  template <class T>
  bool holds(std::size_t count, std::uint64_t first, std::uint64_t stride) const {
    if (first % alignof(T) != 0 || stride % alignof(T) != 0 || stride < sizeof(T)) return false;
    if (count == 0) return true;
    return size() >= sizeof(T) && first <= size() - sizeof(T) &&
           count - 1 <= (size() - sizeof(T) - first) / stride;
  }
  void require_known(const flight_directory& where) const {
    const bool fits =
        holds<flight_record>(where.ranks, where.first, where.stride) &&
        holds<std::atomic<std::uint32_t>>(where.ranks, where.first_asleep, where.asleep_stride);
    if (where.magic == flight_directory::right_magic &&
        where.layout == flight_directory::this_layout && fits) {
      return;
    }
    throw std::runtime_error("its ranks run another version of Muster than this command");
  }

  descriptor opened_;
  struct stat status_{};
  void* base_ = MAP_FAILED;
};

/// Jobs that processes have memory of, each once.
class job_search {
public:
  void look_into(std::int64_t process) {
    std::error_code why;
    for (const auto& entry : files::directory_iterator(folder_of(process) / "fd", why)) {
      std::error_code gone;
      const std::string target = files::read_symlink(entry.path(), gone).string();
      if (target.starts_with("/memfd:muster-job ")) add(entry.path().string());
    }
    if (why) why_not_ = why;
  }
  std::vector<seen_rank> take() && { return std::move(found_); }
  /// Of a process whose descriptors could not be looked at.
  std::error_code why_not() const { return why_not_; }

private:
  void add(const std::string& file) {
    job_memory one(file);
    if (one.is_open() && known_.insert(one.number()).second) one.read_into(found_);
  }

  std::set<ino_t> known_;
  std::vector<seen_rank> found_;
  std::error_code why_not_;
};

/// A job that was made anew, since ranks of it failed, is the same job: of each rank that counts
/// which has begun last. What has started ranks may have started several jobs, though.
std::vector<seen_rank> newest_of(std::vector<seen_rank> all, const std::string& name) {
  std::ranges::sort(all, std::greater(),
                    [](const seen_rank& one) { return std::pair(!one.has_left, one.started_ns); });
  std::vector<seen_rank> newest;
  for (seen_rank& each : all) {
    const auto later = std::ranges::find(newest, each.rank, &seen_rank::rank);
    if (later == newest.end()) {
      newest.push_back(std::move(each));
    } else if (each.process != later->process && !each.has_left && each.state != process::gone) {
      throw std::runtime_error(name + " has started several jobs: processes " +
                               std::to_string(each.process) + " and " +
                               std::to_string(later->process) + " are both rank " +
                               std::to_string(each.rank) + "; expected a process of one job");
    }
  }
  std::ranges::sort(newest, {}, &seen_rank::rank);
  return newest;
}

}  // namespace

std::vector<seen_rank> read_ranks_in(const std::string& file) {
  std::vector<seen_rank> found;
  job_memory one(file);
  if (one.is_open()) one.read_into(found);
  return found;
}

std::vector<seen_rank> read_ranks_of(std::int64_t process) {
  const std::string name = "process " + std::to_string(process);
  if (!files::exists(folder_of(process))) throw std::runtime_error(name + " does not exist");
  job_search search;
  try {
    for (const std::int64_t each : with_descendants(process)) search.look_into(each);
  } catch (const std::runtime_error& why) {
    throw std::runtime_error(name + ": " + why.what());
  }
  const std::error_code why_not = search.why_not();
  const std::vector<seen_rank> found = newest_of(std::move(search).take(), name);
  if (!found.empty()) return found;
  throw std::runtime_error(
      name + " and those that it has started are no ranks of a job" +
      (why_not ? ", as far as can be seen (" + why_not.message() + ")" : std::string()) +
      "; expected a rank, or what has started ranks");
}

}  // namespace muster::why
