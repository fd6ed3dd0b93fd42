#include "transports/verbs/connection.hpp"

#include <sched.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <utility>

#include <muster/base/copy_bytes.hpp>
#include <muster/base/error.hpp>

#include "transports/stream/connections.hpp"
#include "transports/stream/links.hpp"
#include "transports/tcp/endpoint.hpp"
#include "transports/tcp/socket.hpp"

namespace muster::verbs {
namespace {

using clock = std::chrono::steady_clock;

/// Of a long message: what one request writes.
constexpr std::size_t shortest_piece = std::size_t{64} << 10;
constexpr std::size_t longest_piece = std::size_t{256} << 10;
/// Of a long message that goes in frames.
constexpr std::size_t longest_body_frame = std::size_t{1} << 10;
/// By one queue pair at once: enough to keep it busy, and the others get their share.
constexpr std::size_t most_pieces = 2;
/// Packets posted with one doorbell.
constexpr std::size_t most_at_once = 7;

/// Before a queue pair is made anew.
constexpr std::chrono::milliseconds pause_beside_others(1000);
constexpr std::chrono::milliseconds pause_alone(100);
/// How long the peer may take to let go of memory that is withdrawn, before it is made to.
constexpr std::chrono::milliseconds patience(100);
/// Where no silence ends a connection: how long it may be without a queue pair.
constexpr std::chrono::seconds longest_break(60);

stream::frame frame_of(const link_name& whose) noexcept {
  const stream::frame made{.team = whose.team,
                           .from = whose.from,
                           .lane = whose.lane,
                           .what = stream::frame::kind::invitation,
                           .taken = 0,
                           .bytes = 0};
  return made;
}

template <class T>
std::span<const std::byte> bytes_of(const T& one) noexcept {
  return std::as_bytes(std::span(&one, 1));
}

}  // namespace

connection::connection(stream::connections& of, std::size_t peer, adapter& by, tcp::endpoint& at,
                       std::size_t window)
    : peer_connection(of, peer),
      by_(by),
      at_(at),
      window_(window),
      memory_(by, 2 * window),
      subflows_(by.paths_to(peer).size()),
      out_(memory_.outgoing()),
      in_(memory_.incoming()),
      sockets_(at.subflows_to(peer)) {}

connection::~connection() {
  for (subflow& each : subflows_) {
    if (each.pair) by_.remove(each.number);
  }
  by_.forget(*this);
}

// ---- for the endpoint

void connection::open(std::size_t which, descriptor socket, tcp::registration watch) noexcept {
  sockets_.open(which, std::move(socket), std::move(watch));
  flush();
}

void connection::close() noexcept {
  by_.take_completions();  // what the peer had before it left has left
  is_closed_ = true;
  for (subflow& each : subflows_) {
    if (!each.pair) continue;
    each.pair.reset();
    by_.remove(each.number);
    each.is = subflow::state::none;
  }
  waiting_.clear();
  again_.clear();
  bodies_.clear();
  to_confirm_.clear();
  sockets_.close_all();
}

void connection::note(std::size_t socket, bool readable, bool writable, bool ends) noexcept {
  sockets_.socket(socket).note(readable, writable, ends);
  if (writable) sockets_.flush();
}

bool connection::advance() noexcept {
  read_control();
  // The peer's last words have come before its end, but perhaps after the last look.
  if (sockets_.has_ended()) by_.take_completions();
  const bool any = pull();
  flush();
  return std::exchange(has_heard_, false) || any;
}

bool connection::is_active() const noexcept {
  return owes() || sockets_.is_readable() || sockets_.has_ended() || in_.has_more_than(front());
}

bool connection::has_delivered() noexcept {
  bool all = true;
  for (subflow& each : subflows_) {
    if (each.is == subflow::state::stopped) all = false;
    if (!each.pair || each.posted == each.complete) continue;
    all = false;
    if (each.can_post() && each.last_signalled != each.posted && each.has_room()) {
      post_nothing(each);
    }
  }
  return is_closed_ || all;
}

bool connection::tend() noexcept {
  if (is_closed_ || !is_open()) return false;
  const auto now = clock::now();
  bool watches = tend_sockets();
  // Where nothing is to be said and nothing works it can wait.
  const bool is_needed = any_open() || has_work();
  for (std::size_t i = 0; i < subflows_.size() && is_needed; ++i) {
    const subflow& one = subflows_[i];
    if (one.is != subflow::state::none || one.retry == subflow::moment{}) continue;
    watches = true;
    if (now >= one.retry) offer(i);
  }
  return watches;
}

/// A socket that carries nothing is given up while another does, and made anew.
bool connection::tend_sockets() noexcept {
  if (sockets_.size() == 1) return false;  // and the system need not be asked
  const auto how = [this](std::size_t i) { return tcp::delivery_of(sockets_.socket(i).get()); };
  bool any_lives = false;
  for (std::size_t i = 0; i < sockets_.size(); ++i) {
    any_lives = any_lives || (is_open(i) && how(i) != tcp::delivery::stalled);
  }
  bool watches = false;
  for (std::size_t i = 0; i < sockets_.size(); ++i) {
    if (is_open(i) && any_lives && how(i) == tcp::delivery::stalled) sockets_.close(i);
    watches = watches || !is_open(i) || how(i) != tcp::delivery::complete;
    if (!is_open(i)) at_.begin_connecting(*this, i);
  }
  return watches;
}

// ---- to the peer

bool connection::has_room(std::size_t bytes) noexcept {
  if (!is_open()) connect();
  return !is_closed_ && out_.has_room(sizeof(stream::frame) + bytes);
}

void connection::connect() noexcept {
  for (std::size_t i = 0; i < sockets_.size() && !is_closed_; ++i) at_.begin_connecting(*this, i);
}

void connection::send(const stream::frame& what, std::span<const std::byte> head,
                      std::span<const std::byte> body) noexcept {
  stage({bytes_of(what), head, body});
  flush();
}

void connection::stage(std::initializer_list<std::span<const std::byte>> frames) noexcept {
  const auto packet = out_.add(frames);
  waiting_.push(
      {.at = packet.at, .bytes = packet.bytes, .landing = 0, .before = {}, .requests = 0});
}

bool connection::has_sent_all() noexcept { return is_closed_ || !has_work(); }

std::size_t connection::put(stream::link& by, stream::frame what, std::span<const std::byte> head,
                            std::span<const std::byte> body) noexcept {
  stage({bytes_of(what), head});
  const std::size_t length = what.bytes;
  outgoing_body next{.by = &by,
                     .name = what,
                     .number = by.bodies_put() - 1,
                     .bytes = body,
                     .to = {},
                     .from = nullptr};
  by.take_token(std::as_writable_bytes(std::span(&next.to, 1)));
  if (next.to.address != 0) next.from = by_.hold(body, registrar::access::read);
  bodies_.push_back(std::move(next));
  flush();
  return length;
}

std::shared_ptr<void> connection::open_place(stream::link&, std::uint64_t,
                                             std::span<std::byte> place,
                                             std::span<std::byte> token) noexcept {
  place_token made{};
  const auto held = by_.hold(place, registrar::access::write);
  if (held != nullptr) {
    made.address = reinterpret_cast<std::uintptr_t>(place.data());
    for (std::size_t i = 0; i < subflows_.size(); ++i) made.keys[i] = held->remote_key(rail_of(i));
  }
  std::memcpy(token.data(), &made, sizeof made);
  return held;
}

// ---- what is posted

bool connection::has_work() const noexcept {
  return !waiting_.empty() || !again_.empty() ||
         std::ranges::any_of(bodies_, [](const auto& one) { return !one.has_begun_all(); });
}

// Postings take turns: whichever queue pair's turn it is takes the next, if it has room.
bool connection::flush() noexcept {
  if (is_closed_) return true;
  sockets_.flush();
  if (!is_open()) return !has_work();
  stage_body_frames();
  if (!has_work()) return true;
  offer_all();
  for (std::size_t idle = 0; idle < subflows_.size();) {
    subflow& one = subflows_[turn_];
    idle = one.can_post() && post_some(one) ? 0 : idle + 1;
    if (++turn_ == subflows_.size()) turn_ = 0;
  }
  return !has_work();
}

bool connection::post_some(subflow& by) noexcept {
  request_chain chain;
  const std::size_t most = subflows_.size() == 1 ? most_at_once : 1;
  for (std::size_t i = 0; i < most && by.has_room() && by.may_notify(); ++i) {
    posting next;
    if (!next_posting(by, next)) break;
    add(chain, by, next);
  }
  if (chain.size() == 0) return false;
  post(by, chain);
  return true;
}

bool connection::next_posting(subflow& by, posting& next) noexcept {
  for (auto* const queue : {&again_, &waiting_}) {
    if (queue->empty()) continue;
    next = queue->front();
    queue->pop();
    return true;
  }
  return begin_piece(by, next);
}

bool connection::begin_piece(subflow& by, posting& next) noexcept {
  const auto found = std::ranges::find_if(bodies_, [](const outgoing_body& one) {
    return !one.goes_in_frames() && !one.has_begun_all();
  });
  const std::size_t told = sizeof(stream::frame) + sizeof(stream::landing);
  if (found == bodies_.end() || by.pieces == most_pieces || !out_.has_room(told)) return false;
  const std::size_t share =
      std::clamp(found->bytes.size() / subflows_.size(), shortest_piece, longest_piece);
  const std::uint64_t end = std::min<std::uint64_t>(found->bytes.size(), found->begun + share);
  const stream::landing landing{.body = found->number, .bytes = end - found->begun};
  stream::frame head = found->name;
  head.what = stream::frame::kind::landed;
  head.bytes = sizeof landing;
  const auto packet = out_.add({bytes_of(head), bytes_of(landing)});
  next = {.at = packet.at,
          .bytes = packet.bytes,
          .landing = sizeof(packet_head) + sizeof head,
          .before = {.by = found->by, .body = found->number, .begin = found->begun, .end = end},
          .requests = 0};
  found->begun = end;
  return true;
}

// In their order, and after what the peer writes into its memory by itself: a frame's bytes go into
// the first place that is not full.
void connection::stage_body_frames() noexcept {
  while (!bodies_.empty() && bodies_.front().goes_in_frames()) {
    outgoing_body& body = bodies_.front();
    while (!body.has_begun_all()) {
      const std::size_t bytes =
          std::min<std::size_t>(longest_body_frame, body.bytes.size() - body.begun);
      if (!out_.has_room(sizeof(stream::frame) + bytes)) return;
      stream::frame head = body.name;
      head.what = stream::frame::kind::body;
      head.bytes = static_cast<std::uint32_t>(bytes);
      stage({bytes_of(head), body.bytes.subspan(body.begun, bytes)});
      body.landed = body.begun += bytes;
    }
    end_bodies();
  }
}

void connection::add(request_chain& chain, subflow& by, posting next) noexcept {
  if (next.before.by != nullptr) add_piece(chain, by, next.before);
  add_packet(chain, by, next);
  if (next.before.by != nullptr) {
    ++by.pieces;
    chain.signal();
    by.last_signalled = by.posted;
  } else {
    signal_if_due(chain, by);
  }
  next.requests = by.posted;
  by.under_way.push(next);
}

/// Those that are not signalled are known to be complete when a later one is.
void connection::signal_if_due(request_chain& chain, subflow& by) noexcept {
  if (by.posted - by.last_signalled < queue_pair::sends / 4) return;
  chain.signal();
  by.last_signalled = by.posted;
}

void connection::add_piece(request_chain& chain, subflow& by, const piece& part) noexcept {
  const outgoing_body& body = *find(part.by, part.body);
  const std::size_t which = index_of(by);
  chain.write(body.bytes.subspan(part.begin, part.end - part.begin),
              body.from->local_key(rail_of(which)),
              {body.to.address + part.begin, body.to.keys[which]}, next_request(by), 0);
  by_.count().bytes += part.end - part.begin;
}

void connection::add_packet(request_chain& chain, subflow& by, const posting& next) noexcept {
  packet_head& head = out_.head(next.at);
  head.consumed = told_ = in_.consumed();
  head.received = by.told = by.posted_again();
  const std::size_t rail = rail_of(index_of(by));
  chain.write(out_.bytes_of({next.at, next.bytes}), memory_.region().local_key(rail),
              {by.peer.stream.address + next.at % memory_.capacity(), by.peer.stream.key},
              next_request(by), by.pair->most_inline());
  chain.notify(notice::of_packet(next.at, next.bytes));
  ++by.notices;
  by_.count().bytes += next.bytes;
}

std::uint64_t connection::next_request(subflow& by) noexcept {
  ++by.posted;
  return adapter::request_name(by.number, by.posted);
}

void connection::post(subflow& by, request_chain& chain) noexcept {
  last_used_ = by_.moment();
  ++by_.count().doorbells;
  by_.count().requests += chain.size();
  if (!by.pair->post(chain)) by_.report(by.number, "it takes no requests");
}

void connection::post_credit(subflow& by) noexcept {
  const std::size_t which = index_of(by);
  credit& word = memory_.credits()[reach::most_rails + which];
  word = {.consumed = in_.consumed(), .received = by.posted_again()};
  told_ = word.consumed;
  by.told = word.received;
  request_chain chain;
  const std::size_t rail = rail_of(which);
  chain.write(bytes_of(word), memory_.region().local_key(rail),
              {by.peer.credits.address + which * sizeof word, by.peer.credits.key},
              next_request(by), by.pair->most_inline());
  chain.notify({.what = notice::kind::credit});
  by_.count().bytes += sizeof word;
  signal_if_due(chain, by);
  ++by.notices;
  post_alone(by, chain);
}

/// Completes when all before it has.
void connection::post_nothing(subflow& by) noexcept {
  request_chain chain;
  chain.write({}, 0, by.peer.credits, next_request(by), 0);
  chain.signal();
  by.last_signalled = by.posted;
  post_alone(by, chain);
}

void connection::post_alone(subflow& by, request_chain& chain) noexcept {
  by.under_way.push({.at = 0, .bytes = 0, .landing = 0, .before = {}, .requests = by.posted});
  post(by, chain);
}

void connection::tell_credits() noexcept {
  for (subflow& each : subflows_) {
    const bool owes = in_.consumed() - told_ >= memory_.capacity() / 4 || each.owes_credit();
    if (owes && each.can_post() && each.has_room()) post_credit(each);
  }
}

connection::outgoing_body* connection::find(const stream::link* by, std::uint64_t number) noexcept {
  const auto found = std::ranges::find_if(
      bodies_, [&](const outgoing_body& one) { return one.by == by && one.number == number; });
  return found == bodies_.end() ? nullptr : &*found;
}

void connection::end_piece(const piece& part) noexcept {
  outgoing_body* const body = find(part.by, part.body);
  if (body != nullptr) body->landed += part.end - part.begin;
  end_bodies();
}

void connection::end_bodies() noexcept {
  while (!bodies_.empty() && bodies_.front().landed == bodies_.front().bytes.size() &&
         bodies_.front().has_begun_all()) {
    bodies_.front().by->body_has_left();
    bodies_.pop_front();
  }
}

// ---- what has come

void connection::note_notice(std::size_t which, std::uint32_t immediate) noexcept {
  subflow& by = subflows_[which];
  if (is_closed_) return;
  has_heard_ = true;
  last_used_ = by_.moment();
  at_.list(*this);
  take_notice(by);
  const notice what = notice::of(immediate);
  if (what.what == notice::kind::credit) {
    const credit word = memory_.credits()[which];
    return note_peer(by, word.consumed, word.received);
  }
  const auto head = what.what == notice::kind::packet ? in_.note(what) : std::nullopt;
  if (!head) return by_.report_refusal(by.number, "a notice that cannot be");
  note_peer(by, head->consumed, head->received);
}

// A receive is there again before the peer hears that one was taken.
void connection::take_notice(subflow& by) noexcept {
  constexpr std::uint32_t at_once = 16;
  ++by.taken;
  if (++by.receives_owed < at_once) return;
  if (!by.pair->post_receives(by.receives_owed)) {
    return by_.report(by.number, "it takes no receives");
  }
  by.receives_owed = 0;
}

void connection::note_peer(subflow& by, std::uint64_t consumed, std::uint32_t taken) noexcept {
  const std::uint32_t more = taken - by.taken_there;
  // What came by another queue pair, or before, may say less.
  if (more <= by.notices - by.taken_there) by.taken_there = taken;
  if (!out_.note_consumed(consumed)) {
    by_.report_refusal(by.number, "word of what was never sent");
  }
}

void connection::note_complete(std::size_t which, std::uint32_t request) noexcept {
  subflow& by = subflows_[which];
  const std::uint64_t more = (request - by.complete) & adapter::request_bits;
  if (more > by.posted - by.complete) return;
  by.complete += more;
  has_heard_ = true;
  at_.list(*this);
  while (!by.under_way.empty() && by.under_way.front().requests <= by.complete) {
    const posting done = by.under_way.front();
    by.under_way.pop();
    if (done.before.by == nullptr) continue;
    --by.pieces;
    end_piece(done.before);
  }
  if (!to_confirm_.empty()) confirm_withdrawals();
  if (by.is == subflow::state::tried) note_open(by);
}

std::size_t connection::receive(std::span<std::byte> to) noexcept {
  const std::size_t count = std::min(to.size(), in_.unread());
  in_.peek(to.first(count));
  in_.skip(count);
  return count;
}

void connection::refuse(const stream::frame& next) noexcept {
  refuse("a frame of kind " + std::to_string(static_cast<std::uint32_t>(next.what)) + ", " +
         std::to_string(next.bytes) + " bytes");
}

void connection::refuse(const std::string& what) noexcept {
  in_.clear();
  if (!is_closed_) at_.lose(*this, "it sent what cannot be: " + what);
}

// ---- queue pairs

std::size_t connection::rail_of(std::size_t which) const noexcept {
  return by_.paths_to(peer())[which].rail;
}

std::size_t connection::index_of(const subflow& one) const noexcept {
  return static_cast<std::size_t>(&one - subflows_.data());
}

std::string connection::name_of(std::size_t which) const {
  const path& by = by_.paths_to(peer())[which];
  return by_.at(by.rail).name() + " to " + std::string(by.to.name.view());
}

bool connection::any_open() const noexcept {
  return std::ranges::any_of(subflows_, &subflow::can_post);
}

// Those that never were, or rest. One that failed has its time.
void connection::offer_all() noexcept {
  for (std::size_t i = 0; i < subflows_.size(); ++i) {
    const subflow& one = subflows_[i];
    if (one.is == subflow::state::none && one.retry == subflow::moment{}) offer(i);
  }
}

/// A queue pair, for which others may have to rest. \throws error `errc::resource`
void connection::make_pair(std::size_t which) {
  subflow& one = subflows_[which];
  one.number = by_.add(*this, which);
  try {
    one.pair.emplace(by_.at(rail_of(which)), adapter::notice_name(one.number));
  } catch (const error&) {
    by_.remove(one.number);
    throw;
  }
}

void connection::offer(std::size_t which) noexcept {
  subflow& one = subflows_[which];
  if (one.is != subflow::state::none || !is_open()) return;
  if (!by_.at(rail_of(which)).is_up()) {
    one.why_lost = name_of(which) + ": the port is down";
    return note_failed(one);
  }
  try {
    make_pair(which);
  } catch (const error& why) {
    // Other ranks have queue pairs of the same device.
    by_.make_room_beside(*this);
    return note_shortage(one, why.what());
  }
  one.begin();
  one.is = subflow::state::offered;
  one.is_peer_ready = false;
  memory_.credits()[which] = {};
  const std::uint32_t key = memory_.region().remote_key(rail_of(which));
  const queue_pair_offer made{
      .at = one.pair->address(),
      .stream = {reinterpret_cast<std::uintptr_t>(memory_.incoming().base), key},
      .credits = {reinterpret_cast<std::uintptr_t>(memory_.credits()), key},
      .capacity = memory_.capacity()};
  sockets_.say(control::kind::offer, which, bytes_of(made));
}

void connection::join(std::size_t which, const queue_pair_offer& peer) noexcept {
  subflow& one = subflows_[which];
  if (peer.capacity != memory_.capacity()) return refuse("a ring of another length");
  if (one.is == subflow::state::stopped) return;  // as the peer is about to hear
  offer(which);
  if (one.is != subflow::state::offered) {
    sockets_.say(control::kind::decline, which, bytes_of(fixed_text<96>(one.why_lost)));
    return;
  }
  one.peer = peer;
  if (const int failed = one.pair->connect(peer.at); failed != 0) {
    return stop(which, name_of(which) + ": " + std::strerror(failed));
  }
  one.is = subflow::state::joined;
  sockets_.say(control::kind::ready, which);
  open_if_ready(one);
}

void connection::open_if_ready(subflow& one) noexcept {
  if (one.is != subflow::state::joined || !one.is_peer_ready) return;
  if (one.was_lost) {
    one.is = subflow::state::tried;
    return post_nothing(one);
  }
  note_open(one);
  flush();
}

void connection::note_open(subflow& one) noexcept {
  one.is = subflow::state::open;
  one.was_lost = false;
  one.retry = {};
  broken_since_ = {};
  by_.note_carries(rail_of(index_of(one)));
}

// Somebody may have to rest before there can be one: that is no failure.
void connection::note_shortage(subflow& one, std::string_view why) noexcept {
  one.is = subflow::state::none;
  one.why_lost = why;
  one.retry = clock::now() + pause_alone;
  at_.tend_soon();
}

// The peer is lost when for long each attempt has failed. That it does not answer is for its
// sockets and for heartbeats to judge.
void connection::note_failed(subflow& one) noexcept {
  const auto now = clock::now();
  one.was_lost = true;
  one.retry = now + (any_open() ? pause_beside_others : pause_alone);
  at_.tend_soon();
  if (!std::ranges::all_of(subflows_, &subflow::was_lost)) return;
  if (broken_since_ == subflow::moment{}) broken_since_ = now;
  const auto longest = at_.timeout().count() != 0 ? clock::duration(at_.timeout()) : longest_break;
  if (now - broken_since_ < longest) return;
  at_.lose(*this, "no queue pair to it works: " + one.why_lost);
}

void connection::lose(std::size_t which, std::string_view why) noexcept {
  subflow& one = subflows_[which];
  if (is_closed_ || !one.pair) return;
  ++by_.count().lost;
  const std::string what = name_of(which) + ": " + std::string(why);
  by_.complain(rail_of(which), what);
  stop(which, what);
}

void connection::lose_rail(std::size_t rail, std::string_view why) noexcept {
  for (std::size_t i = 0; i < subflows_.size(); ++i) {
    if (rail_of(i) == rail) lose(i, why);
  }
}

bool connection::rest() noexcept {
  bool any = false;
  if (has_work() || !bodies_.empty()) return false;
  for (std::size_t i = 0; i < subflows_.size(); ++i) {
    if (!subflows_[i].pair || !subflows_[i].can_post()) continue;
    stop(i, "");
    any = true;
  }
  return any;
}

void connection::stop(std::size_t which, std::string_view why) noexcept {
  subflow& one = subflows_[which];
  if (one.is == subflow::state::stopped) return;
  if (one.pair) {
    one.pair->stop();
    by_.take_completions();  // what came until now has come, and the peer is told so
    one.pair.reset();
    by_.remove(one.number);
  }
  one.is = subflow::state::stopped;
  one.why_lost = why;
  const std::vector<std::uint64_t> arrived = in_.arrived();
  const arrived_report report{
      .why = fixed_text<96>(why), .consumed = in_.consumed(), .packets = arrived.size()};
  sockets_.say(control::kind::stopped, which, bytes_of(report), std::as_bytes(std::span(arrived)));
}

void connection::end(std::size_t which, std::span<const std::byte> bytes) noexcept {
  arrived_report report;
  if (!take(bytes, report) || bytes.size() % sizeof(std::uint64_t) != 0 ||
      bytes.size() / sizeof(std::uint64_t) != report.packets) {
    return refuse("a report of another length than it says");
  }
  std::vector<std::uint64_t> arrived(report.packets);
  copy_bytes(std::as_writable_bytes(std::span(arrived)).data(), bytes.data(), bytes.size());
  std::ranges::sort(arrived);
  if (!out_.note_consumed(report.consumed)) return refuse("word of what was never sent");
  stop(which, report.why.view());
  for (const link_name& whose : to_confirm_) {
    if (const stream::link* const link = find(whose)) forget_bodies(*link);
  }
  subflow& one = subflows_[which];
  for (; !one.under_way.empty(); one.under_way.pop()) {
    repeat(one.under_way.front(), arrived);
  }
  one.is = subflow::state::none;
  if (!one.why_lost.empty()) note_failed(one);
  if (!to_confirm_.empty()) confirm_withdrawals();
  flush();
}

void connection::repeat(const posting& one, std::span<const std::uint64_t> arrived) noexcept {
  if (one.bytes == 0) return;
  if (out_.is_consumed(one.at) || std::ranges::binary_search(arrived, one.at)) {
    if (one.before.by != nullptr) end_piece(one.before);
    return;
  }
  ++by_.count().repeated;
  again_.push(one);
}

// ---- what the peer says by the pair's sockets

void connection::read_control() noexcept {
  control head;
  std::span<const std::byte> bytes;
  while (!is_closed_ && sockets_.is_readable() && sockets_.read(head, bytes)) {
    has_heard_ = true;
    if (head.subflow >= subflows_.size()) return refuse("word of a queue pair that is not");
    obey(head, bytes);
  }
  end_if_broken();
}

void connection::end_if_broken() noexcept {
  using enum control_channel::fault;
  if (is_closed_) return;
  switch (sockets_.what_is_wrong()) {
    case none:
      return;
    case too_long:
      return refuse("a message that is too long");
    case out_of_turn:
      return refuse("a message out of turn");
    case unheard:
      in_.clear();
      return at_.lose(*this, "it does not read what it is told: " +
                                 std::to_string(control_channel::most_unheard) + " messages wait");
  }
}

void connection::obey(const control& head, std::span<const std::byte> bytes) noexcept {
  subflow& one = subflows_[head.subflow];
  queue_pair_offer offered;
  link_name whose;
  fixed_text<96> why;
  switch (head.what) {
    case control::kind::offer:
      if (take(bytes, offered)) return join(head.subflow, offered);
      break;
    case control::kind::ready:
      one.is_peer_ready = true;
      return open_if_ready(one);
    case control::kind::decline:
      if (!take(bytes, why)) break;
      if (one.is != subflow::state::offered) return;  // it was stopped meanwhile
      by_.remove(one.number);
      one.pair.reset();
      return note_shortage(one, why.view());
    case control::kind::stopped:
      return end(head.subflow, bytes);
    case control::kind::withdraw:
      if (take(bytes, whose)) return obey_withdraw(whose);
      break;
    case control::kind::withdrawn:
      if (take(bytes, whose) && awaited_ && whose == *awaited_) awaited_.reset();
      return;
    case control::kind::heard:
      break;  // the channel's own
  }
  refuse("a message of kind " + std::to_string(static_cast<unsigned>(head.what)));
}

// ---- withdrawing

void connection::withdraw(stream::link& by) noexcept {
  if (is_inherited()) return;
  stop_reading(by);
  if (by.has_places()) stop_writing_to(by);
}

bool connection::reads(const stream::link& by) const noexcept {
  return std::ranges::any_of(subflows_,
                             [&](const subflow& one) { return one.pair && one.has_piece_of(by); });
}

// Most of it is complete in a moment. Where it is not, its queue pair is ended: no device reads
// what is not there.
void connection::stop_reading(const stream::link& by) noexcept {
  const auto deadline = clock::now() + patience;
  while (reads(by) && clock::now() < deadline) by_.take_completions();
  for (std::size_t i = 0; i < subflows_.size(); ++i) {
    if (subflows_[i].pair && subflows_[i].has_piece_of(by)) {
      stop(i, name_of(i) + ": the peer takes nothing");
    }
  }
  forget_bodies(by);
  std::erase_if(bodies_, [&](const outgoing_body& one) { return one.by == &by; });
}

/// What is under way of them goes on.
void connection::forget_bodies(const stream::link& by) noexcept {
  for (outgoing_body& each : bodies_) {
    if (each.by == &by) each.bytes = each.bytes.first(each.begun);
  }
  const auto cancel_all = [&](ring_queue<posting>& queue) {
    for (std::size_t i = 0; i < queue.size(); ++i) {
      if (queue.at(i).before.by == &by) cancel(queue.at(i));
    }
  };
  cancel_all(again_);
  for (subflow& each : subflows_) {
    if (!each.pair) cancel_all(each.under_way);
  }
  end_bodies();
}

/// The packet goes on, and says that nothing has landed.
void connection::cancel(posting& one) noexcept {
  if (outgoing_body* const body = find(one.before.by, one.before.body)) {
    body->landed += one.before.end - one.before.begin;
  }
  one.before = {};
  if (out_.is_consumed(one.at)) return;  // another packet may be there
  const stream::landing none{};
  std::memcpy(out_.bytes_of({one.at, one.bytes}).subspan(one.landing).data(), &none, sizeof none);
}

// The peer is asked, and says when nothing of it is under way. If it does not in a moment, the
// queue pairs end: what is not there takes nothing. It learns of the withdrawal before it can make
// others.
void connection::stop_writing_to(const stream::link& by) noexcept {
  if (is_closed_ || !is_open()) return;
  const stream::frame of = by.name();
  const link_name name{.team = of.team, .from = of.from, .lane = of.lane};
  sockets_.say(control::kind::withdraw, 0, bytes_of(name));
  if (std::ranges::none_of(subflows_, [](const subflow& one) { return one.pair.has_value(); }))
    return;
  awaited_ = name;
  const auto deadline = clock::now() + patience;
  while (awaited_ && !is_closed_ && clock::now() < deadline) {
    by_.hear_all();  // others may wait so for this rank
    by_.take_completions();
    ::sched_yield();
  }
  if (!awaited_) return;
  awaited_.reset();
  for (std::size_t i = 0; i < subflows_.size(); ++i) {
    if (subflows_[i].pair) stop(i, name_of(i) + ": the peer does not answer");
  }
}

void connection::obey_withdraw(const link_name& whose) noexcept {
  if (!refuse_invitations(frame_of(whose))) return refuse("word of a link that is not");
  if (const stream::link* const one = find(whose)) forget_bodies(*one);
  to_confirm_.push_back(whose);
  confirm_withdrawals();
}

/// Null: there is none.
stream::link* connection::find(const link_name& whose) noexcept {
  stream::links* const team = of().find(whose.team);
  if (team == nullptr || !team->are_of(frame_of(whose), peer())) return nullptr;
  return &team->at(whose.lane, whose.from);
}

void connection::hear() noexcept {
  for (std::size_t i = 0; i < sockets_.size(); ++i) sockets_.socket(i).note(true, true, false);
  sockets_.flush();
  read_control();
}

void connection::confirm_withdrawals() noexcept {
  std::erase_if(to_confirm_, [this](const link_name& whose) {
    const stream::link* const link = find(whose);
    if (link != nullptr && reads(*link)) return false;
    sockets_.say(control::kind::withdrawn, 0, bytes_of(whose));
    return true;
  });
}

}  // namespace muster::verbs
