#include "tools/command/why/command.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <utility>

#include <muster/base/descriptor.hpp>

#include "tools/command/why/processes.hpp"
#include "tools/command/why/written.hpp"
#include "tools/library/why/json.hpp"
#include "tools/library/why/page.hpp"

namespace muster::why {
namespace {

constexpr const char* details = R"(
A process is a rank, or what has started ranks of this machine: muster run, mpirun, a batch script.
It may hang or be stopped, and does nothing for it. A folder is what MUSTER_WHY named for a job: the
ranks of each machine write there when a call times out, a rank dies or ranks call different things,
and when the signal comes that MUSTER_WHY_SIGNAL names.

The page names the ranks for which others wait (LATE has not come to a call, STUCK has and does not
go on), calls that ranks made in different orders (MISMATCH), and ranks that wait for each other
(CIRCLE). Then come all ranks, those alike on one line. The JSON has the last 256 calls of each rank.

  muster why $(pgrep -o solve)
  MUSTER_WHY=why muster run -n 8 ./solve; muster why why
)";

/// Whether it may be a process.
bool is_number(const std::string& text) {
  return !text.empty() && text.size() < 10 &&
         std::ranges::all_of(text, [](unsigned char each) { return std::isdigit(each) != 0; });
}

written look_at(const std::string& what) {
  if (!is_number(what) || std::filesystem::is_directory(what)) return read_folder(what);
  return {.reason = {}, .ranks = latest_of_each(read_ranks_of(std::stoll(what)))};
}

void write_json(const std::filesystem::path& path, const written& all) {
  if (path.empty()) return;
  const descriptor file(path == "-" ? ::dup(STDOUT_FILENO)
                                    : ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0666));
  json_writer out(file.get(), all.reason);
  for (const seen_rank& each : all.ranks) out.add(each);
  if (!out.end()) {
    throw std::runtime_error("--json: cannot write " + path.string() + ": " + std::strerror(errno));
  }
}

}  // namespace

int answer(const options& wanted) {
  const written all = look_at(wanted.of);
  std::fputs(page(all.reason, all.ranks).c_str(), wanted.json == "-" ? stderr : stdout);
  write_json(wanted.json, all);
  return 0;
}

void add_why_command(CLI::App& app, std::function<void(int)> done) {
  auto wanted = std::make_shared<options>();
  CLI::App* const command =
      app.add_subcommand("why", "who is late in a job that hangs, and who waits for it");
  command->footer(details);
  command->add_option("PID|DIR", wanted->of, "a process of the job, or what its ranks have written")
      ->required()
      ->type_name("");
  command
      ->add_option("--json", wanted->json, "write all calls there as JSON; -: to standard output")
      ->type_name("FILE");
  command->callback([wanted, done = std::move(done)] { done(answer(*wanted)); });
}

}  // namespace muster::why
