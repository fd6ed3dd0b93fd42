#pragma once

/// Muster as a communication space of KokkosComm: programs that call `KokkosComm::send`, `recv`,
/// `exchange` and the collectives of `KokkosComm::Experimental` go over Muster once their
/// communicator is one of `muster::kokkos::comm_space`:
///
///     auto comm = KokkosComm::Communicator<muster::kokkos::comm_space, Exec>::from_raw(&team);
///     auto request = KokkosComm::Experimental::allreduce(comm, mine, sum, KokkosComm::Sum{});
///     KokkosComm::wait(request);
///
/// A call begins when it is made, after all that the communicator's instance has been given, and
/// holds its Views. Blocks, orders and errors are those of `muster::kokkos`, so Views may have gaps
/// and any rank. A request that is destroyed before it was waited for stops its operation.
///
/// Written for the interface of KokkosComm that has `Communicator` and `Request`.

#if !__has_include(<KokkosComm/KokkosComm.hpp>)
#error \
    "<muster/kokkos_comm.hpp> needs KokkosComm: <KokkosComm/KokkosComm.hpp> was not found; expected its include folder"
#endif

#include <Kokkos_Core.hpp>

#include <KokkosComm/KokkosComm.hpp>
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>

#include <muster/base/error.hpp>
#include <muster/kokkos.hpp>
#include <muster/muster.hpp>

namespace muster::kokkos {

/// What KokkosComm's templates name Muster by.
struct comm_space {
  using communication_space = comm_space;
  using communicator_type = team*;
  using request_type = future<>;
  using datatype_type = datatype;
  using reduction_op_type = reduction;
  using size_type = int;
  using rank_type = int;
};

namespace detail {

/// Of messages that have no tag of their own.
inline constexpr std::uint64_t untagged = 0x6b6f6b6b6f73;

/// What KokkosComm's reduction stands for.
template <class Op>
constexpr reduction comm_reduction() {
  if constexpr (std::is_same_v<Op, KokkosComm::Sum>) {
    return reduction::sum;
  } else if constexpr (std::is_same_v<Op, KokkosComm::Prod>) {
    return reduction::product;
  } else if constexpr (std::is_same_v<Op, KokkosComm::Min>) {
    return reduction::min;
  } else if constexpr (std::is_same_v<Op, KokkosComm::Max>) {
    return reduction::max;
  } else if constexpr (std::is_same_v<Op, KokkosComm::LAnd>) {
    return reduction::logical_and;
  } else if constexpr (std::is_same_v<Op, KokkosComm::LOr>) {
    return reduction::logical_or;
  } else if constexpr (std::is_same_v<Op, KokkosComm::LXor>) {
    return reduction::logical_xor;
  } else if constexpr (std::is_same_v<Op, KokkosComm::BAnd>) {
    return reduction::bit_and;
  } else if constexpr (std::is_same_v<Op, KokkosComm::BOr>) {
    return reduction::bit_or;
  } else if constexpr (std::is_same_v<Op, KokkosComm::BXor>) {
    return reduction::bit_xor;
  } else if constexpr (std::is_same_v<Op, KokkosComm::MinLoc>) {
    return reduction::minloc;
  } else {
    static_assert(std::is_same_v<Op, KokkosComm::MaxLoc>,
                  "muster::kokkos: expected one of KokkosComm's reductions other than Average");
    return reduction::maxloc;
  }
}

/// A rank of KokkosComm's, which has them as int.
inline std::size_t rank_of_peer(int peer) { return static_cast<std::size_t>(peer); }

/// A message whose length is known to its receiver.
template <class Exec, class V>
task<> receive_all(team& on, Exec exec, std::size_t from, V into) {
  const std::size_t came = co_await kokkos::receive(exec, on, from, untagged, into);
  if (came != into.size()) {
    throw error(errc::mismatched_call, "KokkosComm::recv: a message of " + std::to_string(came) +
                                           " elements came from rank " + std::to_string(from) +
                                           "; expected " + std::to_string(into.size()) +
                                           ", as many as the View has");
  }
}

template <class Exec, class S, class R>
task<> exchange(team& on, Exec exec, S send, std::size_t to, R receive, std::size_t from) {
  task<> out = kokkos::send(exec, on, to, untagged, send);
  task<> in = receive_all(on, exec, from, receive);
  co_await when_all(std::move(out), std::move(in));
}

inline void require_count(std::size_t has, int count, std::size_t ranks) {
  if (count >= 0 && has == static_cast<std::size_t>(count) * ranks) return;
  throw error(errc::invalid_argument, "KokkosComm::alltoall: count is " + std::to_string(count) +
                                          "; expected " + std::to_string(has / ranks) +
                                          ", the elements of send for each rank");
}

}  // namespace detail
}  // namespace muster::kokkos

namespace KokkosComm {

template <>
struct Impl::is_communication_space<muster::kokkos::comm_space> : std::true_type {};

/// An operation that is under way.
template <>
class Request<muster::kokkos::comm_space> {
public:
  using communication_space = muster::kokkos::comm_space;
  using request_type = communication_space::request_type;
  using rank_type = communication_space::rank_type;

  Request() = default;
  explicit Request(request_type running) noexcept : request_(std::move(running)) {}
  Request(Request&&) = default;
  Request& operator=(Request&&) = default;

  request_type& request() noexcept { return request_; }
  const request_type& request() const noexcept { return request_; }

  /// Until it has ended. \throws muster::error what it ended with
  void wait() {
    if (request_.valid()) request_.wait();
  }
  /// Whether it has ended, after one look. \throws muster::error what it ended with
  [[nodiscard]] bool test() {
    if (request_.valid() && !request_.ready()) return false;
    wait();
    return true;
  }

private:
  request_type request_;
};

inline void wait(Request<muster::kokkos::comm_space>& one) { one.wait(); }
inline void wait(Request<muster::kokkos::comm_space>&& one) { one.wait(); }
inline void wait_all(std::span<Request<muster::kokkos::comm_space>> all) {
  for (auto& each : all) each.wait();
}
/// The first of those that were not waited for before that has ended; none where there is none.
inline std::optional<int> wait_any(std::span<Request<muster::kokkos::comm_space>> all) {
  const auto is_pending = [](auto& each) { return each.request().valid(); };
  const auto has_ended = [&](auto& each) { return is_pending(each) && each.request().ended(); };
  const auto pending = std::ranges::find_if(all, is_pending);
  if (pending == all.end()) return std::nullopt;
  muster::engine& where = pending->request().where();
  if (where.has_own_thread()) {
    while (std::ranges::none_of(all, has_ended)) std::this_thread::yield();
  } else {
    where.drive_until([&] { return std::ranges::any_of(all, has_ended); });
  }
  const auto first = std::ranges::find_if(all, has_ended);
  first->wait();
  return static_cast<int>(first - all.begin());
}
[[nodiscard]] inline bool test(Request<muster::kokkos::comm_space>& one) { return one.test(); }

/// A team, and the instance that its calls come after.
template <KokkosExecutionSpace Exec>
class Communicator<muster::kokkos::comm_space, Exec> {
public:
  using execution_space = Exec;
  using communication_space = muster::kokkos::comm_space;
  using communicator_type = communication_space::communicator_type;
  using size_type = communication_space::size_type;
  using rank_type = communication_space::rank_type;

  /// \param of outlives the communicator
  [[nodiscard]] static Communicator from_raw(communicator_type of,
                                             const Exec& exec = Exec()) noexcept {
    return Communicator(of, nullptr, exec);
  }
  /// A communicator of the ranks of one color, ordered by key; none for those whose color is
  /// negative. Collective; waits.
  [[nodiscard]] static std::optional<Communicator> split_from_raw(communicator_type of, int color,
                                                                  int key,
                                                                  const Exec& exec = Exec()) {
    auto made =
        muster::start(of->engine(), muster::split(*of, color < 0 ? muster::no_color : color, key))
            .wait();
    if (made == nullptr) return std::nullopt;
    return owning(std::move(made), exec);
  }
  [[nodiscard]] std::optional<Communicator> split(int color, int key) {
    return split_from_raw(comm_, color, key, exec_);
  }
  /// One of the same ranks, with an order of its own. Collective; waits.
  [[nodiscard]] static std::optional<Communicator> duplicate_from_raw(communicator_type of,
                                                                      const Exec& exec = Exec()) {
    return owning(muster::start(of->engine(), muster::duplicate(*of)).wait(), exec);
  }
  [[nodiscard]] std::optional<Communicator> duplicate() { return duplicate_from_raw(comm_, exec_); }

  const Exec& exec() const noexcept { return exec_; }
  const communicator_type& comm() const noexcept { return comm_; }
  communicator_type& comm() noexcept { return comm_; }
  size_type size() const noexcept { return static_cast<size_type>(comm_->size()); }
  rank_type rank() const noexcept { return static_cast<rank_type>(comm_->rank()); }

private:
  Communicator(communicator_type of, std::unique_ptr<muster::team> own, const Exec& exec) noexcept
      : own_(std::move(own)), comm_(of), exec_(exec) {}
  static std::optional<Communicator> owning(std::unique_ptr<muster::team> made, const Exec& exec) {
    muster::team* const of = made.get();
    return Communicator(of, std::move(made), exec);
  }

  std::unique_ptr<muster::team> own_;
  communicator_type comm_;
  Exec exec_;
};

namespace Impl {

template <KokkosView V, KokkosExecutionSpace Exec>
struct Send<V, Exec, muster::kokkos::comm_space> {
  static auto execute(Communicator<muster::kokkos::comm_space, Exec>& on, const V& data, int peer)
      -> Request<muster::kokkos::comm_space> {
    namespace mk = muster::kokkos;
    return Request<mk::comm_space>(muster::start(mk::send(
        on.exec(), *on.comm(), mk::detail::rank_of_peer(peer), mk::detail::untagged, data)));
  }
};

template <KokkosView V, KokkosExecutionSpace Exec>
struct Recv<V, Exec, muster::kokkos::comm_space> {
  static auto execute(Communicator<muster::kokkos::comm_space, Exec>& on, const V& data, int peer)
      -> Request<muster::kokkos::comm_space> {
    namespace mk = muster::kokkos;
    return Request<mk::comm_space>(muster::start(
        mk::detail::receive_all(*on.comm(), on.exec(), mk::detail::rank_of_peer(peer), data)));
  }
};

template <KokkosExecutionSpace Exec, KokkosView S, KokkosView R>
struct Exchange<muster::kokkos::comm_space, Exec, S, R> {
  static auto execute(Communicator<muster::kokkos::comm_space, Exec>& on, const S& send, int to,
                      const R& receive, int from) -> Request<muster::kokkos::comm_space> {
    namespace mk = muster::kokkos;
    return Request<mk::comm_space>(muster::start(
        mk::detail::exchange(*on.comm(), on.exec(), send, mk::detail::rank_of_peer(to), receive,
                             mk::detail::rank_of_peer(from))));
  }
};

}  // namespace Impl

namespace Experimental::Impl {

template <KokkosView V, KokkosExecutionSpace Exec>
struct Broadcast<V, Exec, muster::kokkos::comm_space> {
  static auto execute(Communicator<muster::kokkos::comm_space, Exec>& on, const V& data, int root)
      -> Request<muster::kokkos::comm_space> {
    namespace mk = muster::kokkos;
    return Request<mk::comm_space>(
        muster::start(mk::bcast(on.exec(), *on.comm(), data, mk::detail::rank_of_peer(root))));
  }
};

template <KokkosView S, KokkosView R, KokkosExecutionSpace Exec>
struct AllGather<S, R, Exec, muster::kokkos::comm_space> {
  static auto execute(Communicator<muster::kokkos::comm_space, Exec>& on, const S& send,
                      const R& receive) -> Request<muster::kokkos::comm_space> {
    namespace mk = muster::kokkos;
    return Request<mk::comm_space>(
        muster::start(mk::allgather(on.exec(), *on.comm(), send, receive)));
  }
};

template <KokkosView S, KokkosView R, KokkosExecutionSpace Exec>
struct AllToAll<S, R, Exec, muster::kokkos::comm_space> {
  static auto execute(Communicator<muster::kokkos::comm_space, Exec>& on, const S& send,
                      const R& receive, int count) -> Request<muster::kokkos::comm_space> {
    namespace mk = muster::kokkos;
    mk::detail::require_count(send.size(), count, on.comm()->size());
    return Request<mk::comm_space>(
        muster::start(mk::alltoall(on.exec(), *on.comm(), send, receive)));
  }
};

template <KokkosView S, KokkosView R, ReductionOperator Op, KokkosExecutionSpace Exec>
struct AllReduce<S, R, Op, Exec, muster::kokkos::comm_space> {
  static auto execute(Communicator<muster::kokkos::comm_space, Exec>& on, const S& send,
                      const R& receive) -> Request<muster::kokkos::comm_space> {
    namespace mk = muster::kokkos;
    return Request<mk::comm_space>(muster::start(
        mk::allreduce(on.exec(), *on.comm(), send, receive, mk::detail::comm_reduction<Op>())));
  }
};

template <KokkosView S, KokkosView R, ReductionOperator Op, KokkosExecutionSpace Exec>
struct Reduce<S, R, Op, Exec, muster::kokkos::comm_space> {
  static auto execute(Communicator<muster::kokkos::comm_space, Exec>& on, const S& send,
                      const R& receive, int root) -> Request<muster::kokkos::comm_space> {
    namespace mk = muster::kokkos;
    return Request<mk::comm_space>(muster::start(mk::reduce(on.exec(), *on.comm(), send, receive,
                                                            mk::detail::comm_reduction<Op>(),
                                                            mk::detail::rank_of_peer(root))));
  }
};

}  // namespace Experimental::Impl
}  // namespace KokkosComm
