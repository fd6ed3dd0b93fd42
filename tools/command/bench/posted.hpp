// What a rank has asked of the RDMA devices of its machine, whatever library it is on: counted by
// libverbs_count.so, which is preloaded, and read by the measuring loop.
#pragma once

#include <dlfcn.h>

#include <cstdint>

namespace muster::bench {

struct posted {
  std::uint64_t sends = 0;        ///< of any kind: messages, reads and writes of memory
  std::uint64_t doorbells = 0;    ///< calls with which they were posted
  std::uint64_t bytes = 0;        ///< that they carry
  std::uint64_t queue_pairs = 0;  ///< that there are

  posted& operator+=(const posted& more) {
    sends += more.sends;
    doorbells += more.doorbells;
    bytes += more.bytes;
    queue_pairs += more.queue_pairs;
    return *this;
  }
};

/// How libverbs_count.so tells, so far: a function of this name and type.
inline constexpr const char* teller_name = "muster_bench_posted";
using teller = void (*)(posted*);

/// By this process so far; nothing where nobody counts.
inline posted posted_so_far() {
  static const auto tell = reinterpret_cast<teller>(::dlsym(RTLD_DEFAULT, teller_name));
  posted found;
  if (tell != nullptr) tell(&found);
  return found;
}

/// By this process since then. The queue pairs are those that there are.
inline posted posted_since(const posted& then) {
  posted now = posted_so_far();
  now.sends -= then.sends;
  now.doorbells -= then.doorbells;
  now.bytes -= then.bytes;
  return now;
}

}  // namespace muster::bench
