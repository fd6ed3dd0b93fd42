#include "tools/mpi/next.hpp"

#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>

namespace muster::mpi {
namespace {

struct closes {
  void operator()(void* object) const noexcept { ::dlclose(object); }
};
using loaded_object = std::unique_ptr<void, closes>;

}  // namespace

void* find_symbol_beneath(const char* name) noexcept {
  void* const found = ::dlsym(RTLD_NEXT, name);
  if (found == nullptr) {
    std::fprintf(stderr, "muster: no %s after this library; expected to be loaded before the MPI\n",
                 name);
    std::abort();
  }
  return found;
}

void* find_wrapper(const char* name) noexcept {
  void* const next = ::dlsym(RTLD_NEXT, name);
  Dl_info of_next{};
  if (next == nullptr || ::dladdr(next, &of_next) == 0) return nullptr;
  const loaded_object object(::dlopen(of_next.dli_fname, RTLD_LAZY | RTLD_NOLOAD));
  if (!object) return nullptr;
  // The MPI has both names. What wraps one finds the other in what it depends on.
  void* const beneath = ::dlsym(object.get(), (std::string("P") + name).c_str());
  Dl_info of_beneath{};
  const bool has_both = beneath != nullptr && ::dladdr(beneath, &of_beneath) != 0 &&
                        of_beneath.dli_fbase == of_next.dli_fbase;
  return has_both ? nullptr : next;
}

}  // namespace muster::mpi
