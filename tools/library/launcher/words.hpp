#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "tools/library/launcher/meeting.hpp"

namespace muster::launcher {

/// What launchers say, as values. All throw error `errc::bootstrap`, which names what is wrong.

/// \param name of what the text is, for the error
std::size_t parse_number(std::string_view text, const std::string& name,
                         std::size_t most = UINT32_MAX);

/// "host:20000", "[fd00::1]:20000"
void parse_place(std::string_view text, const std::string& name, cluster::meeting_place& into);

/// The next part of a text, up to a separator or the end; `text` is what is left.
std::string_view next_part(std::string_view& text, char separator);

/// That the rank is one of the job's.
void check(const meeting& one);

}  // namespace muster::launcher
