#include "tests/rdma/unwilling_devices.hpp"

#include <dlfcn.h>

#include <cerrno>
#include <utility>

namespace muster::testing {
namespace {

const ibv_context* unwilling = nullptr;  // null: none
int refused = 0;

struct word {
  ibv_context* of = nullptr;  // null: there is none
  ibv_event_type what{};
};
word next_word;

/// What this program has in place of.
template <class Function>
Function* real(const char* name) {
  return reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name));
}

}  // namespace

unwilling_device::unwilling_device(const verbs::device& of) {
  unwilling = of.domain()->context;
  refused = 0;
}
unwilling_device::~unwilling_device() { unwilling = nullptr; }
int unwilling_device::refusals() const noexcept { return refused; }

void have_say(const verbs::device& of, ibv_event_type what) {
  next_word = {.of = of.domain()->context, .what = what};
}

}  // namespace muster::testing

extern "C" {

ibv_qp* ibv_create_qp(ibv_pd* in, ibv_qp_init_attr* how) {
  using namespace muster::testing;
  static auto* const make = real<ibv_qp*(ibv_pd*, ibv_qp_init_attr*)>("ibv_create_qp");
  if (in->context != unwilling) return make(in, how);
  ++refused;
  errno = ENOMEM;
  return nullptr;
}

int ibv_get_async_event(ibv_context* of, ibv_async_event* event) {
  using namespace muster::testing;
  static auto* const get = real<int(ibv_context*, ibv_async_event*)>("ibv_get_async_event");
  if (of != next_word.of) return get(of, event);
  *event = {};
  event->event_type = std::exchange(next_word, {}).what;
  event->element.port_num = 1;
  return 0;
}

}  // extern "C"
