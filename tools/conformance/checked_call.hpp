#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <muster/muster.hpp>

#include "tools/conformance/contents.hpp"
#include "tools/conformance/placement.hpp"

namespace muster::testing {

/// Where a call's buffers lie.
enum class memory {
  own,     ///< the rank's own
  shared,  ///< `shared_buffer`s
  mixed,   ///< send shared, receive own
};

/// Bytes between guards that show whether anything around them was touched.
class guarded_bytes {
public:
  /// \param shift bytes by which the contents lie off the alignment of the memory
  guarded_bytes(team& of, std::size_t bytes, bool shared, std::size_t shift);

  std::span<std::byte> inside() noexcept {
    return {whole().data() + guard + shift_, whole().size() - 2 * guard - shift_};
  }
  bool guards_intact() noexcept;

private:
  static constexpr std::size_t guard = 128;
  std::span<std::byte> whole() noexcept;

  std::size_t shift_;
  std::vector<std::byte> own_;
  std::optional<shared_buffer<std::byte>> shared_;
};

/// One rank's part of a call: its buffers, filled, and whether they are as they should be
/// afterwards. Stays where it is while the call runs.
class checked_call {
public:
  checked_call(team& of, const spec& call, memory where, std::size_t shift);
  checked_call(const checked_call&) = delete;
  checked_call& operator=(const checked_call&) = delete;

  task<> perform();
  /// New contents in the same buffers, on every rank before it performs the call again.
  void refill();
  /// What is wrong, or nothing. Of a call that did not complete only the guards are looked at.
  std::string verdict(bool completed = true);
  std::span<const std::byte> received() noexcept { return receive_.inside(); }

private:
  bool gives_from_receive_buffer() const noexcept;
  std::size_t send_bytes() const noexcept;
  std::size_t receive_bytes() const noexcept;
  void fill_buffers();
  void give_buffers();
  std::string verdict_on_receive_buffer();

  team& team_;
  spec call_;
  arguments arguments_;
  placement sent_;
  placement received_;
  guarded_bytes send_;
  guarded_bytes receive_;
  // Of the buffers.
  std::vector<std::byte> send_before_;
  std::vector<std::byte> receive_before_;
};

}  // namespace muster::testing
