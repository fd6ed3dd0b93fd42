#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>

namespace muster {

/// Text in a record that is sent as it lies in memory: cut to fit, always terminated.
template <std::size_t Size>
class fixed_text {
public:
  /// The longest text that is not cut.
  static constexpr std::size_t most = Size - 1;

  fixed_text() = default;
  fixed_text(std::string_view text) {
    std::copy_n(text.begin(), std::min(text.size(), most), bytes_.begin());
  }
  std::string_view view() const {
    return {bytes_.begin(), std::find(bytes_.begin(), bytes_.end() - 1, '\0')};
  }

private:
  std::array<char, Size> bytes_{};
};

}  // namespace muster
