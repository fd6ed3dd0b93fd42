#include "transports/stream/links.hpp"

#include <algorithm>
#include <array>

#include <muster/base/copy_bytes.hpp>

namespace muster::stream {
namespace {

void append(inbox& to, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const std::span<std::byte> room = to.append(bytes.size());
    copy_bytes(room.data(), bytes.data(), room.size());
    bytes = bytes.subspan(room.size());
  }
}

}  // namespace

// ---- links

links::links(connections& of, std::uint64_t team, std::span<const std::size_t> members,
             std::size_t rank, std::size_t lanes)
    : connections_(of), team_(team), members_(members), rank_(rank), lanes_(lanes) {
  connections_.enroll(team_, *this);
}

links::~links() { connections_.dismiss(team_, expects_more_); }

link& links::at(std::size_t lane, std::size_t peer) {
  if (links_.size() <= lane) links_.resize(lane + 1);
  auto& of_lane = links_[lane];
  if (of_lane.empty()) of_lane.resize(members_.size());
  std::unique_ptr<link>& one = of_lane[peer];
  if (one == nullptr) one = std::make_unique<link>(*this, lane, peer);
  return *one;
}

wire::link& links::open(std::size_t lane, std::size_t peer, purpose what) {
  link& one = at(lane, peer);
  if (what == purpose::receive) ++one.receivers_;
  one.connection_.note_opened();
  return one;
}

void links::close(wire::link& used, purpose what) noexcept {
  auto& one = static_cast<link&>(used);
  if (what == purpose::receive) --one.receivers_;
  one.connection_.note_closed();
}

void links::withdraw() noexcept {
  // What a peer says meanwhile may make links.
  for (std::size_t lane = 0; lane < links_.size(); ++lane) {
    for (std::size_t peer = 0; peer < links_[lane].size(); ++peer) {
      if (links_[lane][peer] != nullptr) links_[lane][peer]->withdraw();
    }
  }
}

bool links::are_of(const frame& one, std::size_t peer) const noexcept {
  return one.lane < lanes_ && one.from < members_.size() && members_[one.from] == peer;
}

// ---- one of them

link::link(links& of, std::size_t lane, std::size_t peer)
    : of_(of),
      connection_(of.connections_.to(of.members_[peer])),
      lane_(lane),
      messages_(of.connections_.inboxes()),
      invitations_(of.connections_.inboxes()),
      tokens_(of.connections_.inboxes()) {}

link::~link() { connection_.forget(*this); }

void link::withdraw() noexcept {
  connection_.withdraw(*this);
  places_.clear();
}

frame link::name() const noexcept {
  const frame made{.team = of_.team_,
                   .from = static_cast<std::uint32_t>(of_.rank_),
                   .lane = static_cast<std::uint32_t>(lane_),
                   .what = frame::kind::message,
                   .taken = 0,
                   .bytes = 0};
  return made;
}

frame link::head_of(frame::kind what, std::size_t bytes) noexcept {
  told_ = taken_;
  frame next = name();
  next.bytes = static_cast<std::uint32_t>(bytes);
  // Not in the braces, where g++ takes fewer bits for a loss.
  next.what = what;
  next.taken = taken_ & taken_bits;
  return next;
}

// ---- to the peer

bool link::has_room(std::size_t bytes) const noexcept {
  const std::size_t window = connection_.window();
  if (sent_ + bytes > consumed_ + window) connection_.pull();
  return sent_ + bytes <= consumed_ + window && connection_.has_room(bytes);
}

void link::send(std::span<const std::byte> head, std::span<const std::byte> body) noexcept {
  const std::size_t bytes = head.size() + body.size();
  connection_.send(head_of(frame::kind::message, bytes), head, body);
  sent_ += bytes;
}

bool link::can_put() const noexcept { return has_room(most_head + sizeof(std::uint64_t)); }

void link::put(std::span<const std::byte> head, std::span<const std::byte> body) noexcept {
  ++put_;
  sent_ += connection_.put(*this, head_of(frame::kind::message, head.size()), head, body);
}

bool link::has_left() const noexcept {
  if (left_ != put_) connection_.pull();
  return left_ == put_ && connection_.has_sent_all();
}

bool link::can_post() const noexcept {
  return connection_.can_open_place() &&
         connection_.has_room(most_head + connection_.token_bytes());
}

void link::post(std::span<const std::byte> head, std::span<std::byte> place) noexcept {
  std::array<std::byte, connection::most_token> bytes;
  const auto token = std::span(bytes).first(connection_.token_bytes());
  if (connection_.fills_places()) {
    const std::uint64_t number = came_ + places_.size();
    places_.push_back({place, 0, connection_.open_place(*this, number, place, token)});
  }
  connection_.send(head_of(frame::kind::invitation, head.size() + token.size()), head, token);
}

bool link::is_invited() const noexcept {
  if (invitations_.size() == 0) connection_.pull();
  return invitations_.size() != 0;
}

void link::peek_invitation(std::span<std::byte> head) const noexcept { invitations_.peek(head); }

void link::take_invitation(std::span<std::byte> head) noexcept {
  invitations_.skip(invitations_.peek(head));
  std::array<std::byte, connection::most_token> bytes{};
  const auto token = std::span(bytes).first(connection_.token_bytes());
  invitations_.skip(invitations_.peek(token));
  append(tokens_, token);
}

void link::refuse_invitations() noexcept {
  refuses_invitations_ = true;
  invitations_.skip(invitations_.size());
  tokens_.skip(tokens_.size());
}

// ---- from the peer

std::size_t link::available() const noexcept {
  return messages_.size() + connection_.front_of(*this);
}

bool link::holds(std::size_t bytes) const noexcept {
  if (available() >= bytes) return true;
  if (connection_.front_of(*this) != 0) connection_.take_in_front();
  connection_.pull();
  return available() >= bytes;
}

void link::peek(std::span<std::byte> head) const noexcept {
  const std::size_t kept = messages_.peek(head);
  connection_.peek_front(head.subspan(kept));
}

void link::take(std::span<std::byte> to) noexcept {
  peek(to);
  skip(to.size());
}

void link::skip(std::size_t bytes) noexcept {
  const std::size_t kept = std::min(bytes, messages_.size());
  if (kept != 0) messages_.skip(kept);
  if (kept != bytes) connection_.skip_front(bytes - kept);
  taken_ += bytes;
  // Other frames say it, too. Where none goes there, before the peer could run out.
  if (taken_ - told_ < connection_.window() / 8 * 3) return;
  connection_.owe(head_of(frame::kind::consumed, 0));
}

void link::begin_taking(std::span<std::byte> place) noexcept {
  ++begun_;
  if (connection_.fills_places()) return;
  const body_state how = connection_.fetch(*this, head_of(frame::kind::placed, 0), place);
  refused_me_ = how == body_state::refused;
  ++came_;
}

wire::link::body_state link::body() const noexcept {
  if (came_ < begun_) connection_.pull();
  if (came_ < begun_) return body_state::under_way;
  return refused_me_ ? body_state::refused : body_state::in_place;
}

// ---- for the connection

std::span<std::byte> link::room_for(const frame& one, std::size_t left) {
  if (one.what == frame::kind::message) return messages_.append(left);
  return invitations_.append(left);
}

bool link::note_taken(const frame& one) noexcept {
  // A frame that had to wait for room may be overtaken by one that says more.
  const std::uint64_t more = (one.taken - consumed_) & taken_bits;
  if (more > taken_bits / 2) return true;
  consumed_ += more;
  return consumed_ <= sent_;
}

void link::end_frame(const frame& one) noexcept {
  switch (one.what) {
    case frame::kind::message:
      return has_come(wire::coming::message);
    case frame::kind::invitation:
      if (refuses_invitations_) return invitations_.skip(invitations_.size());
      return has_come(wire::coming::invitation);
    case frame::kind::placed:
    case frame::kind::refused:
      if (left_ == put_) return;  // of a body that nobody sent
      was_refused_ = one.what == frame::kind::refused;
      ++left_;
      connection_.note_confirmed(*this);
      return;
    case frame::kind::consumed:
    case frame::kind::body:    // comes piece by piece
    case frame::kind::landed:  // has come another way
    case frame::kind::news:
      return;
  }
}

std::span<std::byte> link::place_for_body() const noexcept {
  if (places_.empty()) return {};
  return places_.front().bytes.subspan(places_.front().filled);
}

bool link::fill(std::size_t bytes) noexcept {
  places_.front().filled += bytes;
  if (!places_.front().is_full()) return false;
  end_place();
  return true;
}

bool link::land(const landing& part) noexcept {
  const std::uint64_t place = part.body - came_;
  if (place >= places_.size()) return true;  // nobody wants it any more
  posted_place& to = places_[place];
  if (part.bytes > to.bytes.size() - to.filled) return false;
  to.filled += part.bytes;
  while (!places_.empty() && places_.front().is_full()) end_place();
  return true;
}

void link::end_place() noexcept {
  places_.erase(places_.begin());
  ++came_;
}

std::span<std::byte> link::place_of_body(std::uint64_t number) const noexcept {
  const std::uint64_t place = number - came_;
  return place < places_.size() ? places_[place].bytes : std::span<std::byte>();
}

void link::end_body() noexcept {
  end_place();
  connection_.owe(head_of(frame::kind::placed, 0));
}

}  // namespace muster::stream
