#include "tests/rdma/spied_device.hpp"

#include <algorithm>
#include <array>
#include <map>

#include "transports/verbs/adapter.hpp"

namespace muster::testing {
namespace {

std::map<const ibv_context*, spied_device*>& all_spied() {
  static std::map<const ibv_context*, spied_device*> all;
  return all;
}

std::uint32_t request_of(std::uint64_t name) {
  return static_cast<std::uint32_t>(name & verbs::adapter::request_bits);
}
std::uint64_t queue_pair_of(std::uint64_t name) { return name >> verbs::adapter::name_bits; }
bool is_notice(const ibv_wc& one) { return (one.wr_id & verbs::adapter::is_notice) != 0; }

std::size_t length_of(const ibv_send_wr& one) {
  return one.num_sge == 0 ? 0 : one.sg_list[0].length;
}

}  // namespace

spied_device::spied_device(verbs::device& of)
    : context_(of.domain()->context), post_(context_->ops.post_send), poll_(context_->ops.poll_cq) {
  all_spied()[context_] = this;
  context_->ops.post_send = [](ibv_qp* to, ibv_send_wr* first, ibv_send_wr** bad) {
    return spied_device::of(to->context).post(to, first, bad);
  };
  context_->ops.poll_cq = [](ibv_cq* of, int room, ibv_wc* to) {
    return spied_device::of(of->context).poll(of, room, to);
  };
}

spied_device::~spied_device() {
  context_->ops.post_send = post_;
  context_->ops.poll_cq = poll_;
  all_spied().erase(context_);
}

spied_device& spied_device::of(const ibv_context* context) { return *all_spied().at(context); }

int spied_device::post(ibv_qp* to, ibv_send_wr* first, ibv_send_wr** bad) {
  for (ibv_send_wr* each = first; each != nullptr; each = each->next) {
    if (change) change(*each);
    count(*each);
  }
  return post_(to, first, bad);
}

void spied_device::count(const ibv_send_wr& one) {
  if (queue_pair_of(one.wr_id) != queue_pair_) {
    queue_pair_ = queue_pair_of(one.wr_id);
    complete_ = 0;
  }
  posted_ = request_of(one.wr_id);
  most_under_way_ = std::max(most_under_way_, under_way());
  ++requests_;
  if (one.opcode == IBV_WR_RDMA_WRITE_WITH_IMM) {
    ++notices_;
    noticed_bytes_ += length_of(one);
  } else if (length_of(one) != 0) {
    pieces_.push_back(length_of(one));
  }
}

int spied_device::poll(ibv_cq* of, int room, ibv_wc* to) {
  std::array<ibv_wc, 32> done;
  int count = 0;
  while ((count = poll_(of, static_cast<int>(done.size()), done.data())) > 0) {
    kept_.insert(kept_.end(), done.begin(), done.begin() + count);
  }
  int told = 0;
  std::erase_if(kept_, [&](const ibv_wc& one) {
    if (told == room || is_held(one)) return false;
    note_told(one);
    to[told++] = one;
    return true;
  });
  return told;
}

bool spied_device::is_held(const ibv_wc& one) const noexcept {
  return is_notice(one) ? holds_notices : holds_completions;
}

void spied_device::note_told(const ibv_wc& one) noexcept {
  if (is_notice(one) || one.status != IBV_WC_SUCCESS) return;
  if (queue_pair_of(one.wr_id) == queue_pair_) complete_ = request_of(one.wr_id);
}

}  // namespace muster::testing
