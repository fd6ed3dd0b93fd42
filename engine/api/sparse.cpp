#include <muster/api/sparse.hpp>

#include <string>

#include <muster/api/movement.hpp>
#include <muster/run/mailbox.hpp>

namespace muster::detail {

void count_block(const team& on, std::vector<std::uint64_t>& to, std::size_t rank,
                 std::size_t count) {
  mailbox::require_rank(on, "sparse_alltoallv: a block's rank", rank);
  if (to[rank] != 0) {
    throw error(errc::invalid_argument, "sparse_alltoallv: two blocks for rank " +
                                            std::to_string(rank) + "; expected one at most");
  }
  to[rank] = count + 1;
}

task<std::vector<std::uint64_t>> tell_counts(team& on, std::vector<std::uint64_t> to,
                                             std::uint64_t& number) {
  std::vector<std::uint64_t> from(to.size());
  number = on.count_sparse();
  co_await alltoall(on, to, from);
  co_return from;
}

task<> send_sparse(team& on, std::size_t to, std::uint64_t number,
                   std::span<const std::byte> bytes) {
  const mailbox::label tag{number, mailbox::owner::sparse};
  co_await on.mail().send(to, tag, bytes);
}

task<> receive_sparse(team& on, std::size_t from, std::uint64_t number,
                      std::span<std::byte> bytes) {
  const mailbox::label tag{number, mailbox::owner::sparse};
  co_await on.mail().receive(from, tag, bytes, 1);
}

}  // namespace muster::detail
