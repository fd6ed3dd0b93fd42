#include <muster/run/mailbox.hpp>

#include <algorithm>
#include <exception>
#include <utility>

#include <muster/base/copy_bytes.hpp>
#include <muster/run/peer_condition.hpp>

namespace muster {

/// What goes before a message, an offer, and the body of what was offered.
struct mailbox::header {
  enum class kind : std::uint32_t { whole, offer, body };

  std::uint64_t tag;
  std::uint64_t bytes;
  std::uint64_t number;  // of an offer
  kind what;
  mailbox::owner owner;

  mailbox::label label() const noexcept { return {tag, owner}; }
};

namespace {

template <class T>
std::span<const std::byte> bytes_of(const T& one) noexcept {
  return std::as_bytes(std::span(&one, 1));
}
template <class T>
std::span<std::byte> bytes_into(T& one) noexcept {
  return std::as_writable_bytes(std::span(&one, 1));
}

/// Of any exception: as an error, for the others.
error as_error(const std::exception_ptr& why) {
  try {
    std::rethrow_exception(why);
  } catch (const error& known) {
    return known;
  } catch (const std::exception& other) {
    return {errc::resource, std::string("a message: ") + other.what()};
  }
}

}  // namespace

/// One of those who send to a peer, who has the link to itself when it is the first.
class mailbox::sender_turn {
public:
  explicit sender_turn(correspondent& to) : to_(to), number_(to.sends++) {
    to_.senders.push_back(number_);
  }
  ~sender_turn() { std::erase(to_.senders, number_); }
  sender_turn(const sender_turn&) = delete;
  sender_turn& operator=(const sender_turn&) = delete;

  bool has_come() const noexcept { return to_.senders.front() == number_; }

private:
  correspondent& to_;
  std::uint64_t number_;
};

/// One that is wanted, for as long as its receive waits.
class mailbox::wanted_here {
public:
  wanted_here(correspondent& from, wanted& one) : from_(from), one_(one) {
    from.wants.push_back(&one);
  }
  ~wanted_here() {
    std::erase(from_.wants, &one_);
    std::erase_if(from_.invited, [this](const auto& each) { return each.second == &one_; });
  }
  wanted_here(const wanted_here&) = delete;
  wanted_here& operator=(const wanted_here&) = delete;

private:
  correspondent& from_;
  wanted& one_;
};

/// Somebody waits for what comes next, for all.
class mailbox::reading {
public:
  explicit reading(correspondent& from) noexcept : from_(from) { from_.is_read = true; }
  ~reading() { from_.is_read = false; }
  reading(const reading&) = delete;
  reading& operator=(const reading&) = delete;

private:
  correspondent& from_;
};

void mailbox::require_rank(const team& of, std::string_view argument, std::size_t rank) {
  if (rank < of.size()) return;
  throw error(errc::invalid_argument, std::string(argument) + " is " + std::to_string(rank) +
                                          "; expected a rank from 0 to " +
                                          std::to_string(of.size() - 1));
}

bool mailbox::is_offered(std::size_t bytes) const noexcept {
  constexpr std::size_t much_to_keep = std::size_t{64} << 10;
  return is_zero_copy(bytes) || bytes >= much_to_keep;
}

bool mailbox::is_zero_copy(std::size_t bytes) const noexcept {
  return bytes >= of_.machine().zero_copy_from;
}

wire::open_link mailbox::link(std::size_t peer, wire::links::purpose what) const {
  return {of_.links(), of_.memory().board().extent().message_lane(), peer, what};
}

task<> mailbox::or_break(task<> part) {
  try {
    co_await std::move(part);
  } catch (...) {
    const error why = as_error(std::current_exception());
    break_team(why);
    throw why;
  }
}

void mailbox::break_team(const error& why) noexcept {
  of_.members().fail({.code = static_cast<errc>(why.code().value()),
                      .rank = why.rank(),
                      .text = "rank " + std::to_string(of_.rank()) + ": " + why.text()});
  of_.links().withdraw();
  of_.memory().settle();
}

// ---- sending

task<> mailbox::send(std::size_t to, label tag, std::span<const std::byte> bytes) {
  if (to == of_.rank()) {
    with_[to].kept.push_back({.tag = tag,
                              .bytes = bytes.size(),
                              .is_offer = false,
                              .number = 0,
                              .content = {bytes.begin(), bytes.end()}});
    co_return;
  }
  if (is_offered(bytes.size())) {
    co_await send_offered(to, tag, bytes);
  } else {
    const header first{.tag = tag.tag,
                       .bytes = bytes.size(),
                       .number = 0,
                       .what = header::kind::whole,
                       .owner = tag.owner};
    co_await send_whole(to, first, bytes);
  }
}

task<> mailbox::send_whole(std::size_t to, const header& first, std::span<const std::byte> bytes) {
  const sender_turn mine(with_[to]);
  co_await peer_condition(of_, to, [&] { return mine.has_come(); });
  const wire::open_link out = link(to, wire::links::purpose::send);
  const std::size_t piece = std::min(bytes.size(), of_.machine().message_piece);
  co_await peer_condition(of_, to, [&] { return out->has_room(sizeof first + piece); });
  co_await or_break(send_pieces(*out, to, first, bytes));
}

task<> mailbox::send_pieces(wire::link& out, std::size_t to, header first,
                            std::span<const std::byte> bytes) {
  std::span<const std::byte> head = bytes_of(first);
  do {
    const auto piece = bytes.first(std::min(bytes.size(), of_.machine().message_piece));
    co_await peer_condition(of_, to, [&] { return out.has_room(head.size() + piece.size()); });
    out.send(head, piece);
    co_await wire::work_wait(of_.time());
    head = {};
    bytes = bytes.subspan(piece.size());
  } while (!bytes.empty());
  co_await peer_condition(of_, to, [&] { return out.has_left(); });
}

task<> mailbox::send_offered(std::size_t to, label tag, std::span<const std::byte> bytes) {
  const header offer{.tag = tag.tag,
                     .bytes = bytes.size(),
                     .number = with_[to].offers++,
                     .what = header::kind::offer,
                     .owner = tag.owner};
  co_await send_whole(to, offer, {});
  co_await or_break(send_invited(to, offer, bytes));
}

task<> mailbox::send_invited(std::size_t to, header body, std::span<const std::byte> bytes) {
  const wire::open_link out = link(to, wire::links::purpose::send);
  const auto is_invited = [&] {
    if (!out->is_invited()) return false;
    std::uint64_t number = 0;
    out->peek_invitation(bytes_into(number));
    return number == body.number;
  };
  co_await peer_condition(of_, to, is_invited);
  std::uint64_t number = 0;
  out->take_invitation(bytes_into(number));
  const sender_turn mine(with_[to]);
  co_await peer_condition(of_, to, [&] { return mine.has_come() && out->can_put(); });
  body.what = header::kind::body;
  if (is_zero_copy(bytes.size())) {
    out->put(bytes_of(body), bytes);
    co_await wire::work_wait(of_.time());
    co_await peer_condition(of_, to, [&] { return out->has_left(); });
    if (!out->was_refused()) co_return;
  }
  // Where the system does not let the receiver read it, it goes piece by piece.
  co_await send_pieces(*out, to, body, bytes);
}

// ---- receiving

task<std::size_t> mailbox::receive(std::size_t from, label tag, std::span<std::byte> place,
                                   std::size_t element) {
  wanted mine{.tag = tag, .place = place, .element = element};
  correspondent& with = with_[from];
  const wanted_here listed(with, mine);
  try {
    co_await obtain(from, mine);
  } catch (...) {
    const error why = as_error(std::current_exception());
    // What is on its way to its place has to stop; others read what comes for them.
    if (mine.is_matched || why.code() == errc::mismatched_call) break_team(why);
    throw why;
  }
  co_return mine.came;
}

task<> mailbox::obtain(std::size_t from, wanted& mine) {
  correspondent& with = with_[from];
  const auto is_kept = [&] {
    return match(from, mine.tag) == &mine && with.find_kept(mine.tag) != with.kept.end();
  };
  const bool from_self = from == of_.rank();
  while (!mine.is_done) {
    // Another one reads what comes from there, for all.
    const auto is_mine = [&] { return mine.is_done || is_kept() || (!from_self && !with.is_read); };
    co_await peer_condition(of_, from, is_mine, vain_without::team);
    if (is_kept()) {
      co_await take_kept(from, mine);
    } else if (!mine.is_done) {
      co_await read_next(from);
    }
  }
}

task<> mailbox::take_kept(std::size_t from, wanted& mine) {
  correspondent& with = with_[from];
  const auto found = with.find_kept(mine.tag);
  const unwanted one = std::move(*found);
  with.kept.erase(found);
  require_fit(from, mine, one.bytes);
  mine.is_matched = true;
  mine.came = one.bytes;
  if (one.is_offer) {
    co_await invite(from, mine, one.number, one.bytes);
  } else {
    copy_bytes(mine.place.data(), one.content.data(), one.content.size());
    mine.is_done = true;
  }
}

mailbox::wanted* mailbox::match(std::size_t from, label tag) noexcept {
  for (wanted* const each : with_[from].wants) {
    if (each->tag == tag && !each->is_matched) return each;
  }
  return nullptr;
}

void mailbox::require_fit(std::size_t from, const wanted& one, std::uint64_t bytes) const {
  if (bytes <= one.place.size() && bytes % one.element == 0) return;
  throw error(errc::mismatched_call,
              "receive: rank " + std::to_string(from) + " sent " + std::to_string(bytes) +
                  " bytes with tag " + std::to_string(one.tag.tag) + "; expected at most " +
                  std::to_string(one.place.size()) + " in elements of " +
                  std::to_string(one.element),
              from);
}

// One message, for whoever wants it: while its first bytes have not come whoever reads may be
// stopped, and another one reads on.
task<> mailbox::read_next(std::size_t from) {
  const reading now(with_[from]);
  header first{};
  {
    const wire::open_link in = link(from, wire::links::purpose::receive);
    co_await peer_condition(of_, from, [&] { return in->holds(sizeof(header)); });
    in->take(bytes_into(first));
    if (first.what != header::kind::offer) {
      co_await or_break(read_content(*in, from, first));
      co_return;
    }
  }
  co_await or_break(take_offer(from, first));
}

task<> mailbox::read_content(wire::link& in, std::size_t from, header first) {
  if (first.what == header::kind::body) {
    co_await read_body(in, from, first);
  } else if (first.what == header::kind::whole && !is_offered(first.bytes)) {
    co_await read_whole(in, from, first);
  } else {
    throw error(errc::mismatched_call,
                "receive: rank " + std::to_string(from) + " sent what cannot be a message", from);
  }
}

task<> mailbox::take_offer(std::size_t from, const header& first) {
  if (wanted* const one = match(from, first.label())) {
    require_fit(from, *one, first.bytes);
    one->is_matched = true;
    one->came = first.bytes;
    co_await invite(from, *one, first.number, first.bytes);
    co_return;
  }
  unwanted later{.tag = first.label(),
                 .bytes = first.bytes,
                 .is_offer = true,
                 .number = first.number,
                 .content = {}};
  with_[from].kept.push_back(std::move(later));
}

task<> mailbox::read_whole(wire::link& in, std::size_t from, const header& first) {
  if (wanted* const one = match(from, first.label())) {
    require_fit(from, *one, first.bytes);
    one->is_matched = true;
    one->came = first.bytes;
    co_await read_pieces(in, from, one->place.first(first.bytes));
    require_whole();
    one->is_done = true;
    co_return;
  }
  unwanted one{
      .tag = first.label(), .bytes = first.bytes, .is_offer = false, .number = 0, .content = {}};
  one.content.resize(first.bytes);
  co_await read_pieces(in, from, one.content);
  with_[from].kept.push_back(std::move(one));
}

task<> mailbox::read_pieces(wire::link& in, std::size_t from, std::span<std::byte> bytes) {
  while (!bytes.empty()) {
    const auto piece = bytes.first(std::min(bytes.size(), of_.machine().message_piece));
    co_await peer_condition(of_, from, [&] { return in.holds(piece.size()); });
    require_whole();
    in.take(piece);
    co_await wire::work_wait(of_.time());
    bytes = bytes.subspan(piece.size());
  }
}

task<> mailbox::read_body(wire::link& in, std::size_t from, const header& first) {
  correspondent& with = with_[from];
  if (with.invited.empty() || with.invited.front().first != first.number) {
    throw error(errc::mismatched_call,
                "receive: rank " + std::to_string(from) + " sent what it was not invited to send",
                from);
  }
  wanted& one = *with.invited.front().second;
  with.invited.pop_front();
  const std::span<std::byte> place = one.place.first(one.came);
  if (is_zero_copy(place.size())) {
    take_body(in, place);
    co_await wire::work_wait(of_.time());
    co_await peer_condition(of_, from,
                            [&] { return in.body() != wire::link::body_state::under_way; });
    if (in.body() == wire::link::body_state::refused) {
      header again{};
      co_await peer_condition(of_, from, [&] { return in.holds(sizeof again); });
      in.take(bytes_into(again));
      co_await read_pieces(in, from, place);
    }
  } else {
    co_await read_pieces(in, from, place);
  }
  require_whole();
  one.is_done = true;
}

// As `operation_state::read_lent`: whoever lends takes its memory back where the team is broken.
void mailbox::take_body(wire::link& in, std::span<std::byte> place) const {
  of_.memory().begin_reading();
  const bool is_whole = !of_.members().broken();
  if (is_whole) in.begin_taking(place);
  of_.memory().end_reading();
  require_whole();
}

void mailbox::require_whole() const {
  if (!of_.members().broken()) return;
  of_.require_whole();
  throw error(errc::stopped, "a message: the team is being broken by another rank");
}

task<> mailbox::invite(std::size_t from, wanted& one, std::uint64_t number, std::uint64_t bytes) {
  const wire::open_link out = link(from, wire::links::purpose::invite);
  co_await peer_condition(of_, from, [&] { return out->can_post(); });
  require_whole();
  with_[from].invited.emplace_back(number, &one);
  const std::size_t straight = is_zero_copy(bytes) ? bytes : 0;
  out->post(bytes_of(number), one.place.first(straight));
  co_await wire::work_wait(of_.time());
}

}  // namespace muster
