#include "tools/c/form.hpp"

#include <span>

#include <muster/base/error.hpp>
#include <muster/call/datatype.hpp>
#include <muster/call/reduction.hpp>
#include <muster/run/perform.hpp>

#include "tools/c/errors.hpp"

namespace muster::c {
namespace {

static_assert(MUSTER_BYTE == static_cast<int>(datatype::byte));
static_assert(MUSTER_UINT64 == static_cast<int>(datatype::uint64));
static_assert(MUSTER_FLOAT == static_cast<int>(datatype::float32));
static_assert(MUSTER_DOUBLE == static_cast<int>(datatype::float64));
static_assert(MUSTER_BFLOAT16 == static_cast<int>(datatype::bfloat16));
static_assert(MUSTER_COMPLEX_DOUBLE == static_cast<int>(datatype::complex128));
static_assert(MUSTER_BOOL == static_cast<int>(datatype::boolean));
static_assert(MUSTER_DOUBLE_INDEXED == static_cast<int>(datatype::float64_indexed));
static_assert(MUSTER_SUM == static_cast<int>(reduction::sum));
static_assert(MUSTER_LOGICAL_AND == static_cast<int>(reduction::logical_and));
static_assert(MUSTER_BIT_XOR == static_cast<int>(reduction::bit_xor));
static_assert(MUSTER_MAXLOC == static_cast<int>(reduction::maxloc));

bool is_in_place(const void* buffer) noexcept { return buffer == MUSTER_IN_PLACE; }
bool is_own(muster_type type) noexcept { return type > first_opaque_type; }

}  // namespace

void form::reject(const std::string& why) const { c::reject(name(call_.what), why); }

std::size_t form::bytes_of(muster_type type) const {
  if (is_own(type)) return static_cast<std::size_t>(type - first_opaque_type);
  if (type < MUSTER_BYTE || type > MUSTER_DOUBLE_INDEXED) {
    reject("type is " + std::to_string(type) +
           "; expected MUSTER_DOUBLE, another of these, or one of muster_type_opaque");
  }
  return size_of(static_cast<datatype>(type));
}

void form::elements(std::size_t count, muster_type type) {
  const std::size_t bytes = bytes_of(type);
  call_.count = count;
  if (!is_own(type)) {
    call_.type = static_cast<datatype>(type);
  } else if (has_varying_blocks(call_.what)) {
    reject("type is one of muster_type_opaque; expected MUSTER_BYTE, with counts in bytes");
  } else if (__builtin_mul_overflow(count, bytes, &call_.count)) {
    reject("count " + std::to_string(count) + " overflows; expected a size that fits into memory");
  }
}

void form::combined(std::size_t count, muster_type type, muster_op op) {
  const std::size_t bytes = bytes_of(type);
  // None is negative.
  const int plain = op < 0 ? op : op & ~MUSTER_IN_ARRIVAL_ORDER;
  call_.count = count;
  if (plain != op) call_.order = combining::by_arrival;
  if (plain >= MUSTER_SUM && plain <= MUSTER_MAXLOC) {
    if (is_own(type))
      reject("op is not one of muster_op_create; expected one for elements of type");
    call_.op = static_cast<reduction>(plain);
    call_.type = static_cast<datatype>(type);
    return;
  }
  op_ = on_.in().op(name(call_.what), plain);
  if (op_->element_bytes != bytes) {
    reject("op combines elements of " + std::to_string(op_->element_bytes) + " bytes; expected " +
           std::to_string(bytes) + ", as type has");
  }
  call_.op = reduction::custom;
  call_.type = datatype::custom;
  call_.custom = op_.get();
}

void form::root(int rank) {
  if (rank < 0) {
    reject("root is " + std::to_string(rank) + "; expected a rank from 0 to " +
           std::to_string(ranks() - 1));
  }
  call_.root = static_cast<std::size_t>(rank);
}

std::vector<std::size_t> form::list(std::string_view name, const int* ranks,
                                    std::size_t count) const {
  if (ranks == nullptr && count != 0) {
    reject(std::string(name) + " is NULL; expected a list of " + std::to_string(count) + " ranks");
  }
  std::vector<std::size_t> found;
  found.reserve(count);
  for (const int each : std::span(ranks, count)) {
    if (each < MUSTER_NO_RANK) {
      reject(std::string(name) + " has " + std::to_string(each) +
             "; expected ranks, or MUSTER_NO_RANK");
    }
    found.push_back(each == MUSTER_NO_RANK ? no_rank : static_cast<std::size_t>(each));
  }
  return found;
}

void form::neighbors(const muster_neighbors* with) {
  if (with == nullptr) reject("with is NULL; expected the neighbors of this rank");
  sources_ = list("sources", with->sources, with->source_count);
  destinations_ = list("destinations", with->destinations, with->destination_count);
  with_ = {.sources = sources_,
           .destinations = destinations_,
           .pairs = with->opposite != 0 ? pairing::opposite : pairing::in_order};
  call_.neighbors = &with_;
}

block_layout form::layout(std::string_view name, const std::size_t* counts,
                          const std::size_t* displacements, std::size_t blocks) const {
  if (blocks == 0) return {};
  if (counts == nullptr) {
    reject(std::string(name) + " is NULL; expected " + std::to_string(blocks) +
           " lengths of blocks");
  }
  const std::span<const std::size_t> begins(displacements, displacements == nullptr ? 0 : blocks);
  return {.counts = {counts, blocks}, .displacements = begins};
}

void form::send_layout(std::string_view name, const std::size_t* counts,
                       const std::size_t* displacements) {
  const std::size_t blocks = has_neighbors(call_.what) ? destinations_.size() : ranks();
  send_blocks_ = layout(name, counts, displacements, blocks);
  call_.send_blocks = &send_blocks_;
}

void form::receive_layout(std::string_view name, const std::size_t* counts,
                          const std::size_t* displacements) {
  const std::size_t blocks = has_neighbors(call_.what) ? sources_.size() : ranks();
  receive_blocks_ = layout(name, counts, displacements, blocks);
  call_.receive_blocks = &receive_blocks_;
}

void form::require(std::string_view name, const void* buffer, bool is_used) const {
  if (is_in_place(buffer)) {
    reject(std::string(name) + " is MUSTER_IN_PLACE; expected a buffer, here");
  }
  // Which neighbors are there the engine looks at.
  if (buffer == nullptr && is_used && !has_neighbors(call_.what)) {
    reject(std::string(name) + " is NULL; expected a buffer");
  }
}

void form::buffer(void* both) {
  require("buffer", both, call_.bytes() != 0);
  call_.receive = static_cast<std::byte*>(both);
}

void form::scatter_buffers(const void* send, void* receive) {
  if (is_at_root()) {
    require("send", send, call_.contributed_bytes(ranks()) != 0);
    call_.send = static_cast<const std::byte*>(send);
    if (is_in_place(receive)) return be_in_place();
  }
  require("receive", receive, call_.bytes() != 0);
  call_.receive = static_cast<std::byte*>(receive);
}

// The other buffer's layout is the one that counts.
void form::be_in_place() {
  switch (call_.what) {
    case collective::alltoallv:
      send_blocks_ = receive_blocks_;
      call_.send_blocks = &send_blocks_;
      break;
    case collective::scatterv:
      call_.count = send_blocks_.counts[rank()];
      break;
    case collective::gatherv:
    case collective::allgatherv:
      call_.count = receive_blocks_.counts[rank()];
      break;
    default:
      break;
  }
}

void form::buffers(const void* send, void* receive) {
  if (call_.is_scatter()) return scatter_buffers(send, receive);
  const bool may_be_in_place = !has_neighbors(call_.what) && (!call_.is_gather() || is_at_root());
  if (is_in_place(send) && may_be_in_place) {
    be_in_place();
    // A null `send` says so to the engine.
    require("receive", receive,
            call_.contributed_bytes(ranks()) != 0 || call_.received_bytes(ranks()) != 0);
    call_.receive = static_cast<std::byte*>(receive);
    return;
  }
  const bool sends = call_.contributed_bytes(ranks()) != 0;
  require("send", send, sends);
  call_.send = static_cast<const std::byte*>(send);
  if (!call_.receives(rank())) return;
  require("receive", receive, call_.received_bytes(ranks()) != 0);
  if (sends && send == receive) {
    reject("receive is send; expected another buffer, or MUSTER_IN_PLACE");
  }
  call_.receive = static_cast<std::byte*>(receive);
}

task<> form::make() const {
  muster::team& on = on_.team();
  if (!has_varying_blocks(call_.what)) return perform(on, call_);
  if (!has_neighbors(call_.what)) return perform(on, call_, send_blocks_, receive_blocks_);
  const bool has_layouts = call_.send_blocks != nullptr || call_.receive_blocks != nullptr;
  if (has_layouts) return perform_with(on, call_, with_, send_blocks_, receive_blocks_);
  return perform_with(on, call_, with_, call_.count);
}

}  // namespace muster::c
