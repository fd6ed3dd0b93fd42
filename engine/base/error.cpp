#include <muster/base/error.hpp>

namespace muster {
namespace {

class category final : public std::error_category {
public:
  const char* name() const noexcept override { return "muster"; }

  std::string message(int value) const override {
    switch (static_cast<errc>(value)) {
      case errc::invalid_argument:
        return "invalid argument";
      case errc::mismatched_call:
        return "ranks called different collectives";
      case errc::rank_died:
        return "a rank died";
      case errc::rank_left:
        return "a rank left the job";
      case errc::stopped:
        return "stopped";
      case errc::deadline_exceeded:
        return "deadline exceeded";
      case errc::bootstrap:
        return "cannot join the job";
      case errc::resource:
        return "out of resources";
    }
    return "unknown error";
  }

  // What programs ask of any operation that is awaited: whether it was canceled, or took too long.
  std::error_condition default_error_condition(int value) const noexcept override {
    switch (static_cast<errc>(value)) {
      case errc::invalid_argument:
        return std::errc::invalid_argument;
      case errc::stopped:
        return std::errc::operation_canceled;
      case errc::deadline_exceeded:
        return std::errc::timed_out;
      case errc::rank_died:
      case errc::rank_left:
        return std::errc::connection_reset;
      default:
        return {value, *this};
    }
  }
};

}  // namespace

const std::error_category& muster_category() noexcept {
  // Never destroyed: errors are thrown while a process ends, too.
  static const category& instance = *new category;
  return instance;
}

std::error_code make_error_code(errc code) noexcept {
  return {static_cast<int>(code), muster_category()};
}

error::error(errc code, const std::string& what, std::size_t rank)
    : std::system_error(make_error_code(code), what),
      rank_(rank),
      text_(std::make_shared<const std::string>(what)) {}

}  // namespace muster
