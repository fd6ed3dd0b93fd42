#pragma once

#include <mpi.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include <muster/run/arrival_log.hpp>

#include "tools/mpi/agreement.hpp"
#include "tools/mpi/call.hpp"
#include "tools/mpi/choose.hpp"
#include "tools/mpi/communicator.hpp"
#include "tools/mpi/devices.hpp"
#include "tools/mpi/driver.hpp"
#include "tools/mpi/errors.hpp"
#include "tools/mpi/guests.hpp"
#include "tools/mpi/host_memory.hpp"
#include "tools/mpi/next.hpp"
#include "tools/mpi/node.hpp"
#include "tools/mpi/pending.hpp"
#include "tools/mpi/pending_stack.hpp"
#include "tools/mpi/persistent.hpp"
#include "tools/mpi/presence.hpp"
#include "tools/mpi/report.hpp"
#include "tools/mpi/settings.hpp"
#include "tools/mpi/staging.hpp"
#include "tools/mpi/types.hpp"

namespace muster::mpi {

/// Whether Muster carried a call out, or began it, and with what it returns.
struct answer {
  bool by_muster = false;
  int code = MPI_SUCCESS;
  bool is_left = false;  ///< not by Muster, which chose to leave it, see `left_to_mpi`
};

/// What stands between a program and its MPI, from MPI_Init to MPI_Finalize.
///
/// Collective calls on communicators whose ranks share this machine are carried out by Muster; all
/// else goes to the MPI. Which it is follows from what all ranks of the call know alike.
class shim {
public:
  /// The process's own, if it takes such calls.
  static shim* taking(routine which, form how) noexcept {
    shim* const one = active().load(std::memory_order_relaxed);
    const auto at = static_cast<std::size_t>(which);
    if (one == nullptr || one->taken_[at][static_cast<std::size_t>(how)]) [[likely]]
      return one;
    one->pass({which, how});
    return nullptr;
  }

  /// All ranks of a new communicator have made its graph. It may be MPI_COMM_NULL.
  static void graph_made(MPI_Comm one);

  /// After MPI_Init, before MPI_Finalize: all processes of the program together.
  /// \param board where each said before MPI_Init that it has this library; null: nowhere
  static void begin(notice_board* board);
  static void end();

  /// \param own the settings that all processes have alike
  shim(const settings& own, const conditions& found, progress_hook hook, MPI_Comm together,
       std::unique_ptr<node> ranks);
  ~shim();
  shim(const shim&) = delete;
  shim& operator=(const shim&) = delete;

  /// The short way of a blocking call of a routine without arrays: one that came before, written
  /// alike, on the one thread that there is, where nobody wants to know more of it. What it does
  /// not take is as if it had not been asked. Inlined: so `what` is in registers, and nothing is
  /// looked at that the routine does not have.
  [[gnu::always_inline]] static answer again(const call& what) {
    shim* const one = active().load(std::memory_order_relaxed);
    if (one == nullptr || !one->has_short_way_) [[unlikely]]
      return {};
    const std::shared_ptr<communicator>* const found = one->communicators_.find_at_once(what.comm);
    if (found == nullptr) [[unlikely]]
      return {};
    communicator& on = **found;
    cached_call* const before = on.recall(what);
    if (before == nullptr || !before->is_ready()) [[unlikely]]
      return {};
    const driver::lone_entry here(one->driver_);
    on.leaving_barriers().begin(what, on.rank());
    if (task<> rest = before->again_here(what)) [[unlikely]] {
      return {true, one->go_on(std::move(rest), on, what.function)};
    }
    on.leaving_barriers().end(on.team());
    return {true, MPI_SUCCESS};
  }
  answer blocking(const call& what) {
    if (devices_.possible()) [[unlikely]]
      return blocking_anywhere(what);
    return blocking_on_host(what);
  }
  answer nonblocking(const call& what, MPI_Request* request);
  answer persistent(const call& what, MPI_Request* request);
  /// The program is about to wait for a request: if it is a nonblocking collective's, drives that
  /// to its end, which takes less than the MPI's own waiting would.
  static void awaited(MPI_Request request);
  /// See `choose_function`.
  static bool choose(arguments like, const char* algorithm, fixed_text<200>& said);

  /// The program looks at requests: completes those of collectives that have ended where the MPI's
  /// own progress cannot.
  static void looked_at();
  /// Whether waiting has to be looking time and again, as one of the requests is such a one.
  static bool needs_looks(std::span<const MPI_Request> requests);
  /// The program has started a request, perhaps of a persistent collective.
  static void started(MPI_Request request);
  /// The program frees a request. True if the MPI is not to hear of that before its operation ends.
  static bool freed(MPI_Request request);
  /// What a code of Muster's says; nothing for others.
  static std::optional<std::string> text_of(int code);
  /// The program frees an operation of its own. True if the shim will do it, when nothing can use
  /// it any more.
  static bool freed_operation(MPI_Op op);

  /// For as long as the program frees a communicator, see `communicators::begin_freeing`.
  class freeing {
  public:
    explicit freeing(MPI_Comm one);
    ~freeing();
    freeing(const freeing&) = delete;
    freeing& operator=(const freeing&) = delete;

  private:
    shim* in_;
  };

  /// For as long as the MPI carries out what Muster chose to leave to it: a rank that called
  /// something else, and waits for this one, is told so from the MPI's progress. (Where an error
  /// handler jumps out of that, it goes on looking, which costs a little and harms nobody.)
  class leaving {
  public:
    explicit leaving(const answer& how) noexcept : is_left_(how.is_left) {
      if (is_left_) begin();
    }
    ~leaving() {
      if (is_left_) left_.fetch_sub(1, std::memory_order_relaxed);
    }
    leaving(const leaving&) = delete;
    leaving& operator=(const leaving&) = delete;

  private:
    // seq_cst: see resume_hook.
    static void begin() noexcept {
      left_.fetch_add(1, std::memory_order_seq_cst);
      resume_hook();
    }

    bool is_left_;
  };

private:
  using requests = std::unordered_map<MPI_Request, pending*>;

  // In the header: each call of a collective begins with it.
  static std::atomic<shim*>& active() noexcept {
    static constinit std::atomic<shim*> one{nullptr};
    return one;
  }
  /// Those who look at it in the MPI's progress, on whichever thread.
  static guests<shim>& in_progress() noexcept;
  static void forget_in_children();
  static bool has_work();
  static progress_hook hook_in(const conditions& found);
  static void on_progress();
  /// Whether this look of the MPI's is to be one at Muster's operations, too.
  static bool is_due() noexcept;
  static void on_progress_without_mpi();

  /// With an entry of the driver: what remains of a call that has begun, which has perhaps failed.
  /// \returns what that returns
  int go_on(task<> rest, communicator& on, const char* function);
  /// A call on buffers that the CPU can use, on such as may be an accelerator's.
  answer blocking_on_host(const call& what);
  answer blocking_anywhere(const call& what);
  /// With an entry of the driver: what stands for buffers that the CPU cannot use; null where there
  /// are none, or the call is left to the MPI. \throws rejected
  std::unique_ptr<staging> stage(const call& what, communicator& on,
                                 staging::copying how = staging::copying::yes) {
    if (!devices_.possible()) [[likely]]
      return nullptr;
    return stage_if_needed(what, on, how);
  }
  std::unique_ptr<staging> stage_if_needed(const call& what, communicator& on,
                                           staging::copying how);
  /// A call that it does not take.
  void pass(kind of);
  bool is_left(const call& what, form how, communicator& on);
  /// How a call may take its place in the team's order and then be left to the MPI: taking it costs
  /// little where no thread has to be woken for it.
  leavable leavable_form(kind of) const noexcept;
  /// Whether somebody chose to leave others to the MPI: they go there at once.
  bool is_left_by_hand(kind of, const communicator& on) const;
  /// Whether a blocking call, whose communicator has a team, will take its place and be left.
  bool will_leave(const call& what, communicator& on);
  /// Whether that can be so of nonblocking calls like this one.
  bool leaves_some_requests(const call& what, const communicator& on) const;
  /// Whether it is so of this one, which then has its place: nobody waits for that.
  bool takes_place(const call& what, const std::shared_ptr<communicator>& on);
  /// Of one that has taken its place in the team's order.
  answer leave(kind of);
  /// Why what only the MPI combines cannot be combined where calls of the form are driven; or null.
  const char* mpi_may_not_combine(form how) const noexcept;
  void mark_arrivals(std::uint64_t label) noexcept {
    if (arrivals_ != nullptr) [[unlikely]]
      arrivals_->label(label);
  }
  usages report();
  /// With a blocking call on it: it is made on all its ranks, as far as it can be.
  void make_on_all(communicator& one);
  void await_made(communicator& one);
  void look();
  void start_waiting(bool (communicator::*advance)());
  void start_or_wait(pending& one);
  void start(pending& one);
  /// So that `list` cannot fail.
  void make_room();
  void list(pending& one);
  void unlist(MPI_Request request);
  /// \throws what it throws
  void carry_out(kind of, task<>&& work);
  class stopwatch;
  void note(kind of, const stopwatch& since, const muster::team& on, const arguments& what);
  task<> marked(std::uint64_t label, task<> work);
  task<> run(pending& one);
  void complete_ended();
  /// Those that the program has freed.
  void free_operations();
  void delete_done_with();
  bool has_requests() const noexcept {
    return under_way_.load(std::memory_order_relaxed) != 0 ||
           any_persistent_.load(std::memory_order_relaxed);
  }
  /// Something may still use an operation of the program's. With an entry of the driver.
  bool needs_operations() const noexcept {
    return under_way_.load(std::memory_order_relaxed) != 0 || !persistent_.empty();
  }
  bool is_under_way(MPI_Request request) const;
  void complete(pending& one);
  /// With an entry, in a call of the program's: the handler may jump out of that.
  int report_failure(MPI_Comm on, const failure& why);
  /// Of one that has no request, or a persistent one: if it has failed.
  void report_failure_of(const pending& one);
  /// What was thrown, while it is caught.
  answer refuse(const call& what) { return refuse(what.comm, what.function); }
  answer refuse(MPI_Comm on, const char* function);

  static int query(void* extra, MPI_Status* status);
  static int free(void* extra);
  static int cancel(void* extra, int complete);

  settings settings_;
  call_set taken_;     // of the enabled ones
  MPI_Comm together_;  // whose ranks are the node's: MPI_COMM_WORLD, or one of its own
  std::unique_ptr<node> node_;
  driver driver_;
  progress_hook hook_;
  bool all_have_threads_;
  types types_;
  error_codes errors_;
  tally tally_;
  std::unique_ptr<arrival_log> arrivals_;  // where a report is wanted
  communicators communicators_;
  persistent_operations persistent_;
  devices devices_;
  bool has_short_way_;  // in host memory, on the one thread there is, without a report
  host_memory host_memory_;
  requests nonblocking_;
  std::vector<requests::node_type> unused_;  // of nonblocking_, which so allocates nothing
  std::vector<MPI_Op> freed_operations_;
  std::vector<pending*> waiting_;  // for their teams, in the order of their calls
  pending_stack ended_;            // pushed where the engine is driven
  pending_stack done_with_;        // by the program, and to be deleted
  /// Of the process, so that the MPI's progress need not look at the shim where there are none.
  static inline std::atomic<std::size_t> under_way_{0};
  /// Calls that are left to the MPI just now, and looks meanwhile.
  static inline std::atomic<std::size_t> left_{0};
  static inline std::atomic<std::size_t> looks_while_left_{0};
  std::atomic<bool> any_persistent_{false};  ///< there was one
};

}  // namespace muster::mpi
