#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <ranges>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <muster/base/error.hpp>
#include <muster/call/arguments.hpp>
#include <muster/call/elements.hpp>
#include <muster/coro/task.hpp>
#include <muster/progress/engine.hpp>
#include <muster/run/bookkeeping.hpp>
#include <muster/select/catalog.hpp>
#include <muster/select/prepared_call.hpp>
#include <muster/select/selector.hpp>
#include <muster/team/machine.hpp>
#include <muster/team/shape.hpp>
#include <muster/wire/fabric.hpp>

namespace muster {

class arrival_log;
class flight_recorder;
class kept_operations;
class mailbox;
class regrowth;

/// An ordered set of ranks that perform collectives together, as one of them sees it.
///
/// All ranks call the same collectives in the same order; any number may be in flight. Operations
/// of different teams are in no order. A team belongs to the thread that drives its engine. After a
/// failure it is broken: every further call throws what the first failure was; other teams are not,
/// unless the whole job is.
///
/// Teams made from others (see split.hpp) need no longer have those, and are destroyed when their
/// rank likes, once its operations on them have ended, but before its engine.
class team {
public:
  /// \param where    drives this rank's operations; outlives the team
  /// \param reach    how this rank reaches the others; outlives the team
  /// \param ranks    the team's shape, the same on every rank
  /// \param rank     this rank, 0 … ranks.size() - 1
  /// \param rows     the algorithms to choose from; outlive the team
  /// \param measured the same on every rank
  team(muster::engine& where, wire::fabric& reach, muster::shape ranks, std::size_t rank,
       muster::catalog rows, const muster::machine& measured);
  /// A team of some ranks of another: the same algorithms, chosen in the same way.
  /// \param reach   of the new team
  /// \param members ranks of `of`, in the new order; the same on each of them
  /// \param rank    this rank's place in that order
  /// \param turn    tells it from others that the same ranks made of `of`; the same on each
  team(const team& of, std::unique_ptr<wire::fabric>&& reach, std::span<const std::size_t> members,
       std::size_t rank, std::uint64_t turn);
  ~team();
  team(const team&) = delete;
  team& operator=(const team&) = delete;

  std::size_t rank() const noexcept { return rank_; }
  std::size_t size() const noexcept { return shape_.size(); }
  const muster::shape& shape() const noexcept { return shape_; }
  const muster::machine& machine() const noexcept { return machine_; }
  muster::engine& engine() const noexcept { return engine_; }
  /// The same on all its ranks, and another for every team of a job: 0 for the job's own.
  std::uint64_t id() const noexcept { return id_; }
  wire::fabric& fabric() const noexcept { return fabric_; }

  /// Which algorithms its calls run.
  const muster::selector& selector() const noexcept { return selector_; }
  /// See `selector::choose`.
  void choose(collective what, std::string_view text) { selector_.choose(what, text); }
  /// See `selector::select_by`. Teams made from this one from now on do likewise.
  void select_by(std::shared_ptr<const selection_table> table) {
    selector_.select_by(std::move(table));
  }

  /// Why it is broken: what every call ends with from now on, the rank at fault and a text that
  /// says more than a code can. None while it is whole.
  std::optional<error> failure() const;

  /// Breaks the team: operations under way on it, on any rank, and all later ones end with
  /// `errc::stopped`, and a text that names this rank and says `why`. For a rank that cannot go on,
  /// for a reason of the program's own, and whom the others would wait for. Other teams stay whole.
  ///
  /// Local, on the thread that drives the engine: waits for nobody, and what is under way on this
  /// rank ends when its engine is driven. Without effect on a team that is broken. Afterwards
  /// `shrink` makes another team, of all ranks that are alive.
  void revoke(std::string_view why = {}) noexcept;

  /// The most shared memory that this team can come to take, in bytes for each of its ranks.
  wire::footprint memory_bytes() const noexcept { return fabric_.footprint(); }
  /// Queue pairs and posted sends of this rank, ever, whatever the team.
  wire::traffic traffic() const noexcept { return fabric_.traffic(); }

  /// How many teams this rank has begun to make from this one before.
  std::size_t count_derived() noexcept { return derived_++; }

  /// Its ranks can agree on something once more; false where they do, or something has ended that
  /// before its end.
  bool begin_agreement() noexcept {
    if (std::exchange(is_agreeing_, true)) return false;
    ++agreements_;
    return true;
  }
  /// How often they have begun to, on each rank that has come as often.
  std::uint64_t agreements() const noexcept { return agreements_; }
  void end_agreement() noexcept { is_agreeing_ = false; }

  /// From now on its calls are recorded, and those of teams then made from it; null: no more. While
  /// no operation is in flight.
  /// \param log outlives the team, or recording
  void record_arrivals(arrival_log* log) noexcept { arrivals_ = log; }

  /// Keeps its calls on record from now on, and those of teams then made from it. While no
  /// operation is in flight.
  /// \param recorder outlives the team
  void keep_flight_record(flight_recorder& recorder) noexcept;

  /// What must go after this team and those that are then made of it.
  void keep(std::shared_ptr<const void> what) noexcept { kept_longest_ = std::move(what); }

  /// How this team and those that are then made of it become one of all ranks; null: not at all.
  /// \param how outlives them
  void grow_by(regrowth* how) noexcept { growing_ = how; }
  regrowth* growing() const noexcept { return growing_; }

  /// \throws error where the team is broken.
  void require_whole() const;
  /// Where it is, makes sure that ranks of other machines hear of it: of a rank that died on this
  /// one they may hear from nobody else. On the thread that drives the engine.
  void pass_failure_on() noexcept;

  /// Whether a rank of this node is seen to have begun the operation that this rank begins next.
  bool has_begun_next(std::size_t rank) const noexcept {
    // Sequence numbers are known modulo 2^32.
    const auto ahead = members_.called(books_.order.next_lane(), rank).sequence() -
                       static_cast<std::uint32_t>(books_.order.next());
    return static_cast<std::int32_t>(ahead) >= 0;
  }

  /// What is to be known of a call before it begins; see `prepare`. Made by whoever drives the
  /// team's engine, it is not worked out twice for like calls.
  prepared_call prepare_call(const arguments& call);

  // ---- messages

  /// Sends `data` to a rank, for its `receive` of this rank and tag. Messages of one tag come in
  /// the order in which they were sent. In no order with collectives, nor with other tags.
  ///
  /// Completes on the thread that drives the engine, when `data` may be changed: for short messages
  /// perhaps before the rank has asked for them; long ones (see `machine::zero_copy_from`) go
  /// straight to where it wants them, once it has asked. `data` stays in place until then.
  /// \throws error
  ///   - `errc::invalid_argument`: no such rank; nothing is sent;
  ///   - `errc::mismatched_call`: the rank has less room, see `receive`;
  ///   - `errc::rank_died`, `errc::rank_left`: the rank is gone;
  ///   - `errc::stopped`, `errc::deadline_exceeded`: see `with_stop`, `with_timeout`.
  ///
  /// A message that has begun to go and does not come whole breaks the team.
  template <send_buffer S>
  task<> send(std::size_t to, std::uint64_t tag, S&& data) {
    return send_bytes(to, tag, std::as_bytes(std::span(data)));
  }
  /// Receives the next message of this tag from a rank, into `data`, which may be longer.
  /// \returns elements that came. One that waits for a message that has not begun to come may be
  /// stopped, and is as if it had not been called. Otherwise as `send`; a message that is longer
  /// than `data`, or not of whole elements, is `errc::mismatched_call`.
  template <receive_buffer R>
  task<std::size_t> receive(std::size_t from, std::uint64_t tag, R&& data) {
    return receive_bytes(from, tag, std::as_writable_bytes(std::span(data)),
                         sizeof(std::ranges::range_value_t<R>));
  }

  // ---- for its operations

  /// The parts of its fabric.
  wire::node_memory& memory() const noexcept { return memory_; }
  wire::links& links() const noexcept { return links_; }
  wire::membership& members() const noexcept { return members_; }
  wire::virtual_time* time() const noexcept { return time_; }

  bookkeeping& books() noexcept { return books_; }
  mailbox& mail();
  /// How many sparse exchanges this rank has begun before.
  std::uint64_t count_sparse() noexcept { return sparse_++; }
  /// How many sequencers it has made for the team before.
  std::uint64_t count_sequencers() noexcept { return sequencers_++; }
  kept_operations& kept() noexcept { return *kept_; }
  /// Null: nobody wants to know.
  arrival_log* arrivals() const noexcept { return arrivals_; }
  /// Null where time is virtual, and where nobody has given it one.
  flight_recorder* flight() const noexcept { return flight_; }
  /// The ranks of this rank's node, and its place among them.
  std::span<const std::size_t> node() const noexcept { return node_; }
  std::size_t node_index() const noexcept { return node_index_; }
  /// The other ranks bound to this rank's core.
  std::span<const std::size_t> on_this_core() const noexcept { return on_this_core_; }

private:
  task<> send_bytes(std::size_t to, std::uint64_t tag, std::span<const std::byte> bytes);
  task<std::size_t> receive_bytes(std::size_t from, std::uint64_t tag, std::span<std::byte> bytes,
                                  std::size_t element);

  std::shared_ptr<const void> kept_longest_;  // what the fabric stands on
  muster::engine& engine_;
  std::unique_ptr<wire::fabric> own_fabric_;  // where nobody else owns it
  wire::fabric& fabric_;
  // Its parts, which every operation uses.
  wire::node_memory& memory_;
  wire::links& links_;
  wire::membership& members_;
  wire::virtual_time* time_;
  muster::shape shape_;
  std::size_t rank_;
  std::span<const std::size_t> node_;      // the ranks of this rank's node
  std::size_t node_index_;                 // this rank's place among them
  std::vector<std::size_t> on_this_core_;  // the other ranks bound to this rank's core
  muster::machine machine_;
  muster::selector selector_;
  bookkeeping books_;
  std::size_t derived_ = 0;
  std::uint64_t sparse_ = 0;
  std::uint64_t sequencers_ = 0;
  bool is_agreeing_ = false;
  std::uint64_t agreements_ = 0;
  std::uint64_t id_ = 0;
  arrival_log* arrivals_ = nullptr;
  flight_recorder* flight_ = nullptr;
  regrowth* growing_ = nullptr;
  std::unique_ptr<kept_operations> kept_;
  std::unique_ptr<mailbox> mail_;  // from when messages are first sent or received
};

/// Chooses what the environment says, for whoever composes a program. \throws as `team::choose`
void choose_from_environment(team& of);

}  // namespace muster
