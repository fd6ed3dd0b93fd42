#include <muster/run/team.hpp>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include <muster/base/random.hpp>
#include <muster/environment/environment.hpp>
#include <muster/run/flight_recorder.hpp>
#include <muster/run/kept_operations.hpp>
#include <muster/run/mailbox.hpp>
#include <muster/run/prepare.hpp>

namespace muster {

team::team(muster::engine& where, wire::fabric& reach, muster::shape ranks, std::size_t rank,
           muster::catalog rows, const muster::machine& measured)
    : engine_(where),
      fabric_(reach),
      memory_(reach.memory()),
      links_(reach.links()),
      members_(reach.members()),
      time_(reach.time()),
      shape_(std::move(ranks)),
      rank_(rank),
      node_(shape_.ranks_of(shape_.node_of(rank))),
      node_index_(shape_.index_of(rank)),
      machine_(measured),
      selector_(shape_, machine_, rows),
      books_(memory_, node_.size()),
      kept_(std::make_unique<kept_operations>()) {
  if (node_.size() > most_ranks_a_node) {
    throw error(errc::invalid_argument, "team: a node has " + std::to_string(node_.size()) +
                                            " ranks; expected at most " +
                                            std::to_string(most_ranks_a_node));
  }
  const std::uint32_t core = shape_.place_of(rank).core;
  for (const std::size_t other : node_) {
    if (core == place::unknown) break;
    if (other != rank && shape_.place_of(other).core == core) on_this_core_.push_back(other);
  }
}

namespace {

muster::shape shape_of(const muster::shape& all, std::span<const std::size_t> members) {
  std::vector<place> places;
  places.reserve(members.size());
  for (const std::size_t rank : members) places.push_back(all.place_of(rank));
  return muster::shape(std::move(places));
}

std::uint64_t id_of(std::uint64_t parent, std::span<const std::size_t> members,
                    std::uint64_t turn) {
  std::uint64_t id = mix_bits(parent ^ mix_bits(turn + 1));
  for (const std::size_t rank : members) id = mix_bits(id ^ rank);
  return id;
}

}  // namespace

team::team(const team& of, std::unique_ptr<wire::fabric>&& reach,
           std::span<const std::size_t> members, std::size_t rank, std::uint64_t turn)
    : team(of.engine_, *reach, shape_of(of.shape_, members), rank, of.selector_.rows(),
           of.machine_) {
  selector_.select_as(of.selector_);
  id_ = id_of(of.id_, members, turn);
  arrivals_ = of.arrivals_;
  flight_ = of.flight_;
  growing_ = of.growing_;
  kept_longest_ = of.kept_longest_;
  if (flight_ != nullptr) {
    flight_->add({.id = id_, .parent = of.id_, .turn = turn, .ranks = size(), .rank = rank_});
  }
  own_fabric_ = std::move(reach);  // last: with what throws before, it stays the caller's
}

team::~team() = default;

void team::keep_flight_record(flight_recorder& recorder) noexcept {
  flight_ = &recorder;
  recorder.add({.id = id_, .parent = id_, .turn = 0, .ranks = size(), .rank = rank_});
}

mailbox& team::mail() {
  if (mail_ == nullptr) mail_ = std::make_unique<mailbox>(*this);
  return *mail_;
}

task<> team::send_bytes(std::size_t to, std::uint64_t tag, std::span<const std::byte> bytes) {
  mailbox::require_rank(*this, "send: to", to);
  return [](team& on, std::size_t peer, std::uint64_t what,
            std::span<const std::byte> from) -> task<> {
    on.pass_failure_on();
    on.require_whole();
    co_await on.mail().send(peer, {what}, from);
  }(*this, to, tag, bytes);
}

task<std::size_t> team::receive_bytes(std::size_t from, std::uint64_t tag,
                                      std::span<std::byte> bytes, std::size_t element) {
  mailbox::require_rank(*this, "receive: from", from);
  return [](team& on, std::size_t peer, std::uint64_t what, std::span<std::byte> place,
            std::size_t unit) -> task<std::size_t> {
    on.pass_failure_on();
    on.require_whole();
    const std::size_t came = co_await on.mail().receive(peer, {what}, place, unit);
    co_return came / unit;
  }(*this, from, tag, bytes, element);
}

void choose_from_environment(team& of) {
  for (std::size_t i = 0; i < collectives; ++i) {
    const auto what = static_cast<collective>(i);
    if (const char* id = environment::read(environment_name(what))) of.choose(what, id);
  }
}

prepared_call team::prepare_call(const arguments& call) {
  // Where the engine has a thread of its own, calls are made on others, too.
  if (engine_.has_own_thread() || !exists(call.what)) return prepare(*this, call);
  last_prepared& last = selector_.last(call.what);
  if (const prepared_call* found = last.find(call)) return *found;
  return last.keep(call, prepare(*this, call));
}

void team::require_whole() const {
  if (!members_.broken()) return;
  const auto why = members_.failed();
  if (why) throw error(why->code, "the team is broken: " + why->text, why->rank);
}

void team::pass_failure_on() noexcept {
  if (!members_.broken()) return;
  if (const auto why = members_.failed()) members_.fail(*why);
}

void team::revoke(std::string_view why) noexcept {
  std::string text = "rank " + std::to_string(rank_) + " revoked the team";
  if (!why.empty()) text.append(": ").append(why);
  members_.fail({.code = errc::stopped, .rank = rank_, .text = std::move(text)});
}

std::optional<error> team::failure() const {
  const auto why = members_.failed();
  if (!why) return std::nullopt;
  return error(why->code, why->text, why->rank);
}

}  // namespace muster
