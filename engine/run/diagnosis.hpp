#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <optional>

#include <muster/base/error.hpp>
#include <muster/run/operation_state.hpp>

namespace muster {

// Why an operation cannot go on.

/// What a rank called that this one did not, by what is known of its calls.
std::optional<error> find_mismatch(const operation_state& in, std::size_t rank);
/// Why waiting for `rank` is in vain, if it is.
std::exception_ptr find_loss(const operation_state& in, std::size_t rank) noexcept;
/// `rank` has sent something of another operation in this lane, but nobody of its node of this.
error left_out(const operation_state& in, std::size_t rank, std::uint64_t its_sequence);
/// What comes next from a neighbor is of another operation.
error not_mutual(const operation_state& in, std::size_t rank, std::uint64_t its_sequence);

/// Why the team is broken; null if it is not, or whoever breaks it is still writing why.
std::exception_ptr breakage(const operation_state& in) noexcept;
/// The same of a team that is: waits for that a while.
std::exception_ptr breakage_once_written(const operation_state& in) noexcept;

}  // namespace muster
