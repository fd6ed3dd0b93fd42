#pragma once

#include <cstddef>
#include <limits>
#include <memory>
#include <string>
#include <system_error>
#include <type_traits>

namespace muster {

/// Why an operation of Muster did not complete. Each is a `std::error_code` of `muster_category()`.
enum class errc {
  invalid_argument = 1,   ///< an argument is outside what the call accepts; nothing was sent
  mismatched_call = 2,    ///< ranks of one team called different collectives, sizes, types or roots
  rank_died = 3,          ///< the process or thread of a rank ended abnormally
  rank_left = 4,          ///< a rank ended normally without taking part in the operation
  stopped = 5,            ///< a stop was requested through a stop token or by a failed sibling
  deadline_exceeded = 6,  ///< a deadline passed before the operation completed
  bootstrap = 7,          ///< the job could not be joined or its memory could not be mapped
  resource = 8,           ///< memory or another resource of the system ran out
};

const std::error_category& muster_category() noexcept;
std::error_code make_error_code(errc code) noexcept;

/// The rank of an error that concerns no single rank.
inline constexpr std::size_t no_rank = std::numeric_limits<std::size_t>::max();

/// What Muster throws: `code()` says what kind of failure, `what()` names call, argument or rank,
/// `rank()` the rank at fault where there is one.
class error : public std::system_error {
public:
  error(errc code, const std::string& what, std::size_t rank = no_rank);
  std::size_t rank() const noexcept { return rank_; }
  /// `what()` without the general words for `code()` at its end.
  const std::string& text() const noexcept { return *text_; }

private:
  std::size_t rank_;
  std::shared_ptr<const std::string> text_;  // shared: copying an exception must not throw
};

}  // namespace muster

template <>
struct std::is_error_code_enum<muster::errc> : std::true_type {};
