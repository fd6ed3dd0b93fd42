#include "transports/cluster/rendezvous.hpp"

#include <fcntl.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <exception>
#include <limits>
#include <list>
#include <map>
#include <numeric>
#include <optional>
#include <utility>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>

#include <muster/base/error.hpp>

#include "transports/tcp/descriptors.hpp"

namespace muster::cluster {
namespace {

namespace asio = boost::asio;
using asio::awaitable;
using asio::use_awaitable;
using socket = asio::posix::stream_descriptor;

/// What goes before a rank's block.
struct question {
  std::uint32_t bytes;
  std::uint32_t first;  ///< the lowest of those that gather
  std::uint32_t ranks;  ///< how many they are; 0: nobody does
};
/// Questions that are not about others' blocks.
constexpr question what_time{.bytes = 0, .first = 0, .ranks = 0};
constexpr question which_address{.bytes = 0, .first = 1, .ranks = 0};
/// What goes before everybody's blocks, or before why there are none.
struct answer {
  std::uint32_t is_error;
  std::uint32_t bytes;
};

constexpr std::uint32_t longest_block = 1 << 20;

template <class T>
asio::mutable_buffer whole(T& one) {
  return asio::buffer(&one, sizeof one);
}

/// Both sides' way into a connection. Nothing where it fails.
awaitable<std::optional<tcp::admission::parties>> pass(socket& on, tcp::admission& with) {
  while (true) {
    switch (with.advance()) {
      case tcp::admission::state::under_way:
        co_await on.async_wait(socket::wait_read, use_awaitable);
        break;
      case tcp::admission::state::named:
      case tcp::admission::state::accepted:
        co_return with.who();
      default:
        co_return std::nullopt;
    }
  }
}

/// For two owners.
muster::descriptor copy_of(int number) {
  return muster::descriptor(::fcntl(number, F_DUPFD_CLOEXEC, 0));
}

/// Of this machine, as engines have it.
std::int64_t read_clock() noexcept {
  return std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// That a server needs at most: each connection has two owners, and Asio some descriptors.
constexpr std::size_t descriptors_for(std::size_t ranks) { return 2 * ranks + 64; }

[[noreturn]] void fail(const std::string& why) { throw error(errc::bootstrap, why); }

}  // namespace

// ---- who serves

class rendezvous_server::service {
public:
  service(tcp::listener at, std::size_t ranks, const tcp::job_key& key,
          std::chrono::milliseconds patience)
      : listener_(std::move(at)),
        door_(context_, copy_of(listener_.socket.get()).release()),
        late_(context_, patience),
        key_(key),
        seats_(ranks) {
    tcp::allow_descriptors(descriptors_for(ranks));
    asio::co_spawn(context_, let_in(), asio::detached);
    late_.async_wait([this](const boost::system::error_code& why) {
      if (!why) complain_of_missing();
    });
  }

  void run() { context_.run(); }
  /// Ends when those who came have gone, or after a moment: what they are told may be on its way.
  void close() {
    asio::post(context_, [this] {
      is_closing_ = true;
      stop_if_over();
      late_.expires_after(std::chrono::seconds(5));
      late_.async_wait([this](const boost::system::error_code& why) {
        if (!why) context_.stop();
      });
    });
  }

private:
  struct seat {
    std::optional<socket> at;
    bool has_gone = false;
  };
  /// An allgather under way: by the lowest rank and how many there are.
  using round_key = std::pair<std::uint32_t, std::uint32_t>;
  using blocks = std::map<std::size_t, std::vector<std::byte>>;

  awaitable<void> let_in() {
    while (door_.is_open()) {
      co_await door_.async_wait(socket::wait_read, use_awaitable);
      int why = 0;
      while (true) {
        auto next = co_await open_one([this] { return tcp::accept_from(listener_); }, why);
        if (!next) break;
        auto also = co_await open_one([&next] { return copy_of(next.get()); }, why);
        if (!also) break;
        asio::co_spawn(context_, admit(std::move(next), std::move(also)), asio::detached);
      }
      if (tcp::is_out_of_descriptors(why)) give_up(why);
    }
  }

  /// Where there are no descriptors left, the stranger who came first has to go.
  /// \param why set to the cause where nothing was opened
  template <class Open>
  awaitable<muster::descriptor> open_one(Open open, int& why) {
    while (true) {
      errno = 0;
      muster::descriptor one = open();
      why = one ? 0 : errno;
      if (!tcp::is_out_of_descriptors(why) || strangers_.empty()) co_return one;
      strangers_.front()->close();
      co_await asio::post(context_, use_awaitable);  // after its end
    }
  }

  /// Whoever waits to be let in would wait for ever.
  void give_up(int why) {
    break_up(
        "whoever serves can take no more of " + std::to_string(seats_.size()) + " ranks: " +
        tcp::describe_shortage(why, "at least " + std::to_string(descriptors_for(seats_.size()))));
    door_.close();
    listener_.socket = muster::descriptor();
  }

  /// Nothing where it cannot, or has to go.
  awaitable<std::optional<tcp::admission::parties>> prove(socket& on, tcp::admission& with) {
    const auto place = strangers_.insert(strangers_.end(), &on);
    std::optional<tcp::admission::parties> who;
    try {
      who = co_await pass(on, with);
    } catch (const boost::system::system_error&) {
      // It was closed.
    }
    strangers_.erase(place);
    co_return who;
  }

  awaitable<void> admit(muster::descriptor from, muster::descriptor also) {
    tcp::admission with(std::move(also), key_);
    socket on(context_, from.release());
    const auto who = co_await prove(on, with);
    if (!who) co_return;
    const bool is_there = with.accept();
    if (who->to != seats_.size() || who->from >= seats_.size()) {
      co_return co_await refuse(on, "rank " + std::to_string(who->from) + " of " +
                                        std::to_string(who->to) + " came to a job of " +
                                        std::to_string(seats_.size()) + " ranks");
    }
    if (!is_there) co_return;
    // Whoever has waited too long for the verdict comes again. The connection that counts is the
    // one on which it asks.
    question first;
    boost::system::error_code gave_up;
    co_await asio::async_read(on, whole(first), asio::redirect_error(use_awaitable, gave_up));
    if (gave_up) co_return;
    if (seats_[who->from].at) {
      co_return co_await refuse(on, "two processes came as rank " + std::to_string(who->from));
    }
    seats_[who->from].at.emplace(std::move(on));
    if (++came_ == seats_.size()) late_.cancel();
    if (!failed_.empty()) co_return co_await say_why(who->from);
    co_await listen_to(who->from, first);
  }

  /// It learns of it, and so do the others: one of them may be the wrong one.
  awaitable<void> refuse(socket& on, std::string why) {
    co_await tell(on, why);
    break_up(why);
  }

  awaitable<void> listen_to(std::size_t rank, question next) {
    socket& on = *seats_[rank].at;
    try {
      while (true) {
        if (next.ranks == 0 && next.bytes == 0) {
          co_await reply_alone(on, next);
        } else {
          if (next.bytes > longest_block || next.first > rank || next.ranks > seats_.size()) break;
          std::vector<std::byte> block(next.bytes);
          co_await asio::async_read(on, asio::buffer(block), use_awaitable);
          co_await gather({next.first, next.ranks}, rank, std::move(block));
        }
        co_await asio::async_read(on, whole(next), use_awaitable);
      }
    } catch (const boost::system::system_error&) {
      // It has gone: as it should, if the others go, too.
    }
    seats_[rank].has_gone = true;
    if (!rounds_.empty()) break_up("rank " + std::to_string(rank) + " went away");
    stop_if_over();
  }

  awaitable<void> reply_alone(socket& to, const question& what) {
    if (what.first == what_time.first) {
      const std::int64_t now = read_clock();
      co_return co_await reply(to, 0, std::as_bytes(std::span(&now, 1)));
    }
    const tcp::address at = address_reached();
    co_await reply(to, 0, std::as_bytes(std::span(&at, 1)));
  }

  /// By which of this machine's addresses somebody has come from elsewhere; or its loopback's.
  tcp::address address_reached() {
    tcp::address found;
    for (seat& each : seats_) {
      if (!each.at) continue;
      found = tcp::local_address_of(each.at->native_handle());
      if (!found.is_loopback()) break;
    }
    return found;
  }

  void stop_if_over() {
    const auto is_over = [this](const seat& one) {
      return one.has_gone || (is_closing_ && !one.at);
    };
    if (std::ranges::all_of(seats_, is_over)) context_.stop();
  }

  awaitable<void> gather(round_key which, std::size_t rank, std::vector<std::byte> block) {
    const auto gone = std::ranges::find_if(seats_, &seat::has_gone);
    if (gone != seats_.end()) {
      break_up("rank " + std::to_string(gone - seats_.begin()) + " went away");
    }
    if (!failed_.empty()) co_return;  // everybody has been told
    blocks& all = rounds_[which];
    all.emplace(rank, std::move(block));
    if (all.size() < which.second) co_return;
    const blocks whole_round = std::move(all);
    rounds_.erase(which);
    std::vector<std::byte> joined;
    for (const auto& [from, bytes] : whole_round) {
      joined.insert(joined.end(), bytes.begin(), bytes.end());
    }
    for (const auto& [to, bytes] : whole_round) co_await reply(*seats_[to].at, 0, joined);
  }

  awaitable<void> reply(socket& to, std::uint32_t is_error, std::span<const std::byte> bytes) {
    const answer head{is_error, static_cast<std::uint32_t>(bytes.size())};
    const std::array<asio::const_buffer, 2> all = {asio::buffer(&head, sizeof head),
                                                   asio::buffer(bytes.data(), bytes.size())};
    boost::system::error_code ignored;  // whoever has gone is noticed by who listens to it
    co_await asio::async_write(to, all, asio::redirect_error(use_awaitable, ignored));
  }
  awaitable<void> tell(socket& to, std::string why) {
    co_await reply(to, 1, std::as_bytes(std::span(why)));
  }
  awaitable<void> say_why(std::size_t rank) { return tell(*seats_[rank].at, failed_); }

  void break_up(const std::string& why) {
    if (!failed_.empty()) return;
    failed_ = why;
    rounds_.clear();
    for (std::size_t rank = 0; rank < seats_.size(); ++rank) {
      if (seats_[rank].at && !seats_[rank].has_gone) {
        asio::co_spawn(context_, say_why(rank), asio::detached);
      }
    }
  }

  void complain_of_missing() {
    std::string missing;
    std::size_t count = 0;
    constexpr std::size_t most_named = 8;
    for (std::size_t rank = 0; rank < seats_.size(); ++rank) {
      if (seats_[rank].at || ++count > most_named) continue;
      missing += (missing.empty() ? "" : ", ") + std::to_string(rank);
    }
    break_up("did not come to the rendezvous: of " + std::to_string(seats_.size()) + " ranks " +
             std::to_string(seats_.size() - came_) + ", such as " + missing);
  }

  asio::io_context context_;
  tcp::listener listener_;
  socket door_;
  asio::steady_timer late_;
  tcp::job_key key_;
  std::vector<seat> seats_;
  std::list<socket*> strangers_;  // who have proved nothing yet, the oldest first
  std::size_t came_ = 0;
  bool is_closing_ = false;
  std::map<round_key, blocks> rounds_;
  std::string failed_;
};

rendezvous_server::rendezvous_server(tcp::listener at, std::size_t ranks, const tcp::job_key& key,
                                     std::chrono::milliseconds patience)
    : service_(std::make_unique<service>(std::move(at), ranks, key, patience)),
      thread_([this] { service_->run(); }) {}

rendezvous_server::~rendezvous_server() { service_->close(); }

// ---- who comes

class rendezvous::connection {
public:
  connection(const meeting_place& where, tcp::admission::parties who) : socket_(context_) {
    const auto deadline = std::chrono::steady_clock::now() + where.patience;
    run(connect(where, who, deadline));
  }

  void exchange(const question& what, std::span<const std::byte> mine, std::span<std::byte> all) {
    run(ask(what, mine, all));
  }
  int number() { return socket_.native_handle(); }

private:
  using moment = std::chrono::steady_clock::time_point;

  /// To its end; its exception.
  void run(awaitable<void> work) {
    std::exception_ptr failed;
    asio::co_spawn(context_, std::move(work), [&](std::exception_ptr why) { failed = why; });
    context_.restart();
    context_.run();
    if (failed) std::rethrow_exception(failed);
  }

  // Whoever serves may come later than whoever wants to be served.
  awaitable<void> connect(meeting_place where, tcp::admission::parties who, moment deadline) {
    asio::steady_timer pause(context_);
    while (true) {
      for (const tcp::address& one : addresses_of(where)) {
        if (co_await try_once(where, one, who, deadline)) co_return;
      }
      if (std::chrono::steady_clock::now() > deadline) fail(nobody_at(where));
      pause.expires_after(std::chrono::milliseconds(20));
      co_await pause.async_wait(use_awaitable);
    }
  }

  static std::string nobody_at(const meeting_place& where) {
    std::string hosts;
    for (const std::string& host : where.hosts) hosts += (hosts.empty() ? "" : " or ") + host;
    return "nobody of this job answers at " + hosts + ", port " + std::to_string(where.port) +
           ", the rendezvous: rank 0, or whoever started the job, serves there, with the same key";
  }

  static std::vector<tcp::address> addresses_of(const meeting_place& where) {
    std::vector<tcp::address> all;
    for (const std::string& host : where.hosts) {
      for (const tcp::address& one : tcp::address::resolve_all(host, where.port))
        all.push_back(one);
    }
    return all;
  }

  /// Of several addresses one may lead nowhere: none is tried for more than two seconds.
  awaitable<bool> try_once(const meeting_place& where, const tcp::address& at,
                           tcp::admission::parties who, moment deadline) {
    muster::descriptor made = tcp::begin_connecting(at);
    if (!made && tcp::is_out_of_descriptors(errno)) {
      fail("rendezvous: no socket: " + tcp::describe_shortage(errno, "some more"));
    }
    if (!made) co_return false;
    deadline = std::min(deadline, std::chrono::steady_clock::now() + std::chrono::seconds(2));
    socket on(context_, copy_of(made.get()).release());
    // Whoever listens there may be somebody else, who says nothing.
    asio::steady_timer guard(context_, deadline);
    guard.async_wait([&on](const boost::system::error_code& why) {
      if (!why) on.cancel();
    });
    try {
      co_await on.async_wait(socket::wait_write, use_awaitable);
      tcp::admission with(std::move(made), where.key, who);
      if (!co_await pass(on, with)) co_return false;
    } catch (const boost::system::system_error&) {
      co_return false;
    }
    guard.cancel();
    socket_ = std::move(on);
    co_return true;
  }

  awaitable<void> ask(question what, std::span<const std::byte> mine, std::span<std::byte> all) {
    const std::array<asio::const_buffer, 2> said = {asio::buffer(&what, sizeof what),
                                                    asio::buffer(mine.data(), mine.size())};
    answer head{};
    std::string why = "whoever serves the rendezvous went away";
    try {
      co_await asio::async_write(socket_, said, use_awaitable);
      co_await asio::async_read(socket_, whole(head), use_awaitable);
      if (head.is_error == 0 && head.bytes == all.size()) {
        co_await asio::async_read(socket_, asio::buffer(all.data(), all.size()), use_awaitable);
        co_return;
      }
      why.assign(std::min(head.bytes, longest_block), ' ');
      co_await asio::async_read(socket_, asio::buffer(why), use_awaitable);
    } catch (const boost::system::system_error&) {
      // As above.
    }
    fail("rendezvous: " + why);
  }

  asio::io_context context_;
  socket socket_;
};

rendezvous::rendezvous(const meeting_place& where, std::size_t rank, std::size_t size)
    : connection_(std::make_unique<connection>(
          where, tcp::admission::parties{static_cast<std::uint32_t>(rank),
                                         static_cast<std::uint32_t>(size)})),
      rank_(rank),
      size_(size) {}

rendezvous::~rendezvous() = default;

void rendezvous::allgather(std::span<const std::byte> mine, std::span<std::byte> all) {
  connection_->exchange(
      {static_cast<std::uint32_t>(mine.size()), 0, static_cast<std::uint32_t>(size_)}, mine, all);
}

void rendezvous::allgather_among(std::span<const std::size_t> ranks,
                                 std::span<const std::byte> mine, std::span<std::byte> all) {
  connection_->exchange(
      {static_cast<std::uint32_t>(mine.size()), static_cast<std::uint32_t>(ranks.front()),
       static_cast<std::uint32_t>(ranks.size())},
      mine, all);
}

// Of each round trip it is known that the server has looked at its clock meanwhile, and no more:
// the shortest one says it best.
clock_relation rendezvous::relate_clock() {
  constexpr int round_trips = 16;
  clock_relation best{.error_ns = std::numeric_limits<std::int64_t>::max()};
  for (int i = 0; i < round_trips; ++i) {
    std::int64_t there = 0;
    const std::int64_t asked = read_clock();
    connection_->exchange(what_time, {}, std::as_writable_bytes(std::span(&there, 1)));
    const std::int64_t taken = read_clock() - asked;
    if ((taken + 1) / 2 >= best.error_ns) continue;
    best = {.offset_ns = there - (asked + taken / 2), .error_ns = (taken + 1) / 2};
  }
  return best;
}

tcp::address rendezvous::address_for_others() {
  tcp::address at = tcp::local_address_of(connection_->number());
  // Whoever serves is on this machine then.
  if (at.is_loopback()) {
    connection_->exchange(which_address, {}, std::as_writable_bytes(std::span(&at, 1)));
  }
  return at;
}

part_of_rendezvous::part_of_rendezvous(rendezvous& whole, std::vector<std::size_t> ranks)
    : whole_(whole), ranks_(std::move(ranks)) {
  const auto found = std::ranges::find(ranks_, whole.rank());
  rank_ = static_cast<std::size_t>(found - ranks_.begin());
}

}  // namespace muster::cluster
