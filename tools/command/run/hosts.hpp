#pragma once

#include <muster/base/descriptor.hpp>

#include "tools/command/run/launch.hpp"
#include "transports/tcp/admission.hpp"

namespace muster::launch {

/// A file of the key, in memory, for ranks to inherit. \throws error `errc::resource`
descriptor file_of(const tcp::job_key& key);

/// `run`, on the hosts that `what` names: starts a launcher on each by the remote shell, which gets
/// the job's key through its input, never on a command line. Ends all when one fails, or when this
/// process ends.
int run_on_hosts(const options& what);

/// The same on hosts that tools/hosts makes of this machine: becomes that script, which becomes
/// `muster run` again. \throws error
[[noreturn]] void run_on_made_hosts(const options& what);

/// On one of these hosts: `muster run-share`, which reads from its input what to start.
int run_share_as_told();

}  // namespace muster::launch
