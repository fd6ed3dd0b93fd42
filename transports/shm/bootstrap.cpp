#include "transports/shm/bootstrap.hpp"

#include <signal.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <exception>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "transports/shm/foreign.hpp"
#include "transports/shm/handover.hpp"
#include "transports/shm/handshake.hpp"
#include "transports/shm/measure.hpp"

namespace muster::shm {
namespace {

using clock = handover::clock;

/// How the attempt ended on a rank. The weightier, the nearer to the cause.
struct outcome {
  enum weights : std::uint32_t { well, another_gave_up, another_failed, failed };
  std::uint32_t weight = well;
  std::uint32_t blamed = 0;
  fixed_text<504> why;

  std::string text() const {
    return "rank " + std::to_string(blamed) + ": " + std::string(why.view());
  }
};

/// What a rank tells rank 0 when it has connected.
struct greeting {
  bool reads_all;
};

template <class Word>
std::span<std::byte> bytes_of(Word& word) {
  return std::as_writable_bytes(std::span(&word, 1));
}

const char* address_in(const handshake& rank) {
  return reinterpret_cast<const char*>(rank.offered);
}

/// One attempt to make a job, as one of its ranks sees it.
class job_maker {
public:
  job_maker(bootstrap& among, const bootstrap_options& options)
      : among_(among), patience_(options.patience), nobody_sleeps_(options.nobody_sleeps) {}

  job run() {
    const outcome began = exchange_handshakes();
    std::optional<job> made;
    agree(began.weight == outcome::well ? outcome_of([&] { made = make(); }) : began);
    return std::move(*made);
  }

private:
  std::size_t self() const { return among_.rank(); }

  template <class Deed>
  outcome outcome_of(Deed deed) const {
    try {
      deed();
      return {};
    } catch (const error& why) {
      const bool own = why.rank() == no_rank || why.rank() == self();
      const bool gave_up = why.code() == errc::rank_left;
      return {own       ? outcome::failed
              : gave_up ? outcome::another_gave_up
                        : outcome::another_failed,
              static_cast<std::uint32_t>(own ? self() : why.rank()), fixed_text<504>(why.text())};
    } catch (const std::exception& why) {
      return {outcome::failed, static_cast<std::uint32_t>(self()), fixed_text<504>(why.what())};
    }
  }

  outcome exchange_handshakes() {
    handshake mine;
    const outcome how = outcome_of([&] {
      offered_.assign(self() == 1 ? offered_bytes : 1, 1);
      mine = describe_this_process();
      mine.offered = reinterpret_cast<std::uint64_t>(offered_.data());
      if (self() != 0 || among_.size() == 1) return;
      door_.emplace(among_.size());
      mine.listens_as = fixed_text<40>(door_->name());
    });
    known_ = tell_all(among_, mine);
    return how;
  }

  /// Throws on every rank if the attempt failed on any.
  void agree(const outcome& mine) const {
    const std::vector<outcome> all = tell_all(among_, mine);
    const outcome& worst = *std::ranges::max_element(all, {}, &outcome::weight);
    if (worst.weight == outcome::well) return;
    std::string text = "bootstrap a job: " + worst.text();
    const outcome& defence = all[worst.blamed];
    if (defence.weight != outcome::well && defence.blamed != worst.blamed) {
      text += ", which says: " + defence.text();
    }
    throw error(errc::bootstrap, text, worst.blamed);
  }

  job make() {
    check_handshakes(known_);
    return self() == 0 ? lead() : follow();
  }

  bool reads_all() const {
    return std::ranges::all_of(known_, [](const handshake& rank) {
      char byte = 0;
      return read_process(rank.process, address_in(rank), &byte, 1);
    });
  }

  // ---- rank 0

  job lead() {
    const auto deadline = clock::now() + patience_;
    bool all_read = reads_all();
    std::map<std::size_t, handover> others;
    if (door_) others = receive_others(std::move(*door_), deadline, all_read);
    job made = job::create(options_for_job(all_read));
    for (const auto& [rank, other] : others) {
      other.send_descriptors(made.descriptors_for(rank), deadline);
    }
    return made;
  }

  static constexpr auto a_moment = std::chrono::milliseconds(10);

  /// Closes the door behind them, or when one is missing.
  std::map<std::size_t, handover> receive_others(listener door, clock::time_point deadline,
                                                 bool& all_read) const {
    std::map<std::size_t, handover> others;
    while (others.size() + 1 < known_.size()) {
      std::optional<descriptor> next = door.next(std::min(deadline, clock::now() + a_moment));
      if (!next && clock::now() >= deadline) blame_missing(others);
      if (!next) {
        blame_dead(others);
        continue;
      }
      const std::size_t rank = rank_of(handover::peer_of(*next));
      if (rank == 0 || others.contains(rank)) continue;
      const auto other = others.try_emplace(rank, std::move(*next), rank).first;
      greeting told{};
      other->second.receive(bytes_of(told), deadline);
      all_read = all_read && told.reads_all;
    }
    return others;
  }

  /// Whoever has ended meanwhile does not connect.
  void blame_dead(const std::map<std::size_t, handover>& came) const {
    for (std::size_t rank = 1; rank < known_.size(); ++rank) {
      if (came.contains(rank) || ::kill(known_[rank].process, 0) == 0 || errno != ESRCH) continue;
      throw error(errc::bootstrap, "ended before it connected to rank 0", rank);
    }
  }

  [[noreturn]] void blame_missing(const std::map<std::size_t, handover>& came) const {
    std::size_t missing = 1;
    while (came.contains(missing)) ++missing;
    throw error(errc::bootstrap,
                "did not connect to rank 0 within " + std::to_string(patience_.count()) + " ms",
                missing);
  }

  /// 0: none of the others. Sockets' names can be listed, so anybody may try to connect.
  std::size_t rank_of(const ucred& process) const {
    for (std::size_t rank = 1; rank < known_.size(); ++rank) {
      if (is(process, known_[rank])) return rank;
    }
    return 0;
  }

  job_options options_for_job(bool all_read) const {
    job_options options;
    for (const handshake& rank : known_) options.places.push_back(rank.where);
    options.one_process = known_.size() == 1;
    options.nobody_sleeps = nobody_sleeps_;
    const bool reads = all_read && !options.one_process;
    const handshake& other = known_[reads ? 1 : 0];
    options.measured = measure_reading(other.process, reads ? address_in(other) : nullptr);
    options.measured.processors = processors_of(known_);
    return options;
  }

  // ---- the others

  job follow() const {
    const std::string name(known_[0].listens_as.view());
    if (name.empty()) throw error(errc::bootstrap, "listens to nobody", 0);
    const bool all_read = reads_all();
    // Rank 0 gives up first, and says for whom it waited.
    const auto deadline = clock::now() + 2 * patience_;
    const handover first = handover::connect(name, 0, deadline);
    if (!is(first.peer(), known_[0])) throw error(errc::bootstrap, "another process listens", 0);
    greeting mine{all_read};
    first.send(bytes_of(mine), deadline);
    std::vector<descriptor> got = first.receive_descriptors(deadline);
    if (got.size() != known_.size() + 2) throw error(errc::bootstrap, "sends too little", 0);
    segment control = segment::attach(std::move(got[0]));
    segment node = segment::attach(std::move(got[1]));
    std::vector<doorbell> bells;
    for (descriptor& each : std::span(got).subspan(2)) bells.emplace_back(each.release());
    return job::attach(self(), std::move(control), std::move(node), std::move(bells));
  }

  bootstrap& among_;
  std::chrono::milliseconds patience_;
  bool nobody_sleeps_;
  std::vector<char> offered_;
  std::optional<listener> door_;  // rank 0's
  std::vector<handshake> known_;
};

}  // namespace

job make_job(bootstrap& among, const bootstrap_options& options) {
  let_others_read();
  return job_maker(among, options).run();
}

}  // namespace muster::shm
