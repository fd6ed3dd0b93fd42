#pragma once

#include <cstddef>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace muster::mpi {

/// Memory that is wanted for a while, time and again: pages that have been touched are worth
/// keeping. All threads may use it; what was taken may outlive it.
class host_memory {
  struct release {
    void operator()(std::byte* at) const noexcept { std::free(at); }
  };
  struct chunk {
    std::unique_ptr<std::byte, release> at;
    std::size_t bytes = 0;
  };
  struct store {
    std::mutex gate;
    std::vector<chunk> idle;
  };

public:
  /// Goes back where it came from.
  class block {
  public:
    block(chunk own, std::shared_ptr<store> from) noexcept
        : own_(std::move(own)), from_(std::move(from)) {}
    block(block&&) noexcept = default;
    block& operator=(block&&) = delete;
    ~block();

    std::byte* data() const noexcept { return own_.at.get(); }

  private:
    chunk own_;
    std::shared_ptr<store> from_;
  };

  /// At least so many bytes, at the beginning of a page. \throws bad_alloc
  block take(std::size_t bytes);
  /// How many blocks are kept that nobody uses.
  std::size_t idle() const;

private:
  std::shared_ptr<store> store_ = std::make_shared<store>();
};

}  // namespace muster::mpi
