#pragma once

/// What a communication space of KokkosComm has to fit: names, parameters and forms of its
/// templates, written down anew for the tests. The library itself is none of Debian's packages.

#include <Kokkos_Core.hpp>

#include <type_traits>

namespace KokkosComm {

namespace Impl {
template <class T>
struct is_communication_space : std::false_type {};
template <class T>
struct is_reduction_operator : std::false_type {};
}  // namespace Impl

template <class T>
concept KokkosView = Kokkos::is_view<T>::value;
template <class T>
concept MutKokkosView = KokkosView<T> && !std::is_const_v<typename T::value_type>;
template <class T>
concept KokkosExecutionSpace = Kokkos::is_execution_space<T>::value;
template <class T>
concept CommunicationSpace = Impl::is_communication_space<T>::value;
template <class T>
concept ReductionOperator = Impl::is_reduction_operator<T>::value;

template <CommunicationSpace C, KokkosExecutionSpace E>
class Communicator;
template <CommunicationSpace C>
class Request;

struct Sum {};
struct Prod {};
struct Min {};
struct Max {};
struct LAnd {};
struct LOr {};
struct LXor {};
struct BAnd {};
struct BOr {};
struct BXor {};
struct MinLoc {};
struct MaxLoc {};
struct Average {};

namespace Impl {

template <>
struct is_reduction_operator<Sum> : std::true_type {};
template <>
struct is_reduction_operator<Prod> : std::true_type {};
template <>
struct is_reduction_operator<Min> : std::true_type {};
template <>
struct is_reduction_operator<Max> : std::true_type {};
template <>
struct is_reduction_operator<BOr> : std::true_type {};
template <>
struct is_reduction_operator<MinLoc> : std::true_type {};

template <KokkosView V, KokkosExecutionSpace E, CommunicationSpace C>
struct Send;
template <KokkosView V, KokkosExecutionSpace E, CommunicationSpace C>
struct Recv;
template <CommunicationSpace C, KokkosExecutionSpace E, KokkosView S, KokkosView R>
struct Exchange;

}  // namespace Impl

template <KokkosView S, KokkosExecutionSpace E, CommunicationSpace C>
auto send(Communicator<C, E>& on, const S& view, int peer) -> Request<C> {
  return Impl::Send<S, E, C>::execute(on, view, peer);
}
template <MutKokkosView R, KokkosExecutionSpace E, CommunicationSpace C>
auto recv(Communicator<C, E>& on, R& view, int peer) -> Request<C> {
  return Impl::Recv<R, E, C>::execute(on, view, peer);
}
template <CommunicationSpace C, KokkosExecutionSpace E, KokkosView S, MutKokkosView R>
auto exchange(Communicator<C, E>& on, const S& sent, int to, const R& received, int from)
    -> Request<C> {
  return Impl::Exchange<C, E, S, R>::execute(on, sent, to, received, from);
}

namespace Experimental {
namespace Impl {

template <KokkosView V, KokkosExecutionSpace E, CommunicationSpace C>
struct Broadcast;
template <KokkosView S, KokkosView R, KokkosExecutionSpace E, CommunicationSpace C>
struct AllGather;
template <KokkosView S, KokkosView R, KokkosExecutionSpace E, CommunicationSpace C>
struct AllToAll;
template <KokkosView S, KokkosView R, ReductionOperator O, KokkosExecutionSpace E,
          CommunicationSpace C>
struct AllReduce;
template <KokkosView S, KokkosView R, ReductionOperator O, KokkosExecutionSpace E,
          CommunicationSpace C>
struct Reduce;

}  // namespace Impl

template <MutKokkosView V, KokkosExecutionSpace E, CommunicationSpace C>
auto broadcast(Communicator<C, E>& on, V view, int root) -> Request<C> {
  return Impl::Broadcast<V, E, C>::execute(on, view, root);
}
template <KokkosView S, MutKokkosView R, KokkosExecutionSpace E, CommunicationSpace C>
auto allgather(Communicator<C, E>& on, const S sent, R received) -> Request<C> {
  return Impl::AllGather<S, R, E, C>::execute(on, sent, received);
}
template <KokkosView S, MutKokkosView R, KokkosExecutionSpace E, CommunicationSpace C>
auto alltoall(Communicator<C, E>& on, const S sent, R received, int count) -> Request<C> {
  return Impl::AllToAll<S, R, E, C>::execute(on, sent, received, count);
}
template <KokkosView S, MutKokkosView R, ReductionOperator O, KokkosExecutionSpace E,
          CommunicationSpace C>
auto allreduce(Communicator<C, E>& on, const S sent, R received, O) -> Request<C> {
  return Impl::AllReduce<S, R, O, E, C>::execute(on, sent, received);
}
template <KokkosView S, MutKokkosView R, ReductionOperator O, KokkosExecutionSpace E,
          CommunicationSpace C>
auto reduce(Communicator<C, E>& on, const S sent, R received, int root, O) -> Request<C> {
  return Impl::Reduce<S, R, O, E, C>::execute(on, sent, received, root);
}

}  // namespace Experimental
}  // namespace KokkosComm
