#include <muster/run/agreement.hpp>

#include <algorithm>
#include <array>
#include <string>

#include <muster/base/error.hpp>
#include <muster/run/peer_condition.hpp>
#include <muster/wire/link.hpp>

namespace muster {
namespace {

using purpose = wire::links::purpose;

wire::open_link link_to(const team& of, std::size_t peer, purpose what) {
  return {of.links(), of.memory().board().extent().agreement_lane(), peer, what};
}

}  // namespace

task<> agreement::exchange(std::span<const std::byte> mine, std::span<std::byte> all) {
  std::ranges::copy(mine, all.subspan(of_.rank() * mine.size()).begin());
  for (std::size_t distance = 1; distance < of_.size(); ++distance) {
    const std::size_t to = (of_.rank() + distance) % of_.size();
    if (!gone_[to]) co_await tell(to, mine);
  }
  for (std::size_t distance = 1; distance < of_.size(); ++distance) {
    const std::size_t from = (of_.rank() + of_.size() - distance) % of_.size();
    if (!gone_[from]) co_await hear(from, all.subspan(from * mine.size(), mine.size()));
  }
}

task<> agreement::tell(std::size_t to, std::span<const std::byte> bytes) {
  const wire::open_link out = link_to(of_, to, purpose::send);
  const header first{of_.agreements(), bytes.size()};
  auto head = std::as_bytes(std::span(&first, 1));
  do {
    const auto piece = bytes.first(std::min(bytes.size(), of_.machine().message_piece));
    const auto has_room = [&] { return out->has_room(head.size() + piece.size()); };
    const auto is_over = [&] { return has_room() || is_lost(of_, to, has_room); };
    co_await peer_condition(of_, to, is_over, vain_without::nothing);
    gone_[to] = !has_room();
    if (gone_[to]) co_return;
    out->send(head, piece);
    co_await wire::work_wait(of_.time());
    head = {};
    bytes = bytes.subspan(piece.size());
  } while (!bytes.empty());
}

task<> agreement::hear(std::size_t from, std::span<std::byte> bytes) {
  header next;
  for (;;) {
    co_await take(from, std::as_writable_bytes(std::span(&next, 1)));
    if (gone_[from]) co_return;
    if (next.agreement == of_.agreements()) break;
    co_await leave_out(from, next.bytes);
  }
  if (next.bytes != bytes.size()) {
    throw error(errc::mismatched_call,
                "rank " + std::to_string(from) + " says " + std::to_string(next.bytes) +
                    " bytes in an agreement where rank " + std::to_string(of_.rank()) +
                    " expected " + std::to_string(bytes.size()),
                from);
  }
  co_await take(from, bytes);
}

task<> agreement::leave_out(std::size_t from, std::uint64_t bytes) {
  std::array<std::byte, 256> part;
  while (bytes != 0 && !gone_[from]) {
    const auto some = std::span(part).first(std::min<std::uint64_t>(bytes, part.size()));
    co_await take(from, some);
    bytes -= some.size();
  }
}

task<> agreement::take(std::size_t from, std::span<std::byte> bytes) {
  const wire::open_link in = link_to(of_, from, purpose::receive);
  while (!bytes.empty() && !gone_[from]) {
    const auto piece = bytes.first(std::min(bytes.size(), of_.machine().message_piece));
    const auto has_come = [&] { return in->holds(piece.size()); };
    const auto is_over = [&] { return has_come() || is_lost(of_, from, has_come); };
    co_await peer_condition(of_, from, is_over, vain_without::nothing);
    gone_[from] = !has_come();
    if (gone_[from]) co_return;
    in->take(piece);
    co_await wire::work_wait(of_.time());
    bytes = bytes.subspan(piece.size());
  }
}

}  // namespace muster
