#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace muster {

/// What the system says of a process. A signal's handler may ask: it takes no lock and no memory.
class process_status {
public:
  explicit process_status(std::int64_t process) noexcept;
  process_status(const process_status&) = delete;
  process_status& operator=(const process_status&) = delete;

  /// Where there is none.
  static constexpr char gone = 'X';

  /// By the system's own letter: R runs, S and D sleep, T is stopped, t by a debugger.
  char state() const noexcept;
  /// Who has started it; 0: nobody known.
  std::int64_t parent() const noexcept { return field(1); }
  /// When it began, in the system's clock ticks since it started.
  std::int64_t start() const noexcept { return field(19); }

private:
  /// So many fields after the state.
  std::int64_t field(int number) const noexcept;

  std::array<char, 1024> text_;
  std::string_view rest_;  // from its state on
};

}  // namespace muster
