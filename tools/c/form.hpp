#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <muster/muster.h>
#include <muster/call/arguments.hpp>
#include <muster/call/neighborhood.hpp>
#include <muster/call/reduction.hpp>
#include <muster/coro/task.hpp>

#include "tools/c/job.hpp"
#include "tools/c/team.hpp"

namespace muster::c {

/// What is added to the bytes of an element of the program's own, for its `muster_type`.
inline constexpr int first_opaque_type = 256;

/// A collective of a C program, filled in argument by argument: what its elements are, the root,
/// neighbors and layouts if it has them, and the buffers at last. What C can say wrong, and C++
/// cannot, is found here, as `errc::invalid_argument`; the rest by `perform`.
class form {
public:
  form(muster_team& on, collective what) : on_(on) { call_.what = what; }
  form(const form&) = delete;
  form& operator=(const form&) = delete;

  void elements(std::size_t count, muster_type type);
  void combined(std::size_t count, muster_type type, muster_op op);
  void root(int rank);
  bool is_at_root() const noexcept { return call_.root == rank(); }
  void neighbors(const muster_neighbors* with);

  /// One block a rank, or a neighbor. \param name of `counts`, for messages
  void send_layout(std::string_view name, const std::size_t* counts,
                   const std::size_t* displacements);
  void receive_layout(std::string_view name, const std::size_t* counts,
                      const std::size_t* displacements);
  /// Of a reduce_scatter: the call's elements are this rank's block.
  void count_own_block() noexcept { call_.count = send_blocks_.counts[rank()]; }

  /// Of all but a broadcast.
  void buffers(const void* send, void* receive);
  void buffer(void* both);

  const std::shared_ptr<const custom_reduction>& op() const noexcept { return op_; }
  /// \throws as `perform`
  task<> make() const;

private:
  std::size_t ranks() const noexcept { return on_.team().size(); }
  std::size_t rank() const noexcept { return on_.team().rank(); }
  [[noreturn]] void reject(const std::string& why) const;
  std::size_t bytes_of(muster_type type) const;
  /// One that the call uses, or does not.
  void require(std::string_view name, const void* buffer, bool is_used) const;
  void scatter_buffers(const void* send, void* receive);
  void be_in_place();
  block_layout layout(std::string_view name, const std::size_t* counts,
                      const std::size_t* displacements, std::size_t blocks) const;
  std::vector<std::size_t> list(std::string_view name, const int* ranks, std::size_t count) const;

  muster_team& on_;
  arguments call_;
  std::shared_ptr<const custom_reduction> op_;
  block_layout send_blocks_;
  block_layout receive_blocks_;
  std::vector<std::size_t> sources_;
  std::vector<std::size_t> destinations_;
  neighborhood with_;
};

}  // namespace muster::c
