// Processes that something else than Muster started: forked, with a bootstrap over memory that they
// share.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <muster/team/bootstrap.hpp>

namespace muster::testing {

/// Runs `rank(bootstrap)` in so many processes. What each returns, or how it ended otherwise.
std::vector<std::string> on_processes(std::size_t ranks,
                                      const std::function<std::string(bootstrap&)>& rank);

/// A rank's bootstrap with something wrong about it, from the first allgather on.
class tampered : public bootstrap {
public:
  using change = std::function<void(std::span<std::byte>)>;

  /// \param sent changes what the rank says, `heard` what it hears, once
  tampered(bootstrap& with, change sent, change heard)
      : with_(with), sent_(std::move(sent)), heard_(std::move(heard)) {}

  std::size_t rank() const noexcept override { return with_.rank(); }
  std::size_t size() const noexcept override { return with_.size(); }
  void allgather(std::span<const std::byte> mine, std::span<std::byte> all) override {
    std::vector<std::byte> changed(mine.begin(), mine.end());
    if (sent_) std::exchange(sent_, nullptr)(changed);
    with_.allgather(changed, all);
    if (heard_) std::exchange(heard_, nullptr)(all);
  }

private:
  bootstrap& with_;
  change sent_;
  change heard_;
};

}  // namespace muster::testing
