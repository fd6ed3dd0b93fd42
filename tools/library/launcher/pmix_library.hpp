#pragma once

#include <pmix.h>

#include <memory>
#include <string>

namespace muster::launcher {

/// The system's library of PMIx, begun in this process and ended with the object. Other users of it
/// here, such as an MPI, are counted: it begins with the first and ends with the last.
class pmix_library {
public:
  /// Null where no launcher speaks it to this process: `PMIX_RANK` is not set.
  /// \throws error `errc::bootstrap` where the library is not there or the launcher does not answer
  static std::unique_ptr<pmix_library> begin();
  ~pmix_library();
  pmix_library(const pmix_library&) = delete;
  pmix_library& operator=(const pmix_library&) = delete;

  /// This process, of its job.
  const pmix_proc_t& self() const noexcept { return self_; }
  pmix_proc_t process(pmix_rank_t rank) const noexcept;

  /// For all processes of the job; they see it once all have met, or ask.
  bool put(const char* key, pmix_value_t value) const;
  /// Null where there is none.
  /// \param waits for one that the process has not put yet
  std::unique_ptr<pmix_value_t, void (*)(void*)> get(const pmix_proc_t& of, const char* key,
                                                     bool waits) const;
  /// Waits for all processes of the job.
  bool meet() const;

private:
  pmix_library();
  template <class Function>
  Function find(const char* name);

  void* library_;
  std::string missing_;  // the first function that is
  decltype(&PMIx_Init) init_;
  decltype(&PMIx_Put) put_;
  decltype(&PMIx_Commit) commit_;
  decltype(&PMIx_Fence) fence_;
  decltype(&PMIx_Get) get_;
  decltype(&PMIx_Finalize) finalize_;
  pmix_proc_t self_{};
  bool has_begun_ = false;
};

}  // namespace muster::launcher
