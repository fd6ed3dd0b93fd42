#include "tools/command/run/tagged_output.hpp"

#include <unistd.h>

#include <array>
#include <cerrno>
#include <utility>

namespace muster::launch {
namespace {

void write_all(int to, const std::string& text) {
  for (std::size_t done = 0; done < text.size();) {
    const ssize_t now = ::write(to, text.data() + done, text.size() - done);
    if (now < 0 && errno != EINTR) return;  // nobody reads it any more
    if (now > 0) done += static_cast<std::size_t>(now);
  }
}

}  // namespace

tagged_output::tagged_output(std::size_t rank, muster::descriptor from, int to)
    : tag_("[" + std::to_string(rank) + "] "), from_(std::move(from)), to_(to) {}

bool tagged_output::pass_on() {
  std::array<char, 4096> chunk;
  const ssize_t got = ::read(from_.get(), chunk.data(), chunk.size());
  if (got < 0 && (errno == EINTR || errno == EAGAIN)) return true;
  if (got > 0) pending_.append(chunk.data(), static_cast<std::size_t>(got));
  write_lines(got <= 0);
  return got > 0;
}

void tagged_output::write_lines(bool all) {
  std::string lines;
  for (std::size_t end; (end = pending_.find('\n')) != std::string::npos;) {
    lines += tag_ + pending_.substr(0, end + 1);
    pending_.erase(0, end + 1);
  }
  if (all && !pending_.empty()) lines += tag_ + std::exchange(pending_, {}) + "\n";
  write_all(to_, lines);
}

}  // namespace muster::launch
