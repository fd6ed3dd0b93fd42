#include "tools/command/shared/progress.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

namespace muster::bench {
namespace {

std::size_t terminal_columns() {
  constexpr std::size_t usual = 80;
  constexpr std::size_t least = 40;
  winsize size{};
  if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return usual;
  return std::max<std::size_t>(size.ws_col, least);
}

}  // namespace

std::string first_letters(const std::string& text, std::size_t count) {
  std::string kept;
  for (const char byte : text) {
    const bool begins_letter = (static_cast<unsigned char>(byte) & 0xc0) != 0x80;
    if (begins_letter && count-- == 0) break;
    kept += byte;
  }
  return kept;
}

std::string readable_duration(std::chrono::seconds time) {
  const long all = time.count();
  if (all >= 3600) return fmt::format("{}:{:02}:{:02}", all / 3600, all / 60 % 60, all % 60);
  return fmt::format("{}:{:02}", all / 60, all % 60);
}

std::string bar(double fraction, std::size_t width) {
  const double cells = std::clamp(fraction, 0.0, 1.0) * static_cast<double>(width);
  const auto full = static_cast<std::size_t>(cells);
  const bool half = full < width && cells - static_cast<double>(full) >= 0.5;
  std::string drawn;
  for (std::size_t cell = 0; cell < width; ++cell) {
    drawn += cell < full ? "━" : cell == full && half ? "╸" : "─";
  }
  return drawn;
}

progress_meter::progress_meter(std::size_t steps, bool quiet, std::string command)
    : command_(std::move(command)),
      steps_(steps),
      quiet_(quiet),
      terminal_(isatty(STDERR_FILENO) == 1) {}

void progress_meter::begin(const std::string& what) {
  if (quiet_) return;
  if (terminal_) return show(what);
  const auto spent = std::chrono::duration_cast<std::chrono::seconds>(clock::now() - start_);
  fmt::print(stderr, "[{:3.0f} %, {}] {}\n", 100 * fraction(), readable_duration(spent), what);
}

void progress_meter::show(const std::string& what) {
  doing_ = what;
  draw();
}

void progress_meter::reach(std::size_t steps) {
  done_ = std::min(steps, steps_);
  draw();
}

void progress_meter::note(const std::string& text) {
  clear();
  fmt::print(stderr, "{}: {}\n", command_, text);
}

void progress_meter::clear() {
  if (drawn_) fmt::print(stderr, "\r\033[K");
  drawn_ = false;
}

double progress_meter::fraction() const {
  return steps_ == 0 ? 1 : static_cast<double>(done_) / static_cast<double>(steps_);
}

void progress_meter::draw() {
  // Often enough to look alive, seldom enough not to disturb what is measured.
  constexpr std::chrono::milliseconds pause{100};
  const auto now = clock::now();
  if (quiet_ || !terminal_ || (drawn_ && now - last_drawn_ < pause)) return;
  last_drawn_ = now;
  drawn_ = true;

  const std::size_t columns = terminal_columns();
  const std::size_t width = columns >= 110 ? 28 : 10;
  constexpr std::size_t figures_width = 20;
  std::string left = "     ";
  if (done_ > 0) {
    const double remaining = std::chrono::duration<double>(now - start_).count() *
                             static_cast<double>(steps_ - done_) / static_cast<double>(done_);
    left = readable_duration(std::chrono::seconds(static_cast<long>(remaining)));
  }
  fmt::print(stderr, "\r\033[K{} {:3.0f} %  {} left  {}", bar(fraction(), width), 100 * fraction(),
             left, first_letters(doing_, columns - width - figures_width));
  std::fflush(stderr);
}

}  // namespace muster::bench
