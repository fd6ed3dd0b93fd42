#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>

#include <muster/call/arguments.hpp>
#include <muster/team/order.hpp>

namespace muster {

/// What verbs require of the algorithm that uses them. Each of these throws where that does not
/// hold, before the memory of another operation is touched. They are asked in builds with
/// assertions and under virtual time, see `context::is_checked`.
///
/// \throws error `errc::invalid_argument`, which names the row, and what it should declare or do
class verb_checks {
public:
  /// \param row      that is running
  /// \param declared what its `stages` said of this call
  verb_checks(collective what, std::string_view row, stage_kind declared) noexcept
      : what_(what), row_(row), declared_(declared) {}

  /// \param again whether the rank has arrived before
  void arrive(bool again) const;
  void publish(std::size_t bytes) const;
  /// A verb that goes by what the ranks of a node have in common.
  void use_node(std::string_view verb) const;
  void use_pipeline(std::size_t index) const;
  /// A message to a rank or from it.
  void exchange(std::string_view verb, std::size_t with, std::size_t ranks) const;
  /// A long message into the place in which its sender was invited to put it, if it was.
  void receive(std::size_t from, std::span<std::byte> place,
               std::optional<std::span<std::byte>> posted) const;
  void note(std::string_view verb, std::size_t bytes, std::size_t most) const;
  /// \param lends whether readers may still be at memory that it lent
  void complete(bool arrived, bool lends) const;

private:
  template <class... Parts>
  [[noreturn]] void refuse(const Parts&... parts) const;

  collective what_;
  std::string_view row_;
  stage_kind declared_;
};

}  // namespace muster
