#pragma once

#include <cstddef>
#include <cstdint>

#include <muster/call/arguments.hpp>
#include <muster/select/catalog.hpp>
#include <muster/team/order.hpp>

namespace muster {

/// What is known of a call before it begins, the same on every rank that makes it.
struct prepared_call {
  const algorithm* chosen;
  tuning how;
  stage_kind stages;
  bool moves_nothing;   ///< so nobody is waited for, whatever the algorithm
  std::uint64_t kind;   ///< for its record, like the next
  std::uint64_t count;  ///< as far as all ranks know it
  std::uint64_t details;
  std::uint64_t fingerprint;
};

/// The last call of a kind, prepared: programs repeat theirs.
class last_prepared {
public:
  /// What was prepared, if it was for a call like this one, with whatever buffers; or null.
  const prepared_call* find(const arguments& call) const noexcept {
    return like_ && is_like(call) ? &prepared_ : nullptr;
  }
  const prepared_call& keep(const arguments& call, const prepared_call& prepared) noexcept {
    // What a pointer shows may change behind it.
    like_ = call.custom == nullptr && !has_varying_blocks(call.what);
    call_ = call;
    prepared_ = prepared;
    return prepared_;
  }
  void forget() noexcept { like_ = false; }

private:
  bool is_like(const arguments& call) const noexcept {
    return call.what == call_.what && call.type == call_.type && call.op == call_.op &&
           call.order == call_.order && call.count == call_.count && call.root == call_.root &&
           (call.send == nullptr) == (call_.send == nullptr) &&
           (call.receive == nullptr) == (call_.receive == nullptr) && call.custom == nullptr &&
           call.send_blocks == nullptr && call.receive_blocks == nullptr;
  }

  bool like_ = false;
  arguments call_;
  prepared_call prepared_{};
};

}  // namespace muster
