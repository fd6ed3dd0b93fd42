#include "tools/mpi/exchange.hpp"

#include <algorithm>

#include "tools/mpi/next.hpp"

namespace muster::mpi {
namespace {

/// How the node's ranks are reached, for the operation, to which the MPI tells nothing of ours.
std::atomic<const wire::node_memory*>& reach_of_operation() noexcept {
  static std::atomic<const wire::node_memory*> one{nullptr};
  return one;
}

/// In shared memory; the offers of all ranks follow it.
struct alignas(wire::cache_line) mailbox_head {
  std::atomic<std::uint64_t> state;  ///< its ticket, and what has become of it

  static constexpr std::uint64_t empty = 0;
  static constexpr std::uint64_t being_filled = 1;
  static constexpr std::uint64_t full = 2;
  static constexpr std::uint64_t states = 4;

  offer* offers() noexcept { return reinterpret_cast<offer*>(this + 1); }
};

mailbox_head& head_of(const post_office::mailbox& one) noexcept {
  return *reinterpret_cast<mailbox_head*>(one.memory.data());
}

/// What some ranks have said: an element of the MPI's, as one for all of a communicator.
struct letter {
  struct entry {
    std::uint64_t known;    ///< 0: of this rank nothing is
    std::uint64_t mailbox;  ///< 0: it has none
    std::uint64_t ticket;
    offer says;
  };
  std::uint64_t ranks;
  std::uint64_t known;  ///< of how many ranks something is

  entry* entries() noexcept { return reinterpret_cast<entry*>(this + 1); }
  const entry* entries() const noexcept { return reinterpret_cast<const entry*>(this + 1); }
  static std::size_t bytes(std::size_t ranks) noexcept {
    return sizeof(letter) + ranks * sizeof(entry);
  }
};

/// Fills the mailbox of a rank, unless another has it or has done so before.
void deliver(const letter& whole, const letter::entry& to, const wire::node_memory& reach) {
  if (to.mailbox == 0) return;
  const std::byte* const at = reach.borrow({wire::origin::kind::segment, to.mailbox});
  auto& box = *reinterpret_cast<mailbox_head*>(const_cast<std::byte*>(at));
  std::uint64_t found = to.ticket + mailbox_head::empty;
  // acquire: what was there before has been read.
  if (!box.state.compare_exchange_strong(found, to.ticket + mailbox_head::being_filled,
                                         std::memory_order_acquire, std::memory_order_relaxed)) {
    return;
  }
  for (std::size_t rank = 0; rank < whole.ranks; ++rank) {
    box.offers()[rank] = whole.entries()[rank].says;
  }
  // release: pairs with `heard`.
  box.state.store(to.ticket + mailbox_head::full, std::memory_order_release);
}

void put_together(const letter& from, letter& into) {
  for (std::size_t rank = 0; rank < into.ranks; ++rank) {
    letter::entry& mine = into.entries()[rank];
    const letter::entry& theirs = from.entries()[rank];
    if (mine.known != 0 || theirs.known == 0) continue;
    mine = theirs;
    ++into.known;
  }
  // acquire: pairs with the release of whoever made the post office.
  const wire::node_memory* const reach = reach_of_operation().load(std::memory_order_acquire);
  if (into.known != into.ranks || reach == nullptr) return;
  for (std::size_t rank = 0; rank < into.ranks; ++rank) {
    deliver(into, into.entries()[rank], *reach);
  }
}

/// As the MPI calls it, in whatever progress it makes.
void combine(void* from, void* into, int* count, MPI_Datatype*) {
  auto* left = static_cast<std::byte*>(from);
  auto* right = static_cast<std::byte*>(into);
  for (int i = 0; i < *count; ++i) {
    auto& sum = *reinterpret_cast<letter*>(right);
    put_together(*reinterpret_cast<const letter*>(left), sum);
    left += letter::bytes(sum.ranks);
    right += letter::bytes(sum.ranks);
  }
}

}  // namespace

post_office::post_office(wire::node_memory& reach, progress_hook hook) : reach_(reach) {
  if (hook != progress_hook::without_mpi) return;
  constexpr int commutes = 1;
  PMPI_Op_create(combine, commutes, &operation_);
  // release: see `put_together`.
  reach_of_operation().store(&reach, std::memory_order_release);
}

post_office::~post_office() {
  if (operation_ == MPI_OP_NULL) return;
  static const auto free_beneath = find_next<decltype(&PMPI_Op_free)>("PMPI_Op_free");
  free_beneath(&operation_);
  reach_of_operation().store(nullptr, std::memory_order_relaxed);
}

post_office::mailbox post_office::take(std::size_t ranks) {
  if (operation_ == MPI_OP_NULL) return {};
  const std::size_t bytes = sizeof(mailbox_head) + ranks * sizeof(offer);
  mailbox one;
  const auto fits =
      std::ranges::find_if(idle_, [bytes](const auto& each) { return each.size() >= bytes; });
  if (fits != idle_.end()) {
    one.memory = *fits;
    idle_.erase(fits);
  } else {
    one.memory = reach_.allocate(bytes, wire::node_memory::use::buffer);
  }
  one.ticket = ++tickets_ * mailbox_head::states;
  // release: what was there before has been read. Whoever fills it hears of the ticket later.
  head_of(one).state.store(one.ticket + mailbox_head::empty, std::memory_order_release);
  return one;
}

std::uint64_t post_office::address_of(const mailbox& one) const noexcept {
  return one.memory.empty() ? 0 : reach_.lend(one.memory, false).address;
}

exchange::exchange(post_office& by, post_office::mailbox box, MPI_Comm on, std::size_t rank,
                   std::size_t ranks, const offer& mine)
    : by_(by), box_(box), ranks_(ranks), letter_(letter::bytes(ranks) / sizeof(std::uint64_t)) {
  auto& first = *reinterpret_cast<letter*>(letter_.data());
  first.ranks = ranks;
  first.known = 1;
  first.entries()[rank] = {
      .known = 1, .mailbox = by.address_of(box), .ticket = box.ticket, .says = mine};
  if (by.operation() == MPI_OP_NULL) {
    begin_allgather(on);
  } else {
    begin_allreduce(on);
  }
}

void exchange::begin_allgather(MPI_Comm on) {
  constexpr int bytes = sizeof(letter::entry);
  static const auto allgather = find_next<decltype(&PMPI_Iallgather)>("PMPI_Iallgather");
  letter::entry* const entries = reinterpret_cast<letter*>(letter_.data())->entries();
  allgather(MPI_IN_PLACE, 0, MPI_BYTE, entries, bytes, MPI_BYTE, on, &request_);
}

void exchange::begin_allreduce(MPI_Comm on) {
  // One element, so that no MPI takes it apart.
  PMPI_Type_contiguous(static_cast<int>(letter::bytes(ranks_)), MPI_BYTE, &type_);
  PMPI_Type_commit(&type_);
  static const auto allreduce = find_next<decltype(&PMPI_Iallreduce)>("PMPI_Iallreduce");
  allreduce(MPI_IN_PLACE, letter_.data(), 1, type_, by_.operation(), on, &request_);
}

exchange::~exchange() {
  if (!box_.memory.empty()) by_.give_back(box_);
  if (type_ != MPI_DATATYPE_NULL) PMPI_Type_free(&type_);
}

bool exchange::has_ended() {
  if (request_ == MPI_REQUEST_NULL) return true;
  static const auto test = find_next<decltype(&PMPI_Test)>("PMPI_Test");
  int is_complete = 0;
  test(&request_, &is_complete, MPI_STATUS_IGNORE);
  return is_complete != 0;
}

std::vector<offer> exchange::heard() const {
  if (!box_.memory.empty()) {
    mailbox_head& box = head_of(box_);
    // acquire: pairs with `deliver`.
    if (box.state.load(std::memory_order_acquire) != box_.ticket + mailbox_head::full) return {};
    return std::vector<offer>(box.offers(), box.offers() + ranks_);
  }
  if (request_ != MPI_REQUEST_NULL) return {};
  const auto& whole = *reinterpret_cast<const letter*>(letter_.data());
  std::vector<offer> all;
  for (std::size_t rank = 0; rank < ranks_; ++rank) all.push_back(whole.entries()[rank].says);
  return all;
}

}  // namespace muster::mpi
