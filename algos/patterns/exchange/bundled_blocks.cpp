#include "algos/patterns/exchange/bundled_blocks.hpp"

namespace muster::algos {

bundled_blocks::bundled_blocks(context& me, const arguments& call, exchange_bundles bundles,
                               std::size_t group)
    : me_(me), bundles_(bundles), group_(group), block_(call.bytes()) {
  const std::size_t all = block_ * me.size();
  sent_.push_back({call.sent_to(0).data(), all});
  while (sent_.size() < bundles_.ranks_in(group)) {
    sent_.push_back(collected_.emplace_back(me.scratch(all)));
  }
  at_.resize(groups().count());
}

std::size_t bundled_blocks::bytes_to(std::size_t partner, std::size_t weight) const {
  return bundles_.blocks_to(partner, group_, weight) * block_;
}

std::size_t bundled_blocks::bytes_from(std::size_t partner, std::size_t weight) const {
  return bundles_.blocks_to(group_, partner, weight) * block_;
}

task<> bundled_blocks::pack(std::size_t partner, std::size_t weight,
                            std::span<std::byte> to) const {
  for (std::size_t place = bundles_.first_place(partner, weight); place < at_.size();
       place = bundles_.next_place(place, weight)) {
    const std::size_t bytes = bundles_.blocks(group_, place, weight) * block_;
    co_await pack_bundle(place, to.first(bytes));
    to = to.subspan(bytes);
  }
}

task<> bundled_blocks::pack_bundle(std::size_t place, std::span<std::byte> to) const {
  if (at_[place] != nullptr) {
    co_await me_.copy(to, {at_[place], to.size()});
    co_return;
  }
  const std::size_t begin = groups().first(place) * block_;
  const std::size_t length = bundles_.ranks_in(place) * block_;
  for (const auto& row : sent_) {
    co_await me_.copy(to.first(length), row.subspan(begin, length));
    to = to.subspan(length);
  }
}

void bundled_blocks::note_come(std::size_t partner, std::size_t weight,
                               std::span<const std::byte> from) {
  const std::byte* come = from.data();
  const std::size_t next_weight = weight * groups().base();
  for (std::size_t place = bundles_.first_place(partner, weight); place < at_.size();
       place = bundles_.next_place(place, weight)) {
    at_[place] = come;
    come += bundles_.blocks(group_, place, next_weight) * block_;
  }
}

task<> bundled_blocks::unpack(std::size_t member, std::span<std::byte> result) const {
  for (std::size_t place = 0; place < at_.size(); ++place) {
    for (std::size_t i = 0; i < bundles_.ranks_in(place); ++i) {
      const std::byte* const block =
          place == group_ ? sent_[i].data() + (groups().first(group_) + member) * block_
                          : at_[place] + (i * sent_.size() + member) * block_;
      co_await me_.copy(result.first(block_), {block, block_});
      result = result.subspan(block_);
    }
  }
}

}  // namespace muster::algos
