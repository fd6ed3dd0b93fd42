#include <muster/run/agreement.hpp>

#include <algorithm>

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
    if (!gone_[to]) co_await send(to, mine);
  }
  for (std::size_t distance = 1; distance < of_.size(); ++distance) {
    const std::size_t from = (of_.rank() + of_.size() - distance) % of_.size();
    if (!gone_[from]) co_await receive(from, all.subspan(from * mine.size(), mine.size()));
  }
}

task<> agreement::send(std::size_t to, std::span<const std::byte> bytes) {
  const wire::open_link out = link_to(of_, to, purpose::send);
  while (!bytes.empty()) {
    const auto piece = bytes.first(std::min(bytes.size(), of_.machine().message_piece));
    const auto has_room = [&] { return out->has_room(piece.size()); };
    const auto is_over = [&] { return has_room() || is_lost(of_, to, has_room); };
    co_await peer_condition(of_, to, is_over, vain_without::nothing);
    gone_[to] = !has_room();
    if (gone_[to]) co_return;
    out->send({}, piece);
    co_await wire::work_wait(of_.time());
    bytes = bytes.subspan(piece.size());
  }
}

task<> agreement::receive(std::size_t from, std::span<std::byte> bytes) {
  const wire::open_link in = link_to(of_, from, purpose::receive);
  while (!bytes.empty()) {
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
