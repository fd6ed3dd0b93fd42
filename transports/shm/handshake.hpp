#pragma once

#include <sched.h>
#include <sys/socket.h>

#include <cstddef>
#include <cstdint>
#include <span>

#include <muster/base/fixed_text.hpp>
#include <muster/team/shape.hpp>

namespace muster::shm {

/// What a process that is to become a rank says of itself. As long in all versions, and beginning
/// with the version. Trivially copyable.
struct handshake {
  std::uint64_t version = 0;
  std::int32_t process = 0;
  std::uint32_t user = 0;
  std::uint64_t network = 0;    ///< the namespaces that it is in;
  std::uint64_t processes = 0;  ///< 0: not known
  fixed_text<40> machine;       ///< the id of its boot
  place where;
  cpu_set_t allowed{};        ///< processors
  std::uint64_t offered = 0;  ///< the address of what others may try to read
  fixed_text<40> listens_as;  ///< rank 0: the name of its socket
};

/// The calling process's, but for the last two.
handshake describe_this_process();

/// Whether `process`, as the system knows it, is the one that says so.
bool is(const ucred& process, const handshake& who);

/// How many processors they may use between them.
std::uint32_t processors_of(std::span<const handshake> ranks);

/// Whether two processes can be ranks of one machine's job, by what they say of themselves.
bool can_share_memory(const handshake& one, const handshake& other);

/// \throws error `errc::bootstrap` with the rank that cannot be in a job with rank 0, and why, if
/// there is one
void check_handshakes(std::span<const handshake> ranks);

}  // namespace muster::shm
