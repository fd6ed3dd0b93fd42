// Preloaded into the ranks of every library that talks by RDMA: counts what it posts. Sends are
// posted by a function of the device's context, which is put aside when a device is opened. None of
// the libraries uses ibv_wr_post's extended queue pairs, nor mlx5's own, where tools/rdma-guest
// runs.
#include <dlfcn.h>
#include <infiniband/verbs.h>

#include <atomic>
#include <cstdint>

#include "tools/command/bench/posted.hpp"

namespace {

using post_function = decltype(ibv_context_ops::post_send);
using create_function = decltype(verbs_context::create_qp_ex);

// Of all devices: they have one provider.
std::atomic<post_function> real_post_send;
std::atomic<create_function> real_create_qp_ex;

// A library may post from several threads.
std::atomic<std::uint64_t> sends;
std::atomic<std::uint64_t> doorbells;
std::atomic<std::uint64_t> bytes;
std::atomic<std::uint64_t> queue_pairs;

void add(std::atomic<std::uint64_t>& to, std::uint64_t some) {
  to.fetch_add(some, std::memory_order_relaxed);
}

/// The next function of this name, with the version that programs are linked with today.
template <class Function>
Function* real(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

int post_send(ibv_qp* pair, ibv_send_wr* first, ibv_send_wr** bad) {
  add(doorbells, 1);
  for (const ibv_send_wr* each = first; each != nullptr; each = each->next) {
    add(sends, 1);
    for (int i = 0; i < each->num_sge; ++i) add(bytes, each->sg_list[i].length);
  }
  return real_post_send.load(std::memory_order_relaxed)(pair, first, bad);
}

ibv_qp* counted(ibv_qp* made) {
  if (made != nullptr) add(queue_pairs, 1);
  return made;
}

ibv_qp* create_qp_ex(ibv_context* of, ibv_qp_init_attr_ex* how) {
  return counted(real_create_qp_ex.load(std::memory_order_relaxed)(of, how));
}

}  // namespace

extern "C" {

ibv_context* ibv_open_device(ibv_device* device) {
  static auto* const open = real<ibv_context*(ibv_device*)>("ibv_open_device");
  ibv_context* const opened = open(device);
  if (opened == nullptr) return nullptr;
  real_post_send = opened->ops.post_send;
  opened->ops.post_send = &post_send;
  verbs_context* const more = verbs_get_ctx_op(opened, create_qp_ex);
  if (more != nullptr) {
    real_create_qp_ex = more->create_qp_ex;
    more->create_qp_ex = &create_qp_ex;
  }
  return opened;
}

ibv_qp* ibv_create_qp(ibv_pd* domain, ibv_qp_init_attr* how) {
  static auto* const create = real<ibv_qp*(ibv_pd*, ibv_qp_init_attr*)>("ibv_create_qp");
  return counted(create(domain, how));
}

int ibv_destroy_qp(ibv_qp* pair) {
  static auto* const destroy = real<int(ibv_qp*)>("ibv_destroy_qp");
  const int failed = destroy(pair);
  if (failed == 0) queue_pairs.fetch_sub(1, std::memory_order_relaxed);
  return failed;
}

void muster_bench_posted(muster::bench::posted* found) {
  const auto read = [](const auto& one) { return one.load(std::memory_order_relaxed); };
  *found = {.sends = read(sends),
            .doorbells = read(doorbells),
            .bytes = read(bytes),
            .queue_pairs = read(queue_pairs)};
}
}
