#include "transports/verbs/queue_pair.hpp"

#include <arpa/inet.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <random>
#include <string>

#include <muster/base/error.hpp>

namespace muster::verbs {
namespace {

/// A packet that nobody acknowledges is sent again after 4.096 us << 14, and 6 times: within a
/// second or so it is known that nobody does. (7 times means for ever.)
constexpr std::uint8_t acknowledged_within = 14;
constexpr std::uint8_t most_retries = 6;
/// A notice always finds a receive: a sender has no more under way than its peer has posted. So
/// this is for a peer that does not keep to it.
constexpr std::uint8_t most_receiver_retries = 3;
constexpr std::uint8_t receiver_pause = 12;  // 0.64 ms

constexpr std::uint32_t wanted_inline = 256;
constexpr std::uint32_t packet_numbers = (1U << 24) - 1;

std::uint32_t random_packet() { return std::random_device()() & packet_numbers; }

ibv_qp_init_attr description(ibv_cq* completions, std::uint32_t most_inline) {
  ibv_qp_init_attr wanted{};
  wanted.send_cq = wanted.recv_cq = completions;
  wanted.qp_type = IBV_QPT_RC;
  wanted.cap.max_send_wr = queue_pair::sends;
  wanted.cap.max_recv_wr = queue_pair::receives;
  wanted.cap.max_send_sge = wanted.cap.max_recv_sge = 1;
  wanted.cap.max_inline_data = most_inline;
  return wanted;
}

}  // namespace

// ---- requests

void request_chain::write(std::span<const std::byte> from, std::uint32_t key,
                          const remote_memory& to, std::uint64_t which,
                          std::uint32_t most_inline) noexcept {
  ibv_sge& part = parts_[count_];
  ibv_send_wr& request = requests_[count_];
  part = {.addr = reinterpret_cast<std::uintptr_t>(from.data()),
          .length = static_cast<std::uint32_t>(from.size()),
          .lkey = key};
  request = {};
  request.wr_id = which;
  request.sg_list = &part;
  request.num_sge = from.empty() ? 0 : 1;
  request.opcode = IBV_WR_RDMA_WRITE;
  request.send_flags = from.size() <= most_inline ? static_cast<unsigned>(IBV_SEND_INLINE) : 0U;
  request.wr.rdma.remote_addr = to.address;
  request.wr.rdma.rkey = to.key;
  if (count_ != 0) requests_[count_ - 1].next = &request;
  ++count_;
}

void request_chain::notify(const notice& what) noexcept {
  ibv_send_wr& request = requests_[count_ - 1];
  request.opcode = IBV_WR_RDMA_WRITE_WITH_IMM;
  request.imm_data = htonl(what.immediate());
}

// ---- a queue pair

queue_pair::queue_pair(device& of, std::uint64_t which)
    : of_(of), which_(which), first_packet_(random_packet()) {
  if (!of_.add_room()) {
    throw error(errc::resource, of_.name() + " takes no more queue pairs than " +
                                    std::to_string(of_.most_queue_pairs()));
  }
  try {
    make_ready();
  } catch (...) {
    of_.give_room_back();
    throw;
  }
}

void queue_pair::make_ready() {
  const auto check = [this](bool done, const char* what) {
    if (done) return;
    throw error(errc::resource, of_.name() + ": " + what + ": " + std::strerror(errno));
  };
  ibv_qp_init_attr wanted = description(of_.completions(), wanted_inline);
  pair_ = pair_handle(::ibv_create_qp(of_.domain(), &wanted));
  if (!pair_) {
    wanted = description(of_.completions(), 0);
    pair_ = pair_handle(::ibv_create_qp(of_.domain(), &wanted));
  }
  check(static_cast<bool>(pair_), "no queue pair");
  most_inline_ = wanted.cap.max_inline_data;
  ibv_qp_attr how{};
  how.qp_state = IBV_QPS_INIT;
  how.pkey_index = of_.at().pkey_index;
  how.port_num = of_.at().number;
  how.qp_access_flags = IBV_ACCESS_REMOTE_WRITE;
  errno = ::ibv_modify_qp(pair_.get(), &how,
                          IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS);
  check(errno == 0, "a queue pair cannot begin");
  check(post_receives(receives), "a queue pair takes no receives");
}

queue_pair_address queue_pair::address() const noexcept {
  return {.gid = of_.told().gid,
          .number = pair_->qp_num,
          .first_packet = first_packet_,
          .lid = of_.told().lid,
          .mtu = of_.told().mtu};
}

int queue_pair::connect(const queue_pair_address& peer) noexcept {
  const int failed = begin_receiving(peer);
  return failed != 0 ? failed : begin_sending();
}

int queue_pair::begin_receiving(const queue_pair_address& peer) noexcept {
  ibv_qp_attr how{};
  how.qp_state = IBV_QPS_RTR;
  how.path_mtu = static_cast<ibv_mtu>(std::min(peer.mtu, of_.told().mtu));
  how.dest_qp_num = peer.number;
  how.rq_psn = peer.first_packet;
  how.max_dest_rd_atomic = 1;
  how.min_rnr_timer = receiver_pause;
  how.ah_attr.dlid = peer.lid;
  how.ah_attr.port_num = of_.at().number;
  how.ah_attr.is_global = of_.told().is_ethernet;
  std::ranges::copy(peer.gid, how.ah_attr.grh.dgid.raw);
  how.ah_attr.grh.sgid_index = of_.at().gid_index;
  how.ah_attr.grh.hop_limit = 64;
  return ::ibv_modify_qp(pair_.get(), &how,
                         IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
                             IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER);
}

int queue_pair::begin_sending() noexcept {
  ibv_qp_attr how{};
  how.qp_state = IBV_QPS_RTS;
  how.sq_psn = first_packet_;
  how.timeout = acknowledged_within;
  how.retry_cnt = most_retries;
  how.rnr_retry = most_receiver_retries;
  how.max_rd_atomic = 1;
  return ::ibv_modify_qp(pair_.get(), &how,
                         IBV_QP_STATE | IBV_QP_SQ_PSN | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
                             IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC);
}

void queue_pair::stop() noexcept {
  if (!pair_.is_own()) return;  // it is a parent's
  ibv_qp_attr how{};
  how.qp_state = IBV_QPS_ERR;
  ::ibv_modify_qp(pair_.get(), &how, IBV_QP_STATE);
}

bool queue_pair::post(request_chain& all) noexcept {
  ibv_send_wr* bad = nullptr;
  return ::ibv_post_send(pair_.get(), all.requests_.data(), &bad) == 0;
}

bool queue_pair::post_receives(std::size_t count) noexcept {
  std::array<ibv_recv_wr, 32> chain{};
  while (count != 0) {
    const std::size_t some = std::min(count, chain.size());
    for (std::size_t i = 0; i < some; ++i) {
      chain[i] = {};
      chain[i].wr_id = which_;
      chain[i].next = i + 1 < some ? &chain[i + 1] : nullptr;
    }
    ibv_recv_wr* bad = nullptr;
    if (::ibv_post_recv(pair_.get(), chain.data(), &bad) != 0) return false;
    count -= some;
  }
  return true;
}

}  // namespace muster::verbs
