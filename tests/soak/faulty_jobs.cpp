#include <arpa/inet.h>
#include <netinet/in.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

#include <muster/base/descriptor.hpp>

#include "tests/soak/control_group.hpp"
#include "tests/soak/fault.hpp"
#include "tests/soak/jobs.hpp"
#include "tests/soak/memory_file.hpp"
#include "tests/soak/scoreboard.hpp"
#include "tools/conformance/random.hpp"

extern "C" char** environ;

namespace muster::testing {
namespace {

/// What lets processes into a job.
descriptor make_key(std::uint64_t seed) {
  descriptor file = make_memory_file("key");
  const std::string key = "the soak's own " + std::to_string(seed) + std::string(32, '.');
  if (::fchmod(file.get(), S_IRUSR | S_IWUSR) != 0) fail(errno, "key");
  if (::write(file.get(), key.data(), key.size()) < 0) fail(errno, "key");
  return file;
}

void print(const descriptor& file) {
  std::array<char, 4096> part;
  ::lseek(file.get(), 0, SEEK_SET);
  for (long read = 0; (read = ::read(file.get(), part.data(), part.size())) > 0;) {
    std::fwrite(part.data(), 1, static_cast<std::size_t>(read), stdout);
  }
}

/// \param says where all that it prints goes
pid_t spawn(const std::vector<std::string>& command, const std::vector<std::string>& variables,
            const descriptor& says) {
  std::vector<char*> words;
  for (const std::string& word : command) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  std::vector<char*> all;
  for (const std::string& each : variables) all.push_back(const_cast<char*>(each.c_str()));
  for (char** each = environ; *each != nullptr; ++each) all.push_back(*each);
  all.push_back(nullptr);
  posix_spawn_file_actions_t files;
  ::posix_spawn_file_actions_init(&files);
  ::posix_spawn_file_actions_adddup2(&files, says.get(), STDOUT_FILENO);
  ::posix_spawn_file_actions_adddup2(&files, says.get(), STDERR_FILENO);
  pid_t made = 0;
  const int refused = ::posix_spawn(&made, words[0], &files, nullptr, words.data(), all.data());
  ::posix_spawn_file_actions_destroy(&files);
  if (refused != 0) fail(refused, "posix_spawn");
  return made;
}

std::filesystem::path self() { return std::filesystem::read_symlink("/proc/self/exe"); }

std::vector<std::string> variables_of(const faulty_job& job) {
  std::vector<std::string> all;
  if (is_impatient(job)) all.emplace_back("MUSTER_TIMEOUT=3");
  if (has(job, fault::kind::reset) || has(job, fault::kind::half_open)) {
    all.emplace_back("MUSTER_CONNECTIONS=2");
  }
  return all;
}

void run_by_launcher(const faulty_job& job, const std::vector<std::string>& command,
                     const descriptor& says) {
  // Longer than the ranks' own watchdogs.
  std::vector<std::string> words = {self().parent_path() / "../../tools/command/muster",
                                    "run",
                                    "--grace",
                                    "600",
                                    "-n",
                                    std::to_string(job.ranks)};
  const auto add = [&](const char* option, std::size_t value) {
    words.insert(words.end(), {option, std::to_string(value)});
  };
  if (job.hosts != 0) {
    add("--hosts-made", job.hosts);
  } else {
    add("--nodes", job.nodes);
  }
  if (job.kernel_copies_from != 0) add("--kernel-copies-from", job.kernel_copies_from);
  words.insert(words.end(), command.begin(), command.end());
  ::waitpid(spawn(words, variables_of(job), says), nullptr, 0);
}

/// A port that nobody listens at for now, of those that Linux gives nobody who asks for any: the
/// ranks ask for some before the first of them listens at this one.
unsigned free_port(random_stream random) {
  for (;;) {
    const descriptor socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    const auto port = static_cast<in_port_t>(10'000 + random.below(20'000));
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_port = htons(port);
    if (::bind(socket.get(), reinterpret_cast<const sockaddr*>(&at), sizeof at) == 0) return port;
    if (errno != EADDRINUSE) fail(errno, "port");
  }
}

/// The ranks meet by themselves; nobody ends those that are left.
void run_by_hand(const faulty_job& job, const std::vector<std::string>& command,
                 const descriptor& says) {
  const descriptor key = make_key(job.seed);
  const std::string place = "127.0.0.1:" + std::to_string(free_port(random_stream(job.seed)));
  std::vector<pid_t> ranks;
  for (std::size_t rank = 0; rank < job.ranks; ++rank) {
    std::vector<std::string> variables = variables_of(job);
    variables.insert(
        variables.end(),
        {"MUSTER_RENDEZVOUS=" + place, "MUSTER_KEY_FILE=" + path_of(key),
         "MUSTER_SIZE=" + std::to_string(job.ranks), "MUSTER_RANK=" + std::to_string(rank)});
    ranks.push_back(spawn(command, variables, says));
  }
  for (const pid_t each : ranks) ::waitpid(each, nullptr, 0);
}

class all_faulty final : public jobs {
public:
  all_faulty() {
    if (!group_.path().empty()) return;
    std::printf("no control group can be made (%s): ranks are killed instead\n",
                group_.why_not().c_str());
  }

  bool run(std::uint64_t seed) override {
    const faulty_job job = make_faulty_job(seed);
    const scoreboard all;
    const std::vector<std::string> command = {
        self(),     "--faults", "--rank-of", std::to_string(seed),
        "--scores", all.path(), "--group",   group_.path()};
    const descriptor says = make_memory_file("output");
    if (job.nodes == 0) {
      run_by_hand(job, command, says);
    } else {
      run_by_launcher(job, command, says);
    }
    const bool well = is_well(job, *all);
    if (!well) {
      print(says);
      std::printf("WRONG in %s\n%s\n", testing::describe(job).c_str(), how_to_replay(job).c_str());
    }
    std::fflush(stdout);
    count(job, *all);
    return well;
  }

  std::string describe(std::uint64_t seed) const override {
    return testing::describe(make_faulty_job(seed)) + "\n";
  }

  std::string summary() const override {
    std::string text = std::to_string(lost_) + " ranks lost, " + std::to_string(shrinks_) +
                       " times gone on, told within " + std::to_string(longest_ / 1'000'000) +
                       " ms";
    if (longest_ != 0) text += " (job " + std::to_string(longest_in_) + ")";
    return text;
  }

private:
  /// Ranks to which nothing happens that ends them have said that all was right.
  static bool is_well(const faulty_job& job, const scores& all) {
    bool well = true;
    for (std::size_t rank = 0; rank < job.ranks; ++rank) {
      const bool may_end = std::ranges::any_of(job.faults, [&](const fault& each) {
        if (each.what == fault::kind::host_lost) return all.host[each.rank] == all.host[rank];
        return each.rank == rank && may_end_rank(each.what);
      });
      if (all.left[rank] || (may_end && all.gone[rank] != 0)) continue;
      std::printf("rank %zu did not end well\n", rank);
      well = false;
    }
    return well;
  }

  void count(const faulty_job& job, const scores& all) {
    lost_ += static_cast<std::size_t>(
        std::ranges::count_if(all.gone, [](const auto& at) { return at != 0; }));
    shrinks_ += all.shrinks;
    // One that is stopped is told when it goes on.
    if (has(job, fault::kind::stop) || all.longest <= longest_) return;
    longest_ = all.longest;
    longest_in_ = job.seed;
  }

  control_group group_;
  std::size_t lost_ = 0;
  std::size_t shrinks_ = 0;
  std::int64_t longest_ = 0;
  std::uint64_t longest_in_ = 0;
};

}  // namespace

std::unique_ptr<jobs> faulty_jobs() { return std::make_unique<all_faulty>(); }

}  // namespace muster::testing
