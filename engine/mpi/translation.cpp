#include "engine/mpi/translation.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <numeric>

namespace muster::mpi {
namespace {

/// Stands for a buffer of no bytes: to Muster a null pointer says "in place".
std::byte* nowhere() noexcept {
  static std::byte nothing{};
  return &nothing;
}

bool is_reduction(const call& what) noexcept { return has_op(collective_of(what.what)); }

bool lies_as_combined(const type_facts& type) noexcept {
  return type.kind != elements::opaque || type.contiguous;
}

}  // namespace

const char* reason_to_leave(const call& what, types& known, const char* mpi_may_not_combine) {
  if (!is_reduction(what) || what.op == MPI_OP_NULL || what.receive.type == MPI_DATATYPE_NULL) {
    return nullptr;  // nothing to combine, or an error to report
  }
  const type_facts& type = known.find(what.receive.type);
  const reduction op = reduction_of(what.op);
  if (op == reduction::none) return "operation";
  const bool is_known = type.kind == elements::known || type.kind == elements::bytes;
  if (op != reduction::custom && !has(type, op)) return "operation on such elements";
  if (op != reduction::custom && is_known) return nullptr;
  if (mpi_may_not_combine != nullptr) return mpi_may_not_combine;
  if (op != reduction::custom) return nullptr;
  return lies_as_combined(type) && type.extent != 0 ? nullptr : "elements with gaps";
}

translation::translation(const call& from, types& known, std::size_t rank, std::size_t ranks)
    : function_(from.function), types_(known), rank_(rank), ranks_(ranks) {
  call_.what = collective_of(from.what);
  if (has_root(call_.what)) {
    if (from.root < 0 || static_cast<std::size_t>(from.root) >= ranks) {
      throw rejected(MPI_ERR_ROOT, std::string(function_) + ": root is " +
                                       std::to_string(from.root) + "; expected 0 to " +
                                       std::to_string(ranks - 1));
    }
    call_.root = static_cast<std::size_t>(from.root);
  }
  if (call_.what == collective::barrier) return;
  if (has_op(call_.what)) {
    translate_reduction(from);
  } else if (has_varying_blocks(call_.what)) {
    translate_varying(from);
  } else {
    translate_movement(from);
  }
}

task<> translation::begin(team& on) const {
  if (!has_varying_blocks(call_.what)) return perform(on, call_);
  const block_layout none;
  return perform(on, call_, call_.send_blocks == nullptr ? none : *call_.send_blocks,
                 call_.receive_blocks == nullptr ? none : *call_.receive_blocks);
}

bool translation::means_the_same_again(const call& from) {
  if (!packed_.empty() || combiner_ != nullptr || call_.send_blocks != nullptr ||
      call_.receive_blocks != nullptr) {
    return false;
  }
  // What has no meaning on this rank need not be a type at all. Reductions have one, of the second.
  const bool sends = call_.send != nullptr && !has_op(call_.what);
  return (!sends || types_.find(from.send.type).stays) &&
         (call_.receive == nullptr || types_.find(from.receive.type).stays);
}

// ---- blocks of one length

void translation::translate_movement(const call& from) {
  const bool at_root = rank_ == call_.root;
  if (call_.what == collective::bcast) {
    const flat all = uniform(from.receive, 1, at_root ? wanted::read : wanted::written, "buffer");
    call_.count = all.block_bytes;
    call_.receive = all.at;
    return;
  }
  const bool in_place =
      call_.is_scatter() ? at_root && from.receive.in_place() : from.send.in_place();
  const bool sends = call_.sends(rank_) && !from.send.in_place();
  const bool receives = call_.receives(rank_) && !from.receive.in_place();
  flat sent;
  flat received;
  if (sends) sent = uniform(from.send, call_.sends_blocks() ? ranks_ : 1, wanted::read, "sendbuf");
  if (receives) {
    received = uniform(from.receive, call_.receives_blocks() ? ranks_ : 1,
                       in_place ? wanted::both : wanted::written, "recvbuf");
  }
  if (sends && receives) require_same(sent.block_bytes, received.block_bytes);
  call_.send = sent.at;
  call_.receive = received.at;
  call_.count = sends ? sent.block_bytes : received.block_bytes;
}

translation::flat translation::uniform(const side& of, std::size_t blocks, wanted use,
                                       const char* name) {
  require_type(of.type, name);
  require_count(of.count, name);
  const type_facts& type = types_.find(of.type);
  const std::size_t bytes = static_cast<std::size_t>(of.count) * type.size;
  if (type.contiguous || bytes == 0) {
    require_buffer(of.buffer, bytes, name);
    auto* const at = static_cast<std::byte*>(of.buffer);
    return {at == nullptr ? nowhere() : at, bytes};
  }
  const scattered_elements all{static_cast<std::byte*>(of.buffer),
                               of.count * static_cast<std::int64_t>(blocks), of.type, type};
  return {flatten(all, use, make_room(blocks * bytes)), bytes};
}

// ---- blocks of varying lengths

void translation::translate_varying(const call& from) {
  const bool at_root = rank_ == call_.root;
  const bool is_root_only = has_root(call_.what);
  const bool sends_layout =
      call_.what == collective::alltoallv || call_.what == collective::scatterv;
  const bool in_place =
      call_.is_scatter() ? at_root && from.receive.in_place() : from.send.in_place();
  const wanted received = in_place ? wanted::both : wanted::written;

  std::size_t sent_bytes = 0;
  if (call_.sends(rank_) && !from.send.in_place()) {
    if (sends_layout) {
      call_.send = varying(from.send, sent_, wanted::read, "sendbuf");
      sent_bytes = sent_.counts[rank_];
    } else {
      const flat block = uniform(from.send, 1, wanted::read, "sendbuf");
      call_.send = block.at;
      sent_bytes = block.block_bytes;
    }
  }
  std::size_t received_bytes = 0;
  if (call_.receives(rank_) && !from.receive.in_place()) {
    if (call_.receives_blocks() && (!is_root_only || at_root)) {
      call_.receive = varying(from.receive, received_, received, "recvbuf");
      received_bytes = received_.counts[rank_];
    } else {
      const flat block = uniform(from.receive, 1, received, "recvbuf");
      call_.receive = block.at;
      received_bytes = block.block_bytes;
    }
  }
  if (call_.send != nullptr && call_.receive != nullptr) require_same(sent_bytes, received_bytes);
  if (call_.what == collective::alltoallv) {
    call_.send_blocks = in_place ? &received_.view : &sent_.view;
    call_.receive_blocks = &received_.view;
    return;
  }
  call_.count = call_.send != nullptr ? sent_bytes : received_bytes;
  if (sends_layout && at_root) call_.send_blocks = &sent_.view;
  if (call_.receives_blocks() && (!is_root_only || at_root)) {
    call_.receive_blocks = &received_.view;
  }
}

std::byte* translation::varying(const side& of, layout& out, wanted use, const char* name) {
  out.counts.resize(ranks_);
  out.displacements.resize(ranks_);
  out.view = {.counts = out.counts, .displacements = out.displacements};
  bool any = false;
  for (std::size_t rank = 0; rank < ranks_; ++rank) {
    require_type(type_of(of, rank), name);
    require_count(of.counts[rank], name);
    const std::size_t bytes =
        static_cast<std::size_t>(of.counts[rank]) * types_.find(type_of(of, rank)).size;
    out.counts[rank] = bytes;
    any = any || bytes != 0;
  }
  if (!any) return nowhere();
  if (!lies_flat(of)) return pack_blocks(of, out, use);
  require_buffer(of.buffer, 1, name);
  return lay_out(of, out);
}

bool translation::lies_flat(const side& of) {
  if (of.types == nullptr) return types_.find(of.type).contiguous;
  return std::all_of(of.types, of.types + ranks_,
                     [this](MPI_Datatype type) { return types_.find(type).contiguous; });
}

std::int64_t translation::displacement_bytes(const side& of) {
  return of.types == nullptr ? static_cast<std::int64_t>(types_.find(of.type).extent) : 1;
}

// Displacements may be negative in MPI: they are counted from the first block's place on.
std::byte* translation::lay_out(const side& of, layout& out) {
  const std::int64_t unit = displacement_bytes(of);
  const auto displacement = [&](std::size_t rank) { return of.displacements[rank] * unit; };
  std::int64_t first = std::numeric_limits<std::int64_t>::max();
  for (std::size_t rank = 0; rank < ranks_; ++rank) {
    if (out.counts[rank] != 0) first = std::min(first, displacement(rank));
  }
  for (std::size_t rank = 0; rank < ranks_; ++rank) {
    const bool empty = out.counts[rank] == 0;
    out.displacements[rank] = empty ? 0 : static_cast<std::size_t>(displacement(rank) - first);
  }
  return static_cast<std::byte*>(of.buffer) + first;
}

std::byte* translation::pack_blocks(const side& of, layout& out, wanted use) {
  std::exclusive_scan(out.counts.begin(), out.counts.end(), out.displacements.begin(),
                      std::size_t{0});
  std::byte* const room = make_room(out.displacements.back() + out.counts.back());
  const std::int64_t unit = displacement_bytes(of);
  for (std::size_t rank = 0; rank < ranks_; ++rank) {
    if (out.counts[rank] == 0) continue;
    const MPI_Datatype type = type_of(of, rank);
    flatten({static_cast<std::byte*>(of.buffer) + of.displacements[rank] * unit, of.counts[rank],
             type, types_.find(type)},
            use, room + out.displacements[rank]);
  }
  return room;
}

// ---- reductions

void translation::translate_reduction(const call& from) {
  const side& vector = from.receive;
  require_type(vector.type, "datatype");
  if (from.op == MPI_OP_NULL) {
    throw rejected(MPI_ERR_OP,
                   std::string(function_) + ": op is MPI_OP_NULL; expected an operation");
  }
  const type_facts& type = types_.find(vector.type);
  call_.op = reduction_of(from.op);
  call_.type = type.as;
  if (call_.op == reduction::custom ||
      (type.kind != elements::known && type.kind != elements::bytes)) {
    reduce_by_mpi(from, type);
  }

  std::size_t all = 0;  // elements that a rank contributes
  if (call_.what == collective::reduce_scatter) {
    sent_.counts.resize(ranks_);
    sent_.displacements.resize(ranks_);
    for (std::size_t rank = 0; rank < ranks_; ++rank) {
      require_count(vector.counts[rank], "recvcounts");
      sent_.counts[rank] = static_cast<std::size_t>(vector.counts[rank]);
      sent_.displacements[rank] = all;
      all += sent_.counts[rank];
    }
    sent_.view = {.counts = sent_.counts, .displacements = sent_.displacements};
    call_.send_blocks = &sent_.view;
    call_.count = sent_.counts[rank_];
  } else {
    require_count(vector.count, "count");
    call_.count = static_cast<std::size_t>(vector.count);
    all = call_.count * (call_.what == collective::reduce_scatter_block ? ranks_ : 1);
  }

  const bool in_place = from.send.in_place();
  if (!in_place) {
    require_buffer(from.send.buffer, all * type.extent, "sendbuf");
    call_.send = static_cast<std::byte*>(from.send.buffer);
    if (call_.send == nullptr) call_.send = nowhere();
  }
  if (call_.receives(rank_)) {
    const std::size_t received = in_place ? all : call_.count;
    require_buffer(vector.buffer, received * type.extent, "recvbuf");
    call_.receive = static_cast<std::byte*>(vector.buffer);
    if (call_.receive == nullptr) call_.receive = nowhere();
  }
}

void translation::reduce_by_mpi(const call& from, const type_facts& type) {
  combiner_ = std::make_unique<combined_by_mpi>(type, from.receive.type, from.op);
  call_.op = reduction::custom;
  call_.type = datatype::custom;
  call_.custom = combiner_.get();
}

// ---- elements that do not lie flat

std::byte* translation::flatten(const scattered_elements& all, wanted use, std::byte* room) {
  if (use != wanted::written) pack(all, room);
  if (use != wanted::read) to_unpack_.emplace_back(room, all);
  return room;
}

std::byte* translation::make_room(std::size_t bytes) {
  packed_.push_back(std::make_unique_for_overwrite<std::byte[]>(bytes));
  return packed_.back().get();
}

void translation::finish() {
  for (const unpacking& one : to_unpack_) one.unpack();
}

// ---- what is wrong with an argument

void translation::require_count(std::int64_t count, const char* name) const {
  if (count >= 0) [[likely]]
    return;
  throw rejected(MPI_ERR_COUNT, std::string(function_) + ": a count of " + name + " is " +
                                    std::to_string(count) + "; expected 0 or more");
}

void translation::require_type(MPI_Datatype type, const char* name) const {
  if (type != MPI_DATATYPE_NULL) [[likely]]
    return;
  throw rejected(MPI_ERR_TYPE, std::string(function_) + ": the type of " + name +
                                   " is MPI_DATATYPE_NULL; expected a datatype");
}

void translation::require_buffer(const void* buffer, std::size_t bytes, const char* name) const {
  if (bytes == 0 || is_somewhere(buffer)) [[likely]]
    return;
  throw rejected(MPI_ERR_BUFFER, std::string(function_) + ": " + name + " is " +
                                     (buffer == nullptr ? "null" : "MPI_IN_PLACE") +
                                     "; expected a buffer, as there is data");
}

void translation::require_same(std::size_t sent, std::size_t received) const {
  if (sent == received) [[likely]]
    return;
  throw rejected(MPI_ERR_TRUNCATE, std::string(function_) + ": this rank's own block is " +
                                       std::to_string(sent) + " bytes sent and " +
                                       std::to_string(received) + " received; expected the same");
}

}  // namespace muster::mpi
