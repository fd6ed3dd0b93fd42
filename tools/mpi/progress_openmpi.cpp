// Open MPI calls whoever registers from its progress loop; the two functions are part of its
// portability layer, which its own components are written with.
#include <dlfcn.h>

#include <atomic>
#include <mutex>

#include "tools/mpi/next.hpp"

namespace muster::mpi {
namespace {

using callback = int (*)();
using callback_function = int (*)(callback);
using simple_function = void (*)();

int on_progress();

/// A callback in the MPI's progress costs it a few cache lines in each of its looks, cold ones
/// where ranks share cores: it stands there only while there is work.
class hook {
public:
  bool exists() const noexcept { return add_ != nullptr; }

  void begin(const tending& tend) {
    tend_ = tend;
    resume();
  }

  void look() {
    if (!tend_.has_work()) return rest();
    idle_looks_.store(0, std::memory_order_relaxed);
    tend_.with_mpi();
  }

  void resume() noexcept {
    // seq_cst, with `rest`: there first comes to be work, here first it is no longer called; then
    // each looks at the other.
    if (is_called_.load(std::memory_order_seq_cst) || add_ == nullptr) return;
    if (tend_.has_work == nullptr) return;  // others have no such way: it is not used
    const std::lock_guard alone(changing_);
    if (is_called_.load(std::memory_order_relaxed)) return;
    idle_looks_.store(0, std::memory_order_relaxed);
    is_called_.store(add_(on_progress) == 0, std::memory_order_seq_cst);
  }

private:
  static callback_function find(const char* name) {
    return reinterpret_cast<callback_function>(::dlsym(RTLD_DEFAULT, name));
  }

  // More than a program makes between its nonblocking calls.
  static constexpr unsigned idle_looks_at_most = 1000;

  void rest() {
    // relaxed: a count lost among threads does no harm.
    const unsigned before = idle_looks_.load(std::memory_order_relaxed);
    idle_looks_.store(before + 1, std::memory_order_relaxed);
    if (before < idle_looks_at_most || remove_ == nullptr) return;
    const std::unique_lock alone(changing_, std::try_to_lock);
    if (!alone || !is_called_.load(std::memory_order_relaxed)) return;
    is_called_.store(false, std::memory_order_seq_cst);
    if (tend_.has_work() || remove_(on_progress) != 0) {
      is_called_.store(true, std::memory_order_seq_cst);
      idle_looks_.store(0, std::memory_order_relaxed);
    }
  }

  callback_function add_ = find("opal_progress_register");
  callback_function remove_ = find("opal_progress_unregister");
  tending tend_{};
  std::mutex changing_;
  std::atomic<bool> is_called_{false};
  std::atomic<unsigned> idle_looks_{0};
};

hook& the_hook() {
  // Never destroyed: the MPI looks for progress until its end, which may come after that of static
  // objects.
  static hook& one = *new hook;
  return one;
}

int on_progress() {
  the_hook().look();
  return 0;
}

void call_if_there(const char* name) {
  const auto found = reinterpret_cast<simple_function>(::dlsym(RTLD_DEFAULT, name));
  if (found != nullptr) found();
}

}  // namespace

bool has_progress_hook() { return the_hook().exists(); }

progress_hook hook_into_progress(const tending& tend, bool) {
  the_hook().begin(tend);
  return progress_hook::with_mpi;
}

void resume_hook() noexcept { the_hook().resume(); }

bool let_mpi_yield(bool may) noexcept {
  using setter = bool (*)(bool);
  static const auto set =
      reinterpret_cast<setter>(::dlsym(RTLD_DEFAULT, "opal_progress_set_yield_when_idle"));
  return set != nullptr && set(may);
}

prompt_answers::prompt_answers() noexcept { call_if_there("opal_progress_event_users_increment"); }
prompt_answers::~prompt_answers() { call_if_there("opal_progress_event_users_decrement"); }

void progress_mpi() noexcept {
  static const auto progress =
      reinterpret_cast<simple_function>(::dlsym(RTLD_DEFAULT, "opal_progress"));
  if (progress != nullptr) progress();
}

}  // namespace muster::mpi
