// Sorts as NPB's IS does: keys fall into buckets, whose sizes are added up by an allreduce; each
// rank gets buckets of about as many keys as the others, by an alltoall of counts and an alltoallv
// of keys, and ranks its keys by counting.
#include <algorithm>
#include <numeric>
#include <vector>

#include "tests/applications/kernel.hpp"

namespace {

constexpr int key_bits = 19;
constexpr int bucket_bits = 10;
constexpr std::size_t keys = 1U << key_bits;
constexpr std::size_t buckets = 1U << bucket_bits;

std::size_t bucket_of(int key) { return static_cast<std::size_t>(key) >> (key_bits - bucket_bits); }

/// As IS has them: the mean of four, so that those in the middle are more frequent.
int key_number(std::uint64_t number) {
  std::uint64_t sum = 0;
  for (std::uint64_t i = 0; i < 4; ++i) {
    sum += kernel::scrambled(4 * number + i) >> (64 - key_bits + 2);
  }
  return static_cast<int>(sum);
}

class sorting {
public:
  explicit sorting(kernel::job& job)
      : job_(job),
        keys_(job.block() / sizeof(int) * job.ranks()),
        sent_(keys_.size()),
        received_(keys_.size() + keys_.size() / 2),
        own_sizes_(buckets),
        sizes_(buckets),
        first_bucket_(job.ranks() + 1),
        send_counts_(job.ranks()),
        send_starts_(job.ranks()),
        receive_counts_(job.ranks()),
        receive_starts_(job.ranks()),
        places_(keys) {
    if (keys_.size() < job.ranks() * 4) job.refuse("expected longer blocks");
    for (std::size_t i = 0; i < keys_.size(); ++i) {
      keys_[i] = key_number(job.rank() * keys_.size() + i);
    }
  }

  void turn() {
    change_keys();
    fill_buckets();
    job_.collective([&] {
      MPI_Allreduce(own_sizes_.data(), sizes_.data(), buckets, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    });
    share_buckets();
    count_what_is_sent();
    job_.collective([&] {
      MPI_Alltoall(send_counts_.data(), 1, MPI_INT, receive_counts_.data(), 1, MPI_INT,
                   MPI_COMM_WORLD);
    });
    make_room();
    job_.collective([&] {
      MPI_Alltoallv(sent_.data(), send_counts_.data(), send_starts_.data(), MPI_INT,
                    received_.data(), receive_counts_.data(), receive_starts_.data(), MPI_INT,
                    MPI_COMM_WORLD);
    });
    rank_keys();
  }

  /// How many keys are not this rank's, or too many or too few in their bucket; and one for the sum
  /// of all keys, scrambled, if it has changed on the way.
  std::size_t wrong() const {
    std::size_t found = strays_;
    std::vector<int> counted(buckets);
    std::uint64_t before = 0, after = 0;
    for (const int key : keys_) before += kernel::scrambled(static_cast<std::uint64_t>(key));
    for (std::size_t i = 0; i < received_keys_; ++i) {
      const int key = received_[i];
      after += kernel::scrambled(static_cast<std::uint64_t>(key));
      if (is_own(key)) ++counted[bucket_of(key)];
    }
    for (std::size_t i = first_bucket_[job_.rank()]; i < first_bucket_[job_.rank() + 1]; ++i) {
      found += static_cast<std::size_t>(std::abs(counted[i] - sizes_[i]));
    }
    const std::uint64_t own[2] = {before, after};
    std::uint64_t all[2] = {};
    MPI_Allreduce(own, all, 2, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
    return found + (all[0] != all[1]);
  }

  /// Of how many keys of this rank are as small as each, or smaller.
  std::uint64_t digest() const {
    std::uint64_t result = kernel::scrambled(job_.rank());
    for (const int place : places_) {
      result = kernel::scrambled(result ^ static_cast<std::uint64_t>(place));
    }
    return result;
  }

private:
  /// As IS does, lest a turn be the same as the one before.
  void change_keys() {
    const std::size_t half = keys_.size() / 2;
    keys_[turns_ % half] = static_cast<int>(turns_ % keys);
    keys_[half + turns_ % half] = static_cast<int>(keys - 1 - turns_ % keys);
    ++turns_;
  }

  void fill_buckets() {
    std::fill(own_sizes_.begin(), own_sizes_.end(), 0);
    for (const int key : keys_) ++own_sizes_[bucket_of(key)];
    std::vector<std::size_t> next(buckets);
    std::exclusive_scan(own_sizes_.begin(), own_sizes_.end(), next.begin(), std::size_t{0});
    for (const int key : keys_) sent_[next[bucket_of(key)]++] = key;
  }

  /// Each rank has the buckets that begin in its share of all keys.
  void share_buckets() {
    const std::size_t share = keys_.size();
    std::size_t before = 0, rank = 0;
    for (std::size_t i = 0; i < buckets; ++i) {
      while (rank < job_.ranks() && before >= rank * share) first_bucket_[rank++] = i;
      before += static_cast<std::size_t>(sizes_[i]);
    }
    while (rank <= job_.ranks()) first_bucket_[rank++] = buckets;
  }

  void count_what_is_sent() {
    for (std::size_t rank = 0; rank < job_.ranks(); ++rank) {
      const auto at = own_sizes_.begin();
      send_counts_[rank] = std::accumulate(at + static_cast<long>(first_bucket_[rank]),
                                           at + static_cast<long>(first_bucket_[rank + 1]), 0);
    }
    std::exclusive_scan(send_counts_.begin(), send_counts_.end(), send_starts_.begin(), 0);
  }

  void make_room() {
    std::exclusive_scan(receive_counts_.begin(), receive_counts_.end(), receive_starts_.begin(), 0);
    received_keys_ = static_cast<std::size_t>(receive_starts_.back() + receive_counts_.back());
    if (received_.size() < received_keys_) received_.resize(received_keys_);
  }

  bool is_own(int key) const {
    const std::size_t bucket = bucket_of(key);  // of a key that is none, beyond all
    return bucket >= first_bucket_[job_.rank()] && bucket < first_bucket_[job_.rank() + 1];
  }

  void rank_keys() {
    std::fill(places_.begin(), places_.end(), 0);
    strays_ = 0;
    for (std::size_t i = 0; i < received_keys_; ++i) {
      if (is_own(received_[i])) {
        ++places_[static_cast<std::size_t>(received_[i])];
      } else {
        ++strays_;
      }
    }
    std::inclusive_scan(places_.begin(), places_.end(), places_.begin());
  }

  kernel::job& job_;
  std::vector<int> keys_;
  std::vector<int> sent_;  ///< the keys, bucket by bucket
  std::vector<int> received_;
  std::size_t received_keys_ = 0;
  std::vector<int> own_sizes_;  ///< of this rank's buckets
  std::vector<int> sizes_;      ///< of all ranks'
  std::vector<std::size_t> first_bucket_;
  std::vector<int> send_counts_, send_starts_, receive_counts_, receive_starts_;
  std::vector<int> places_;  ///< how many of this rank's keys are no larger
  std::size_t strays_ = 0;
  std::size_t turns_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  kernel::job job(argc, argv, "sort");
  sorting all(job);
  all.turn();  // untimed, as IS's first
  job.begin();
  for (int i = 0; i < job.turns(); ++i) all.turn();
  job.end();
  return job.report(all.digest(), all.wrong());
}
