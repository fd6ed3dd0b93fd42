#pragma once

#include <cstddef>
#include <string>

namespace muster::tcp {

/// Has the system allow this process to open `more` descriptors than it has open: raises its soft
/// limit, as far as the hard one.
void allow_descriptors(std::size_t more) noexcept;
/// How many this process may have at once. \returns 0 where the system does not say
std::size_t allowed_descriptors() noexcept;
/// Whether a call failed with this `errno` because no descriptor was left.
bool is_out_of_descriptors(int why) noexcept;
/// "Too many open files: 1024 are allowed (ulimit -n); expected …"
std::string describe_shortage(int why, const std::string& expected);

}  // namespace muster::tcp
