#include <muster/api/cartesian.hpp>

#include <string>

#include <muster/base/error.hpp>

namespace muster {
namespace {

[[noreturn]] void refuse(const std::string& why) {
  throw error(errc::invalid_argument, "cartesian: " + why);
}

void check_grid(std::size_t ranks, const std::vector<std::size_t>& dims,
                const std::vector<bool>& periodic) {
  if (dims.size() != periodic.size()) {
    refuse("periodic has " + std::to_string(periodic.size()) + " values; expected " +
           std::to_string(dims.size()) + ", one for each dimension");
  }
  std::size_t places = 1;
  for (const std::size_t length : dims) {
    if (length == 0 || places > ranks / length) {
      places = 0;
      break;
    }
    places *= length;
  }
  if (places != ranks) {
    refuse("the product of dims is not the team's size; expected " + std::to_string(ranks));
  }
}

}  // namespace

cartesian::cartesian(const team& on, const std::vector<std::size_t>& dims,
                     const std::vector<bool>& periodic) {
  check_grid(on.size(), dims, periodic);
  std::size_t apart = on.size();  // ranks from one place to the next in a dimension
  for (std::size_t i = 0; i < dims.size(); ++i) {
    const std::size_t length = dims[i];
    apart /= length;
    const std::size_t at = on.rank() / apart % length;
    const std::size_t first = on.rank() - at * apart;
    const auto neighbor = [&](bool is_there, std::size_t place) {
      return is_there || periodic[i] ? first + place % length * apart : no_rank;
    };
    ranks_.push_back(neighbor(at != 0, at + length - 1));
    ranks_.push_back(neighbor(at + 1 != length, at + 1));
  }
}

}  // namespace muster
