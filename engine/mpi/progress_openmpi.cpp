// Open MPI calls whoever registers from its progress loop; the two functions are part of its
// portability layer, which its own components are written with.
#include <dlfcn.h>

#include "engine/mpi/beneath.hpp"

namespace muster::mpi {
namespace {

using callback = int (*)();
using register_function = int (*)(callback);
using progress_function = void (*)();

void (*&tend_of_shim())() {
  static void (*tend)() = nullptr;
  return tend;
}

int on_progress() {
  tend_of_shim()();
  return 0;
}

}  // namespace

progress_hook hook_into_progress(const tending& tend, bool) {
  const auto add =
      reinterpret_cast<register_function>(::dlsym(RTLD_DEFAULT, "opal_progress_register"));
  if (add == nullptr) return progress_hook::none;
  tend_of_shim() = tend.with_mpi;
  return add(on_progress) == 0 ? progress_hook::with_mpi : progress_hook::none;
}

void progress_beneath() noexcept {
  static const auto progress =
      reinterpret_cast<progress_function>(::dlsym(RTLD_DEFAULT, "opal_progress"));
  if (progress != nullptr) progress();
}

}  // namespace muster::mpi
