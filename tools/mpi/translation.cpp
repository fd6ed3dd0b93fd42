#include "tools/mpi/translation.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <numeric>

#include "tools/mpi/aliases.hpp"
#include "tools/mpi/combined_here.hpp"

namespace muster::mpi {
namespace {

/// Stands for a buffer of no bytes: to Muster a null pointer says "in place".
std::byte* nowhere() noexcept {
  static std::byte nothing{};
  return &nothing;
}

bool is_reduction(const call& what) noexcept { return has_op(collective_of(what.what)); }

bool is_combined_by_muster(const type_facts& type, reduction op) noexcept {
  return type.known_by == elements::of_muster && supports(op, type.as);
}

/// Addresses where no program has memory: a displacement from a null pointer that was meant as a
/// buffer, not as MPI_BOTTOM.
bool is_in_first_page(const std::byte* address) noexcept {
  constexpr std::uintptr_t page = 4096;
  return reinterpret_cast<std::uintptr_t>(address) < page;
}

}  // namespace

const char* reason_to_leave(const call& what, types& known, const char* mpi_may_not_combine) {
  if (!is_reduction(what) || what.op == MPI_OP_NULL || what.receive.type == MPI_DATATYPE_NULL) {
    return nullptr;  // nothing to combine, or an error to report
  }
  const type_facts& type = known.find(what.receive.type);
  const reduction op = reduction_of(what.op);
  if (op == reduction::none) return "operation";
  if (op == reduction::custom) return mpi_may_not_combine;
  if (!type.ops.has(op)) return "operation on such elements";
  const bool needs_mpi =
      !is_combined_by_muster(type, op) && combined_here(type.known_by, op) == nullptr;
  return needs_mpi ? mpi_may_not_combine : nullptr;
}

translation::translation(const call& from, types& known, std::size_t rank, std::size_t ranks,
                         const neighborhood* with)
    : function_(from.function), types_(known), rank_(rank), ranks_(ranks) {
  call_.what = collective_of(from.what);
  call_.neighbors = with;
  if (has_root(call_.what)) {
    if (from.root < 0 || static_cast<std::size_t>(from.root) >= ranks) {
      throw rejected(MPI_ERR_ROOT, std::string(function_) + ": root is " +
                                       std::to_string(from.root) + "; expected 0 to " +
                                       std::to_string(ranks - 1));
    }
    call_.root = static_cast<std::size_t>(from.root);
  }
  if (call_.what == collective::barrier) return;
  if (with != nullptr) {
    translate_neighbors(from);
  } else if (has_op(call_.what)) {
    translate_reduction(from);
  } else if (has_varying_blocks(call_.what)) {
    translate_varying(from);
  } else {
    translate_movement(from);
  }
  require_no_alias(from, call_, types_, rank_);
}

task<> translation::begin(team& on) const {
  // Of neighbors, all lists and layouts are kept already.
  if (!has_varying_blocks(call_.what) || has_neighbors(call_.what)) return perform(on, call_);
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
  require_not_in_place(of.buffer, name);
  const scattered_elements all(of.buffer, of.count * static_cast<std::int64_t>(blocks), of.type,
                               type);
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

std::byte* translation::varying(const side& of, layout& out, wanted use, const char* name,
                                std::size_t blocks, std::span<const std::size_t> whose) {
  out.counts.resize(blocks);
  out.displacements.resize(blocks);
  out.view = {.counts = out.counts, .displacements = out.displacements};
  bool any = false;
  if (blocks != 0) require_list(of.counts, "counts", name);
  for (std::size_t rank = 0; rank < blocks; ++rank) {
    if (!whose.empty() && whose[rank] == no_rank) continue;
    require_count(of.counts[rank], name);
    // A block of no elements needs no type.
    if (of.types != nullptr && of.counts[rank] == 0) continue;
    require_type(type_of(of, rank), name);
    const std::size_t bytes =
        static_cast<std::size_t>(of.counts[rank]) * types_.find(type_of(of, rank)).size;
    out.counts[rank] = bytes;
    any = any || bytes != 0;
  }
  if (!any) return nowhere();
  require_list(of.displacements, "displacements", name);
  require_not_in_place(of.buffer, name);
  if (!lies_flat(of, out)) return pack_blocks(of, out, use);
  std::byte* const first = lay_out(of, out);
  if (of.buffer == nullptr && is_in_first_page(first)) require_buffer(nullptr, 1, name);
  return first;
}

bool translation::lies_flat(const side& of, const layout& blocks) {
  if (of.types == nullptr) return types_.find(of.type).contiguous;
  for (std::size_t i = 0; i < blocks.counts.size(); ++i) {
    if (blocks.counts[i] != 0 && !types_.find(of.types[i]).contiguous) return false;
  }
  return true;
}

std::int64_t translation::displacement_bytes(const side& of) {
  return of.types == nullptr ? types_.find(of.type).extent : 1;
}

// Displacements may be negative in MPI: they are counted from the first block's place on.
std::byte* translation::lay_out(const side& of, layout& out) {
  const std::int64_t unit = displacement_bytes(of);
  const auto displacement = [&](std::size_t rank) { return of.displacements[rank] * unit; };
  std::int64_t first = std::numeric_limits<std::int64_t>::max();
  for (std::size_t rank = 0; rank < out.counts.size(); ++rank) {
    if (out.counts[rank] != 0) first = std::min(first, displacement(rank));
  }
  for (std::size_t rank = 0; rank < out.counts.size(); ++rank) {
    const bool empty = out.counts[rank] == 0;
    out.displacements[rank] = empty ? 0 : static_cast<std::size_t>(displacement(rank) - first);
  }
  return away_from(of.buffer, first);
}

std::byte* translation::pack_blocks(const side& of, layout& out, wanted use) {
  std::exclusive_scan(out.counts.begin(), out.counts.end(), out.displacements.begin(),
                      std::size_t{0});
  std::byte* const room = make_room(out.displacements.back() + out.counts.back());
  const std::int64_t unit = displacement_bytes(of);
  for (std::size_t rank = 0; rank < out.counts.size(); ++rank) {
    if (out.counts[rank] == 0) continue;
    const MPI_Datatype type = type_of(of, rank);
    const scattered_elements block(away_from(of.buffer, of.displacements[rank] * unit),
                                   of.counts[rank], type, types_.find(type));
    flatten(block, use, room + out.displacements[rank]);
  }
  return room;
}

// ---- with neighbors

void translation::translate_neighbors(const call& from) {
  if (from.send.in_place() || from.receive.in_place()) {
    throw rejected(MPI_ERR_BUFFER, std::string(function_) + ": " +
                                       (from.send.in_place() ? "sendbuf" : "recvbuf") +
                                       " is MPI_IN_PLACE; expected a buffer");
  }
  const auto& [sources, destinations, pairs] = *call_.neighbors;
  const bool varies =
      call_.what == collective::neighbor_allgatherv || call_.what == collective::neighbor_alltoallv;
  if (varies && !call_.sends_one_block()) {
    call_.send =
        varying(from.send, sent_, wanted::read, "sendbuf", destinations.size(), destinations);
    call_.send_blocks = &sent_.view;
  } else if (!destinations.empty()) {
    const std::size_t blocks = call_.sends_one_block() ? 1 : destinations.size();
    const flat sent = uniform(from.send, blocks, wanted::read, "sendbuf");
    call_.send = sent.at;
    call_.count = sent.block_bytes;
  }
  if (varies) {
    call_.receive =
        varying(from.receive, received_, wanted::written, "recvbuf", sources.size(), sources);
    call_.receive_blocks = &received_.view;
  } else if (!sources.empty()) {
    receive_from_neighbors(from.receive, call_.count);
  }
}

// Blocks of one length, but for those of nobody, and perhaps another than of those sent.
void translation::receive_from_neighbors(const side& of, std::size_t sent) {
  require_type(of.type, "recvbuf");
  require_count(of.count, "recvbuf");
  const std::span<const std::size_t> sources = call_.neighbors->sources;
  const type_facts& type = types_.find(of.type);
  const std::size_t bytes = static_cast<std::size_t>(of.count) * type.size;
  const bool some_are_nobody = std::ranges::find(sources, no_rank) != sources.end();
  if (bytes == sent && (type.contiguous || !some_are_nobody)) {
    call_.receive = uniform(of, sources.size(), wanted::written, "recvbuf").at;
    return;
  }
  const std::vector<std::int64_t> counts(sources.size(), of.count);
  std::vector<std::int64_t> displacements(sources.size());
  for (std::size_t i = 0; i < sources.size(); ++i) {
    displacements[i] = static_cast<std::int64_t>(i) * of.count;
  }
  side each = of;
  each.counts = numbers(counts.data());
  each.displacements = numbers(displacements.data());
  call_.receive = varying(each, received_, wanted::written, "recvbuf", sources.size(), sources);
  call_.receive_blocks = &received_.view;
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
  choose_combiner(from, type);
  const std::size_t all = contributed(from);
  if (type.size == 0) {
    // There is nothing to combine, however many elements there are.
    call_.count = 0;
    std::ranges::fill(sent_.counts, 0);
    std::ranges::fill(sent_.displacements, 0);
  }
  point_at_operands(from, type, type.size == 0 ? 0 : all);
}

void translation::choose_combiner(const call& from, const type_facts& type) {
  call_.op = reduction_of(from.op);
  call_.type = type.as;
  if (is_combined_by_muster(type, call_.op)) return;
  call_.custom = combined_here(type.known_by, call_.op);
  if (call_.custom == nullptr) {
    combiner_ = std::make_unique<combined_by_mpi>(type, from.receive.type, from.op);
    call_.custom = combiner_.get();
  }
  call_.op = reduction::custom;
  call_.type = datatype::custom;
}

std::size_t translation::contributed(const call& from) {
  const side& vector = from.receive;
  if (call_.what != collective::reduce_scatter) {
    require_count(vector.count, "count");
    call_.count = static_cast<std::size_t>(vector.count);
    return call_.count * (call_.what == collective::reduce_scatter_block ? ranks_ : 1);
  }
  std::size_t all = 0;
  require_list(vector.counts, "counts", "recvbuf");
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
  return all;
}

void translation::point_at_operands(const call& from, const type_facts& type,
                                    std::size_t contributed) {
  const side& vector = from.receive;
  const bool in_place = from.send.in_place();
  // The first rank of an exscan receives nothing, and need not say where.
  const bool has_result = call_.receives(rank_) && (call_.what != collective::exscan || rank_ != 0);
  const std::size_t results = has_result ? call_.count : 0;
  const std::size_t read = in_place ? contributed : 0;
  const bool lies_flat = combiner_ == nullptr || type.contiguous;
  const auto operand = [&](void* buffer, std::size_t is_read, std::size_t written,
                           const char* name) {
    const std::size_t bytes = std::max(is_read, written) * type.size;
    if (!lies_flat && bytes != 0) return flat_operand(vector, buffer, is_read, written, name);
    require_buffer(buffer, bytes, name);
    return buffer == nullptr ? nowhere() : static_cast<std::byte*>(buffer);
  };
  if (!in_place) call_.send = operand(from.send.buffer, contributed, 0, "sendbuf");
  if (call_.receives(rank_)) call_.receive = operand(vector.buffer, read, results, "recvbuf");
}

// ---- elements that do not lie flat

std::byte* translation::flatten(const scattered_elements& all, wanted use, std::byte* room) {
  if (use != wanted::written) to_pack_.push_back({room, all});
  if (use != wanted::read) to_unpack_.emplace_back(room, all);
  return room;
}

std::byte* translation::flat_operand(const side& vector, void* buffer, std::size_t read,
                                     std::size_t written, const char* name) {
  require_not_in_place(buffer, name);
  const type_facts& type = types_.find(vector.type);
  const auto stretch = [&](std::size_t count) {
    return scattered_elements(buffer, static_cast<std::int64_t>(count), vector.type, type);
  };
  std::byte* const room = make_room(std::max(read, written) * type.size);
  to_pack_.push_back({room, stretch(read)});
  if (written != 0) to_unpack_.emplace_back(room, stretch(written));
  return room;
}

std::byte* translation::make_room(std::size_t bytes) {
  packed_.push_back(std::make_unique_for_overwrite<std::byte[]>(bytes));
  return packed_.back().get();
}

void translation::pack() const {
  for (const packing& one : to_pack_) mpi::pack(one.from, one.room);
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

void translation::require_list(const numbers& list, const char* what, const char* name) const {
  if (list.given()) [[likely]]
    return;
  throw rejected(MPI_ERR_ARG, std::string(function_) + ": the " + what + " of " + name +
                                  " are null; expected one for each block");
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

void translation::require_not_in_place(const void* buffer, const char* name) const {
  if (buffer == MPI_IN_PLACE) require_buffer(buffer, 1, name);
}

void translation::require_same(std::size_t sent, std::size_t received) const {
  if (sent == received) [[likely]]
    return;
  throw rejected(MPI_ERR_TRUNCATE, std::string(function_) + ": this rank's own block is " +
                                       std::to_string(sent) + " bytes sent and " +
                                       std::to_string(received) + " received; expected the same");
}

}  // namespace muster::mpi
