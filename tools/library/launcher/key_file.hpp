#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "transports/tcp/admission.hpp"

namespace muster::launcher {

std::vector<std::byte> contents_of(int file);

/// The key of a job whose launcher has no way to tell it to the job's processes alone: from the
/// file that `MUSTER_KEY_FILE` names.
/// \param launcher for the error
/// \throws error `errc::bootstrap` where there is none, or others can read it
tcp::job_key key_from_file(std::string_view launcher);

}  // namespace muster::launcher
