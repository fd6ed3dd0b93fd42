#include <muster/api/grow.hpp>

#include <muster/base/error.hpp>
#include <muster/run/regrowth.hpp>

namespace muster {

task<std::unique_ptr<team>> grow(team& of) {
  if (of.growing() == nullptr) {
    throw error(errc::invalid_argument,
                "grow: ranks of this job are not started again when they fail; expected a job that "
                "`muster run --respawn` started");
  }
  of.pass_failure_on();  // so that all come
  co_return co_await of.growing()->grow(of);
}

}  // namespace muster
