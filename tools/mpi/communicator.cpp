#include "tools/mpi/communicator.hpp"

#include <algorithm>
#include <exception>
#include <iterator>
#include <utility>

#include <muster/base/error.hpp>
#include <muster/base/random.hpp>
#include <muster/run/derive.hpp>

#include "tools/mpi/next.hpp"

namespace muster::mpi {
namespace {

/// A group of MPI's.
class group {
public:
  explicit group(MPI_Comm of) { PMPI_Comm_group(of, &handle_); }
  ~group() { PMPI_Group_free(&handle_); }
  group(const group&) = delete;
  group& operator=(const group&) = delete;

  std::size_t size() const {
    int ranks = 0;
    PMPI_Group_size(handle_, &ranks);
    return static_cast<std::size_t>(ranks);
  }
  /// Its ranks, in order, as ranks of another; MPI_UNDEFINED for those that are not there.
  std::vector<int> as_ranks_of(const group& other) const {
    std::vector<int> mine(size());
    for (std::size_t i = 0; i < mine.size(); ++i) mine[i] = static_cast<int>(i);
    std::vector<int> theirs(mine.size());
    PMPI_Group_translate_ranks(handle_, static_cast<int>(mine.size()), mine.data(), other.handle_,
                               theirs.data());
    return theirs;
  }

private:
  MPI_Group handle_ = MPI_GROUP_NULL;
};

/// The ranks of a communicator as those of another; empty where some are not there.
std::vector<int> ranks_among(MPI_Comm all, MPI_Comm one) {
  std::vector<int> ranks = group(one).as_ranks_of(group(all));
  if (std::ranges::find(ranks, MPI_UNDEFINED) != ranks.end()) ranks.clear();
  return ranks;
}

/// Of a communicator with a graph: this rank has no neighbors in it.
bool is_alone(MPI_Comm with_graph) {
  int topology = MPI_UNDEFINED;
  PMPI_Topo_test(with_graph, &topology);
  int in = 0;
  int out = 0;
  int weighted = 0;
  if (topology == MPI_GRAPH) {
    int rank = 0;
    PMPI_Comm_rank(with_graph, &rank);
    PMPI_Graph_neighbors_count(with_graph, rank, &in);
  } else {
    PMPI_Dist_graph_neighbors_count(with_graph, &in, &out, &weighted);
  }
  return in + out == 0;
}

}  // namespace

communicator::communicator(MPI_Comm of, MPI_Comm together, node& among, driver& by,
                           post_office& through)
    : handle_(of), node_(among), driver_(by) {
  int is_inter = 0;
  PMPI_Comm_test_inter(of, &is_inter);
  if (is_inter != 0) {
    left_because_ = "intercommunicator";
  } else if (!find_members(together)) {
    left_because_ = "ranks on several machines";
  } else if (size() == 1) {
    left_because_ = "one rank";
  } else if (of == MPI_COMM_WORLD && size() == node_.team().size()) {
    team_ = &node_.team();  // nobody else uses that
    note_made_on_all();
  } else {
    offer_memory(through);
  }
}

communicator::~communicator() { let_go(); }

void communicator::let_go() {
  if (making_.valid()) std::move(making_).detach();
  if (std::exchange(team_, nullptr) == nullptr) return;
  driver_.on_engine([this] {
    last_ = {};
    idle_.clear();
    own_.reset();
  });
}

std::unique_ptr<cached_call> communicator::take(const call& like) noexcept {
  // The last ones first: programs repeat what they did last.
  for (std::size_t i = idle_.size(); i-- > 0;) {
    if (!idle_[i]->is_like(like)) continue;
    std::swap(idle_[i], idle_.back());
    std::unique_ptr<cached_call> found = std::move(idle_.back());
    idle_.pop_back();
    return found;
  }
  return nullptr;
}

void communicator::keep(std::unique_ptr<cached_call> ended) {
  constexpr std::size_t most = 16;
  if (idle_.size() == most) idle_.erase(idle_.begin());
  idle_.push_back(std::move(ended));
}

bool communicator::find_members(MPI_Comm together) {
  int rank = 0;
  PMPI_Comm_rank(handle_, &rank);
  rank_ = static_cast<std::size_t>(rank);
  const std::vector<int> ranks = ranks_among(together, handle_);
  if (ranks.empty()) return false;
  members_.assign(ranks.begin(), ranks.end());
  return true;
}

// ---- neighbors

namespace {

std::size_t rank_from(int mpi) noexcept {
  return mpi < 0 ? no_rank : static_cast<std::size_t>(mpi);  // MPI_PROC_NULL
}

std::vector<std::size_t> ranks_from(const std::vector<int>& mpi) {
  std::vector<std::size_t> ranks;
  for (const int one : mpi) ranks.push_back(rank_from(one));
  return ranks;
}

}  // namespace

const neighborhood* communicator::neighbors() {
  if (!std::exchange(knows_neighbors_, true)) find_neighbors();
  return has_topology_ ? &neighbors_ : nullptr;
}

void communicator::find_neighbors() {
  int topology = MPI_UNDEFINED;
  PMPI_Topo_test(handle_, &topology);
  if (topology == MPI_CART) {
    find_on_grid();
  } else if (topology == MPI_GRAPH) {
    find_in_graph();
  } else if (topology == MPI_DIST_GRAPH) {
    find_in_distributed_graph();
  } else {
    return;
  }
  has_topology_ = true;
  neighbors_.sources = sources_;
  neighbors_.destinations = destinations_;
}

// MPI-4.0, errata B.1.1: what is sent in one direction comes from the other, also where both lead
// to the same rank.
void communicator::find_on_grid() {
  int dimensions = 0;
  PMPI_Cartdim_get(handle_, &dimensions);
  for (int i = 0; i < dimensions; ++i) {
    int before = MPI_PROC_NULL;
    int after = MPI_PROC_NULL;
    PMPI_Cart_shift(handle_, i, 1, &before, &after);
    sources_.push_back(rank_from(before));
    sources_.push_back(rank_from(after));
  }
  destinations_ = sources_;
  neighbors_.pairs = pairing::opposite;
}

void communicator::find_in_graph() {
  const int rank = static_cast<int>(rank_);
  int count = 0;
  PMPI_Graph_neighbors_count(handle_, rank, &count);
  std::vector<int> all(static_cast<std::size_t>(count));
  PMPI_Graph_neighbors(handle_, rank, count, all.data());
  sources_ = destinations_ = ranks_from(all);
}

void communicator::find_in_distributed_graph() {
  int in = 0;
  int out = 0;
  int weighted = 0;
  PMPI_Dist_graph_neighbors_count(handle_, &in, &out, &weighted);
  std::vector<int> from(static_cast<std::size_t>(in));
  std::vector<int> to(static_cast<std::size_t>(out));
  // Where there are weights, they are to be had with the ranks.
  std::vector<int> weights_in(from.size());
  std::vector<int> weights_out(to.size());
  const bool has_weights = weighted != 0;
  PMPI_Dist_graph_neighbors(handle_, in, from.data(),
                            has_weights ? weights_in.data() : MPI_UNWEIGHTED, out, to.data(),
                            has_weights ? weights_out.data() : MPI_UNWEIGHTED);
  sources_ = ranks_from(from);
  destinations_ = ranks_from(to);
}

// Other groups of ranks begin with another of theirs.
std::size_t communicator::turn() const noexcept {
  std::uint64_t bits = members_.size();
  for (const std::size_t member : members_) bits = mix_bits(bits ^ member);
  return bits;
}

void communicator::offer_memory(post_office& through) {
  post_office::mailbox box;
  driver_.on_engine([&] {
    muster::team& all = node_.team();
    mine_.turn = all.count_derived();
    try {
      box = through.take(size());
      mine_.memory = all.fabric().provide(members_, turn(), wire::derived_extent);
    } catch (const error&) {
      mine_.refused = 1;
    }
  });
  exchange_.emplace(through, box, handle_, rank_, size(), mine_);
}

bool communicator::advance() {
  if (!in_the_making()) return true;
  const bool has_ended = exchange_->has_ended();
  if (!advance_without_mpi() || !has_ended) return false;
  exchange_.reset();
  return true;
}

bool communicator::advance_without_mpi() {
  if (!in_the_making() || is_settled()) return true;
  if (!making_.valid()) {
    all_ = exchange_->heard();
    if (all_.empty()) return false;
    making_ = start(driver_.engine(), make());
  }
  if (!making_.ended()) return false;
  settle();
  return true;
}

void communicator::settle() {
  outcome made = making_.wait();
  left_because_ = made.left_because;
  defect_ = std::move(made.defect);
  own_ = std::move(made.own);
  team_ = own_.get();
}

task<communicator::outcome> communicator::make() {
  try {
    co_return derive_team();
  } catch (const error& why) {
    co_return outcome{.defect = why.text()};
  } catch (const std::exception& why) {
    co_return outcome{.defect = std::string("its team cannot be made: ") + why.what()};
  }
}

communicator::outcome communicator::derive_team() {
  muster::team& all = node_.team();
  if (std::ranges::any_of(all_, [](const offer& one) { return one.refused != 0; })) {
    all.fabric().withdraw(mine_.memory);
    return {.left_because = "no memory for another team"};
  }
  std::vector<wire::memory_handle> handles;
  handles.reserve(all_.size());
  for (const offer& one : all_) handles.push_back(one.memory);
  return {.own = muster::derive_team(all, {.members = members_,
                                           .handles = handles,
                                           .much = wire::derived_extent,
                                           .rank = rank_,
                                           .turn = all_.front().turn})};
}

communicators::communicators(MPI_Comm together, node& among, driver& by, progress_hook hook)
    : together_(together),
      node_(among),
      driver_(by),
      post_office_(among.team().fabric().memory(), hook),
      being_freed_(std::make_shared<communicator>(MPI_COMM_NULL, among, by, "being freed")) {
  PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, forget, &keyval_, this);
  PMPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, &has_lone_ranks_, nullptr);
}

communicators::~communicators() {
  reap();
  for (const auto& [of, one] : all_) PMPI_Comm_delete_attr(of, keyval_);
  for (const auto& [of, one] : all_) one->let_go();
  for (const auto& one : still_held_) {
    if (const entry held = one.lock()) held->let_go();
  }
  PMPI_Comm_free_keyval(&keyval_);
  PMPI_Comm_free_keyval(&has_lone_ranks_);
}

void communicators::begin_freeing(MPI_Comm one) {
  const auto known = all_.find(one);
  if (known != all_.end()) last_.forget(known->second);
  freed_.push_back({std::this_thread::get_id(), one});
}

// If all its ranks are among those together, they all have the library, and ask alike.
void communicators::note_graph(MPI_Comm one) const {
  if (ranks_among(together_, one).empty()) return;
  static const auto allreduce = find_next<decltype(&PMPI_Allreduce)>("PMPI_Allreduce");
  int any = is_alone(one) ? 1 : 0;
  if (allreduce(MPI_IN_PLACE, &any, 1, MPI_INT, MPI_LOR, one) != MPI_SUCCESS || any == 0) return;
  PMPI_Comm_set_attr(one, has_lone_ranks_, nullptr);
}

// One that is freed in such a callback ends before.
void communicators::end_freeing() {
  const auto mine =
      std::ranges::find(freed_.rbegin(), freed_.rend(), std::this_thread::get_id(), &freed::by);
  freed_.erase(std::next(mine).base());
}

const communicators::entry* communicators::find_freed(MPI_Comm of) const noexcept {
  const auto is_it = [of, by = std::this_thread::get_id()](const freed& one) {
    return one.handle == of && one.by == by;
  };
  const auto found = std::ranges::find_if(freed_, is_it);
  return found == freed_.end() ? nullptr : &being_freed_;
}

communicators::entry communicators::make(MPI_Comm of) {
  void* value = nullptr;
  int has_lone_ranks = 0;
  PMPI_Comm_get_attr(of, has_lone_ranks_, static_cast<void*>(&value), &has_lone_ranks);
  if (has_lone_ranks != 0) {
    return std::make_shared<communicator>(of, node_, driver_, "ranks without neighbors");
  }
  return std::make_shared<communicator>(of, together_, node_, driver_, post_office_);
}

const communicators::entry& communicators::find_again(MPI_Comm of) {
  if (const entry* const going = find_freed(of)) return *going;
  auto at = all_.find(of);
  if (at == all_.end()) {
    at = all_.emplace(of, make(of)).first;
    if (at->second->in_the_making()) unmade_.push_back(at->second);
    PMPI_Comm_set_attr(of, keyval_, nullptr);  // says when it goes
  }
  last_.keep(of, at->second);
  return at->second;
}

int communicators::forget(MPI_Comm of, int, void*, void* self) {
  static_cast<communicators*>(self)->deferred_.add(of);
  return MPI_SUCCESS;
}

void communicators::reap() {
  if (!unmade_.empty()) std::erase_if(unmade_, [](const entry& one) { return one->advance(); });
  if (!deferred_.any()) return;
  for (const MPI_Comm one : deferred_.take()) {
    const auto at = all_.find(one);
    if (at == all_.end()) continue;
    last_.forget(at->second);
    entry ended = std::move(at->second);
    all_.erase(at);
    ended->forget_handle();
    std::erase_if(still_held_, [](const auto& each) { return each.expired(); });
    still_held_.push_back(ended);
  }
}

}  // namespace muster::mpi
