// Open MPI's launcher speaks PMIx, by the system's library: what another user of that has begun in
// a process is only counted when it is begun again.
#include <dlfcn.h>
#include <pmix.h>

#include <cstdlib>
#include <string_view>

#include "tools/mpi/presence.hpp"

namespace muster::mpi {
namespace {

constexpr const char* notice = "muster.present";

/// PMIx, from its beginning to its end.
class pmix final : public notice_board {
public:
  static std::unique_ptr<notice_board> begin() {
    auto begun = std::unique_ptr<pmix>(new pmix);
    if (!begun->is_loaded() || !begun->has_put_up()) return nullptr;
    return begun;
  }
  ~pmix() override {
    if (has_begun_) finalize_(nullptr, 0);
  }
  pmix(const pmix&) = delete;
  pmix& operator=(const pmix&) = delete;

  bool has_notice_of(std::size_t rank) override {
    pmix_proc_t other = self_;
    other.rank = static_cast<pmix_rank_t>(rank);
    // All that will ever be said has been said.
    pmix_info_t now{};
    std::string_view(PMIX_IMMEDIATE).copy(now.key, PMIX_MAX_KEYLEN);
    now.value.type = PMIX_BOOL;
    now.value.data.flag = true;
    pmix_value_t* found = nullptr;
    if (get_(&other, notice, &now, 1, &found) != PMIX_SUCCESS) return false;
    std::free(found);
    return true;
  }

private:
  pmix()
      : library_(::dlopen("libpmix.so.2", RTLD_LAZY | RTLD_LOCAL)),
        init_(find<decltype(&PMIx_Init)>("PMIx_Init")),
        put_(find<decltype(&PMIx_Put)>("PMIx_Put")),
        commit_(find<decltype(&PMIx_Commit)>("PMIx_Commit")),
        get_(find<decltype(&PMIx_Get)>("PMIx_Get")),
        finalize_(find<decltype(&PMIx_Finalize)>("PMIx_Finalize")) {}

  // Never closed again: it has threads.
  template <class Function>
  Function find(const char* name) const {
    return library_ == nullptr ? nullptr : reinterpret_cast<Function>(::dlsym(library_, name));
  }

  bool is_loaded() const {
    return init_ != nullptr && put_ != nullptr && commit_ != nullptr && get_ != nullptr &&
           finalize_ != nullptr;
  }

  bool has_put_up() {
    has_begun_ = init_(&self_, nullptr, 0) == PMIX_SUCCESS;
    if (!has_begun_) return false;
    pmix_value_t here{};
    here.type = PMIX_BOOL;
    here.data.flag = true;
    return put_(PMIX_GLOBAL, notice, &here) == PMIX_SUCCESS && commit_() == PMIX_SUCCESS;
  }

  void* library_;
  decltype(&PMIx_Init) init_;
  decltype(&PMIx_Put) put_;
  decltype(&PMIx_Commit) commit_;
  decltype(&PMIx_Get) get_;
  decltype(&PMIx_Finalize) finalize_;
  pmix_proc_t self_{};
  bool has_begun_ = false;
};

}  // namespace

std::unique_ptr<notice_board> put_notice_up() {
  const bool has_launcher = std::getenv("PMIX_RANK") != nullptr;
  return has_launcher ? pmix::begin() : nullptr;
}

}  // namespace muster::mpi
