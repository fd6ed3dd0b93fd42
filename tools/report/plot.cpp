#include "tools/report/plot.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <memory>
#include <system_error>

#include "tools/process/process.hpp"

namespace muster::report {
namespace {

/// Near the running program, as built or as installed.
std::filesystem::path find_script() {
  const std::filesystem::path folder = std::filesystem::canonical("/proc/self/exe").parent_path();
  const std::filesystem::path built = folder / "../report/muster-plot";
  return std::filesystem::exists(built) ? built : folder / "../libexec/muster/muster-plot";
}

struct closed {
  void operator()(std::FILE* file) const noexcept { std::fclose(file); }
};
using open_file = std::unique_ptr<std::FILE, closed>;

/// A file without a name, to be read from its beginning: unlike a pipe it may be left unread.
open_file file_of(const std::string& text) {
  open_file file(std::tmpfile());
  if (file == nullptr) return file;
  std::fwrite(text.data(), 1, text.size(), file.get());
  std::rewind(file.get());
  return file;
}

}  // namespace

int run_script(const std::vector<std::string>& arguments, const std::string& input) {
  process::plan what{.command = {find_script().lexically_normal().string()}};
  what.command.insert(what.command.end(), arguments.begin(), arguments.end());
  const open_file text = file_of(input);
  if (text) what.input = fileno(text.get());
  try {
    return process::start(what).wait().exit_status();
  } catch (const std::system_error& why) {
    fmt::print(stderr, "muster: no plot: {}; install python3 and python3-matplotlib\n", why.what());
    return 127;
  }
}

bool draw(const std::filesystem::path& file, const std::string& json) {
  std::fflush(stdout);
  return run_script({"-", "-o", file.string()}, json) == 0;
}

void plot(const std::filesystem::path& file, const std::string& json) {
  if (!draw(file, json)) return;
  fmt::print("plot: {}\n", std::filesystem::absolute(file).lexically_normal().string());
}

}  // namespace muster::report
