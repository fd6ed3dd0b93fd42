#include "tools/command/mpirun/output_of.hpp"

#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <system_error>

#include "tools/process/process.hpp"

namespace muster::mpirun {
namespace {

std::string read_all(const descriptor& from) {
  std::string text;
  std::array<char, 4096> piece;
  while (true) {
    const ssize_t got = read(from.get(), piece.data(), piece.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return text;
    text.append(piece.data(), static_cast<std::size_t>(got));
  }
}

}  // namespace

std::string output_of(const std::vector<std::string>& command) {
  try {
    process::pipe_ends output = process::make_pipe();
    process::child program = process::start({.command = command,
                                             .in_path = true,
                                             .input = process::nothing,
                                             .output = output.writing.get(),
                                             .errors = process::nothing});
    output.writing = descriptor();  // the program's alone, whose end is then the text's
    std::string text = read_all(output.reading);
    return program.wait().well() ? text : std::string();
  } catch (const std::system_error&) {
    return {};
  }
}

}  // namespace muster::mpirun
