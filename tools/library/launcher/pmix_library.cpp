#include "tools/library/launcher/pmix_library.hpp"

#include <dlfcn.h>

#include <array>
#include <cstdlib>
#include <string_view>

#include <muster/base/error.hpp>

namespace muster::launcher {
namespace {

constexpr const char* file = "libpmix.so.2";

pmix_info_t flag(const char* name) {
  pmix_info_t made{};
  std::string_view(name).copy(made.key, PMIX_MAX_KEYLEN);
  made.value.type = PMIX_BOOL;
  made.value.data.flag = true;
  return made;
}

}  // namespace

// Never closed again: it has threads.
pmix_library::pmix_library()
    : library_(::dlopen(file, RTLD_LAZY | RTLD_LOCAL)),
      init_(find<decltype(&PMIx_Init)>("PMIx_Init")),
      put_(find<decltype(&PMIx_Put)>("PMIx_Put")),
      commit_(find<decltype(&PMIx_Commit)>("PMIx_Commit")),
      fence_(find<decltype(&PMIx_Fence)>("PMIx_Fence")),
      get_(find<decltype(&PMIx_Get)>("PMIx_Get")),
      finalize_(find<decltype(&PMIx_Finalize)>("PMIx_Finalize")) {}

template <class Function>
Function pmix_library::find(const char* name) {
  void* const found = library_ == nullptr ? nullptr : ::dlsym(library_, name);
  if (found == nullptr && missing_.empty()) missing_ = name;
  return reinterpret_cast<Function>(found);
}

std::unique_ptr<pmix_library> pmix_library::begin() {
  if (std::getenv("PMIX_RANK") == nullptr) return nullptr;
  std::unique_ptr<pmix_library> begun(new pmix_library);
  const auto fail = [](const std::string& why) {
    throw error(errc::bootstrap, "pmix: this process's launcher speaks PMIx, but " + why +
                                     "; expected a launcher that still runs, and the library of "
                                     "PMIx on each machine (or set MUSTER_RENDEZVOUS)");
  };
  if (begun->library_ == nullptr) fail(std::string(file) + " cannot be loaded");
  if (!begun->missing_.empty()) fail(std::string(file) + " has no " + begun->missing_);
  begun->has_begun_ = begun->init_(&begun->self_, nullptr, 0) == PMIX_SUCCESS;
  if (!begun->has_begun_) fail("does not answer");
  return begun;
}

pmix_library::~pmix_library() {
  if (has_begun_) finalize_(nullptr, 0);
}

pmix_proc_t pmix_library::process(pmix_rank_t rank) const noexcept {
  pmix_proc_t other = self_;
  other.rank = rank;
  return other;
}

bool pmix_library::put(const char* key, pmix_value_t value) const {
  return put_(PMIX_GLOBAL, key, &value) == PMIX_SUCCESS && commit_() == PMIX_SUCCESS;
}

std::unique_ptr<pmix_value_t, void (*)(void*)> pmix_library::get(const pmix_proc_t& of,
                                                                 const char* key,
                                                                 bool waits) const {
  const std::array now = {flag(PMIX_IMMEDIATE)};
  pmix_value_t* found = nullptr;
  const std::size_t conditions = waits ? 0 : now.size();
  const pmix_status_t status = get_(&of, key, now.data(), conditions, &found);
  return {status == PMIX_SUCCESS ? found : nullptr, &std::free};
}

bool pmix_library::meet() const {
  const std::array tell_all = {flag(PMIX_COLLECT_DATA)};
  return fence_(nullptr, 0, tell_all.data(), tell_all.size()) == PMIX_SUCCESS;
}

}  // namespace muster::launcher
