#include "tools/c/own_ops.hpp"

#include <string>
#include <utility>

#include <muster/base/error.hpp>

namespace muster::c {

int own_ops::add(std::shared_ptr<const custom_reduction> op) {
  if (!free_.empty()) {
    const int number = free_.back();
    free_.pop_back();
    all_[static_cast<std::size_t>(number - first)] = std::move(op);
    return number;
  }
  if (all_.size() == limit_) {
    throw error(errc::resource, "op_create: there are " + std::to_string(limit_) +
                                    " reductions of the program's own; expected fewer");
  }
  all_.push_back(std::move(op));
  return first + static_cast<int>(all_.size() - 1);
}

void own_ops::remove(int number) {
  free_.push_back(number);
  all_[static_cast<std::size_t>(number - first)] = nullptr;
}

std::shared_ptr<const custom_reduction> own_ops::find(int number) const {
  const auto at = static_cast<std::size_t>(number - first);
  return number < first || at >= all_.size() ? nullptr : all_[at];
}

}  // namespace muster::c
