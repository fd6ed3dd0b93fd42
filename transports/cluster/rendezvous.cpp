#include "transports/cluster/rendezvous.hpp"

#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <exception>
#include <limits>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <utility>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>

#include <muster/base/error.hpp>
#include <muster/base/signals.hpp>

#include "transports/tcp/descriptors.hpp"

namespace muster::cluster {
namespace {

namespace asio = boost::asio;
using asio::awaitable;
using asio::use_awaitable;
/// Unlike those of a `stream_descriptor`, its writes raise no SIGPIPE where the peer has gone.
using socket = asio::generic::stream_protocol::socket;

/// What goes before a rank's block.
struct question {
  std::uint32_t bytes;
  std::uint32_t first;  ///< the lowest of those that gather
  std::uint32_t ranks;  ///< how many they are; 0: nobody does
};
/// Questions that are not about others' blocks.
constexpr question what_time{.bytes = 0, .first = 0, .ranks = 0};
constexpr question which_address{.bytes = 0, .first = 1, .ranks = 0};
/// Nor are these: the rank comes to another meeting than the first, or to none any more.
constexpr question comes_again{.bytes = 0, .first = 2, .ranks = 0};
constexpr question comes_no_more{.bytes = 0, .first = 3, .ranks = 0};
constexpr bool operator==(const question& a, const question& b) {
  return a.bytes == b.bytes && a.first == b.first && a.ranks == b.ranks;
}
/// What goes before everybody's blocks, or before why there are none.
struct answer {
  std::uint32_t error;  ///< 0: none, else an `errc`
  std::uint32_t bytes;
};

constexpr std::uint32_t longest_block = 1 << 20;

using moment = std::chrono::steady_clock::time_point;

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

/// Of TCP, in whichever family.
socket socket_of(asio::io_context& context, muster::descriptor of) {
  return {context, asio::generic::stream_protocol(AF_UNSPEC, IPPROTO_TCP), of.release()};
}

/// Of this machine, as engines have it.
std::int64_t read_clock() noexcept {
  return std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// That a server needs at most: each connection has two owners, and Asio some descriptors.
constexpr std::size_t descriptors_for(std::size_t ranks) { return 2 * ranks + 64; }

[[noreturn]] void fail(const std::string& why, errc code = errc::bootstrap) {
  throw error(code, why);
}

awaitable<void> reply(socket& to, errc how, std::span<const std::byte> bytes) {
  const answer head{static_cast<std::uint32_t>(how), static_cast<std::uint32_t>(bytes.size())};
  const std::array<asio::const_buffer, 2> all = {asio::buffer(&head, sizeof head),
                                                 asio::buffer(bytes.data(), bytes.size())};
  boost::system::error_code gone;  // is noticed by who listens to it
  co_await asio::async_write(to, all, asio::redirect_error(use_awaitable, gone));
  // Asio would have another reply wait until a broken connection is writable, which it never is.
  if (gone) to.close(gone);
}

}  // namespace

// ---- who serves

/// Ranks that meet, from the first that comes until all have gone. They have seats.
class rendezvous_server::gathering : public std::enable_shared_from_this<gathering> {
public:
  /// \param may_return whoever goes before all are there has not come
  /// \param patience once all are there, so long each waits for what the others have to say
  gathering(std::size_t ranks, bool may_return, std::chrono::milliseconds patience)
      : seats_(ranks), may_return_(may_return), patience_(patience) {}

  bool may_return() const noexcept { return may_return_; }
  bool is_full() const noexcept { return came_ == seats_.size(); }
  bool has_failed() const noexcept { return !failed_.empty(); }
  bool is_taken(std::size_t rank) const noexcept { return seats_[rank].at != nullptr; }
  /// \param is_closing nobody comes any more
  bool is_over(bool is_closing) const {
    return std::ranges::all_of(seats_, [is_closing](const seat& one) {
      return one.has_gone || (is_closing && one.at == nullptr);
    });
  }

  /// In the place of the one that has come as that rank before, if any.
  void seat_rank(std::size_t rank, std::shared_ptr<socket> at) {
    if (is_taken(rank)) {
      seats_[rank].at->close();
      leave_seat(rank);
    }
    ++came_;
    seats_[rank].at = std::move(at);
    if (!is_full()) return;
    for (const auto& [which, all] : rounds_) limit(which);
  }

  /// Answers a rank until it goes.
  awaitable<void> listen_to(std::size_t rank, question next) {
    const std::shared_ptr<socket> on = seats_[rank].at;
    try {
      while (true) {
        if (next.ranks == 0 && next.bytes == 0) {
          co_await reply_alone(*on, next);
        } else {
          if (next.bytes > longest_block || next.first > rank || next.ranks > seats_.size()) break;
          std::vector<std::byte> block(next.bytes);
          co_await asio::async_read(*on, asio::buffer(block), use_awaitable);
          co_await gather({next.first, next.ranks}, rank, std::move(block));
        }
        co_await asio::async_read(*on, whole(next), use_awaitable);
      }
    } catch (const boost::system::system_error&) {
      // It has gone: as it should, if the others go, too.
    }
    if (seats_[rank].at == on) note_departure(rank);  // else it has come again
  }

  awaitable<void> say_why(std::size_t rank) const { return tell(seats_[rank].at, code_, failed_); }

  /// Tells all who are there that it has failed, and why.
  void break_up(const std::string& why, errc code = errc::bootstrap) {
    if (has_failed()) return;
    failed_ = why;
    code_ = code;
    rounds_.clear();
    for (std::size_t rank = 0; rank < seats_.size(); ++rank) {
      seat& each = seats_[rank];
      if (!is_taken(rank) || each.has_gone) continue;
      asio::co_spawn(each.at->get_executor(), say_why(rank), asio::detached);
    }
  }

  std::string describe_missing() const {
    std::string missing;
    std::size_t count = 0;
    constexpr std::size_t most_named = 8;
    for (std::size_t rank = 0; rank < seats_.size(); ++rank) {
      if (is_taken(rank) || ++count > most_named) continue;
      missing += (missing.empty() ? "" : ", ") + std::to_string(rank);
    }
    return "of " + std::to_string(seats_.size()) + " ranks " +
           std::to_string(seats_.size() - came_) + ", such as " + missing;
  }

private:
  struct seat {
    std::shared_ptr<socket> at;
    bool has_gone = false;
  };
  /// An allgather under way: by the lowest rank and how many there are.
  using round_key = std::pair<std::uint32_t, std::uint32_t>;
  using blocks = std::map<std::size_t, std::vector<std::byte>>;
  struct round {
    blocks said;
    asio::steady_timer late;  // runs once all ranks are there
  };

  static awaitable<void> tell(std::shared_ptr<socket> to, errc code, std::string why) {
    co_await reply(*to, code, std::as_bytes(std::span(why)));
  }

  /// As if it had not come.
  void leave_seat(std::size_t rank) {
    seats_[rank] = {};
    --came_;
    for (auto& [which, each] : rounds_) each.said.erase(rank);
  }

  void note_departure(std::size_t rank) {
    if (may_return_ && !is_full() && !has_failed()) return leave_seat(rank);
    seats_[rank].has_gone = true;
    if (!rounds_.empty()) break_up("rank " + std::to_string(rank) + " went away");
  }

  awaitable<void> gather(round_key which, std::size_t rank, std::vector<std::byte> block) {
    const auto gone = std::ranges::find_if(seats_, &seat::has_gone);
    if (gone != seats_.end()) {
      break_up("rank " + std::to_string(gone - seats_.begin()) + " went away");
    }
    if (has_failed()) co_return co_await say_why(rank);  // it may have asked since it was told
    const auto [known, is_new] =
        rounds_.try_emplace(which, blocks(), asio::steady_timer(seats_[rank].at->get_executor()));
    if (is_new && is_full()) limit(which);
    blocks& all = known->second.said;
    all.emplace(rank, std::move(block));
    if (all.size() < which.second) co_return;
    const blocks whole_round = std::move(all);
    rounds_.erase(which);
    std::vector<std::byte> joined;
    for (const auto& [from, bytes] : whole_round) {
      joined.insert(joined.end(), bytes.begin(), bytes.end());
    }
    for (const auto& [rank_told, bytes] : whole_round) {
      const std::shared_ptr<socket> to = seats_[rank_told].at;
      if (to != nullptr) co_await reply(*to, errc{}, joined);
    }
  }

  /// From now on those that have not spoken yet have that much time.
  void limit(round_key which) {
    asio::steady_timer& late = rounds_.at(which).late;
    late.expires_after(patience_);
    late.async_wait([in = weak_from_this(), which](const boost::system::error_code& why) {
      const auto self = in.lock();
      if (!why && self != nullptr) self->note_silence(which);
    });
  }

  void note_silence(round_key which) {
    const auto late = rounds_.find(which);
    // That may be over, and another one under way meanwhile.
    if (late == rounds_.end() || late->second.late.expiry() > moment::clock::now()) return;
    const std::chrono::duration<double> silence = patience_;
    std::ostringstream why;
    why << describe_silent(which, late->second.said) << " said nothing for " << silence.count()
        << " s";
    break_up(why.str());
  }

  /// Who they are is known where all ranks take part.
  std::string describe_silent(round_key which, const blocks& said) const {
    const std::string count = std::to_string(which.second - said.size());
    if (which.second != seats_.size()) {
      return count + " of " + std::to_string(which.second) + " ranks, rank " +
             std::to_string(which.first) + " the first of them,";
    }
    std::size_t rank = 0;
    while (said.contains(rank)) ++rank;
    return count + " of " + std::to_string(which.second) + " ranks, such as " +
           std::to_string(rank) + ",";
  }

  awaitable<void> reply_alone(socket& to, const question& what) {
    if (what == what_time) {
      const std::int64_t now = read_clock();
      co_return co_await reply(to, errc{}, std::as_bytes(std::span(&now, 1)));
    }
    if (what == comes_again) co_return co_await reply(to, errc{}, {});
    const tcp::address at = address_reached();
    co_await reply(to, errc{}, std::as_bytes(std::span(&at, 1)));
  }

  /// By which of this machine's addresses somebody has come from elsewhere; or its loopback's.
  tcp::address address_reached() {
    tcp::address found;
    for (seat& each : seats_) {
      if (each.at == nullptr || !each.at->is_open()) continue;
      found = tcp::local_address_of(each.at->native_handle());
      if (!found.is_loopback()) break;
    }
    return found;
  }

  std::vector<seat> seats_;
  bool may_return_;
  std::size_t came_ = 0;
  std::chrono::milliseconds patience_;
  std::map<round_key, round> rounds_;
  std::string failed_;
  errc code_{};
};

class rendezvous_server::service {
public:
  service(tcp::listener at, std::size_t ranks, const tcp::job_key& key,
          std::chrono::milliseconds patience, meets often)
      : listener_(std::move(at)),
        door_(context_, copy_of(listener_.socket.get()).release()),
        late_(context_, patience),
        key_(key),
        ranks_(ranks),
        patience_(patience) {
    tcp::allow_descriptors(descriptors_for(ranks));
    asio::co_spawn(context_, let_in(), asio::detached);
    if (often != meets::once) begin_next();
    if (often == meets::only_again) return;
    first_ = std::make_shared<gathering>(ranks_, false, patience_);
    gatherings_.push_back(first_);
    late_.async_wait([first = first_](const boost::system::error_code& why) {
      if (why || first->is_full()) return;
      first->break_up("did not come to the rendezvous: " + first->describe_missing());
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
  /// The next meeting of those that come again.
  void begin_next() {
    std::erase_if(gatherings_, [](const auto& each) { return each->is_over(false); });
    next_ = std::make_shared<gathering>(ranks_, true, patience_);
    gatherings_.push_back(next_);
    if (!ended_.empty()) next_->break_up(ended_, errc::rank_left);
  }

  awaitable<void> let_in() {
    while (door_.is_open()) {
      co_await door_.async_wait(asio::posix::stream_descriptor::wait_read, use_awaitable);
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
    break_all_up(
        "whoever serves can take no more of " + std::to_string(ranks_) + " ranks: " +
        tcp::describe_shortage(why, "at least " + std::to_string(descriptors_for(ranks_))));
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
    const auto on = std::make_shared<socket>(socket_of(context_, std::move(from)));
    const auto who = co_await prove(*on, with);
    if (!who) co_return;
    const bool is_there = with.accept();
    if (who->to != ranks_ || who->from >= ranks_) {
      co_return co_await refuse(*on, "rank " + std::to_string(who->from) + " of " +
                                         std::to_string(who->to) + " came to a job of " +
                                         std::to_string(ranks_) + " ranks");
    }
    if (!is_there) co_return;
    // Whoever has waited too long for the verdict comes again. The connection that counts is the
    // one on which it asks.
    question first;
    boost::system::error_code gave_up;
    co_await asio::async_read(*on, whole(first), asio::redirect_error(use_awaitable, gave_up));
    if (gave_up) co_return;
    if (next_ != nullptr && first == comes_no_more) co_return co_await note_end(*on, who->from);
    if (next_ != nullptr && first == comes_again) co_return co_await let_sit_again(on, who->from);
    if (first_ != nullptr) co_return co_await let_sit(on, who->from, first);
  }

  awaitable<void> let_sit(std::shared_ptr<socket> on, std::size_t rank, question first) {
    if (first_->is_taken(rank)) {
      co_return co_await refuse(*on, "two processes came as rank " + std::to_string(rank));
    }
    first_->seat_rank(rank, std::move(on));
    if (first_->is_full() && !is_closing_) late_.cancel();
    co_await attend(first_, rank, first);
  }

  awaitable<void> let_sit_again(std::shared_ptr<socket> on, std::size_t rank) {
    if (first_ != nullptr && !first_->is_full()) {
      first_->break_up("rank " + std::to_string(rank) + " failed before all had come");
    }
    const std::shared_ptr<gathering> in = next_;
    in->seat_rank(rank, std::move(on));
    if (in->is_full()) begin_next();
    co_await attend(in, rank, comes_again);
  }

  awaitable<void> attend(std::shared_ptr<gathering> in, std::size_t rank, question first) {
    if (in->has_failed()) co_await in->say_why(rank);
    co_await in->listen_to(rank, first);
    stop_if_over();
  }

  awaitable<void> note_end(socket& on, std::size_t rank) {
    ended_ = "rank " + std::to_string(rank) + " has ended, and comes no more";
    next_->break_up(ended_, errc::rank_left);
    co_await reply(on, errc{}, {});
  }

  /// It learns of it, and so do the others: one of them may be the wrong one.
  awaitable<void> refuse(socket& on, std::string why) {
    co_await reply(on, errc::bootstrap, std::as_bytes(std::span(why)));
    break_all_up(why);
  }
  void break_all_up(const std::string& why) {
    for (const auto& each : gatherings_) each->break_up(why);
    if (next_ != nullptr) begin_next();
  }

  void stop_if_over() {
    if (next_ != nullptr && !is_closing_) return;
    const auto is_over = [this](const auto& one) { return one->is_over(is_closing_); };
    if (std::ranges::all_of(gatherings_, is_over)) context_.stop();
  }

  asio::io_context context_;
  tcp::listener listener_;
  asio::posix::stream_descriptor door_;
  asio::steady_timer late_;
  tcp::job_key key_;
  std::size_t ranks_;
  std::chrono::milliseconds patience_;
  std::shared_ptr<gathering> first_;                    // null: there is none
  std::shared_ptr<gathering> next_;                     // null: nobody comes again
  std::vector<std::shared_ptr<gathering>> gatherings_;  // that are not over
  std::string ended_;             // why nobody can meet again; empty: they can
  std::list<socket*> strangers_;  // who have proved nothing yet, the oldest first
  bool is_closing_ = false;
};

rendezvous_server::rendezvous_server(tcp::listener at, std::size_t ranks, const tcp::job_key& key,
                                     std::chrono::milliseconds patience, meets often)
    : service_(std::make_unique<service>(std::move(at), ranks, key, patience, often)) {
  // They are for other threads; and who is killed meanwhile breaks a pipe.
  const all_signals_blocked meanwhile;
  thread_ = std::jthread([this] { service_->run(); });
}

rendezvous_server::~rendezvous_server() { service_->close(); }

// ---- who comes

class rendezvous::connection {
public:
  // The context has descriptors of its own.
  connection(const meeting_place& where, tcp::admission::parties who) try : socket_(context_) {
    const auto deadline = std::chrono::steady_clock::now() + where.patience;
    run(connect(where, who, deadline));
  } catch (const boost::system::system_error& why) {
    const int code = why.code().value();
    if (tcp::is_out_of_descriptors(code)) fail_without_descriptors(code);
    fail(std::string("rendezvous: ") + why.what());
  }

  void exchange(const question& what, std::span<const std::byte> mine, std::span<std::byte> all) {
    run(ask(what, mine, all));
  }
  int number() { return socket_.native_handle(); }

private:
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

  [[noreturn]] static void fail_without_descriptors(int why) {
    fail("rendezvous: no socket: " + tcp::describe_shortage(why, "some more"));
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
    if (!made && tcp::is_out_of_descriptors(errno)) fail_without_descriptors(errno);
    if (!made) co_return false;
    muster::descriptor also = copy_of(made.get());
    if (!also) fail_without_descriptors(errno);
    deadline = std::min(deadline, std::chrono::steady_clock::now() + std::chrono::seconds(2));
    const auto on = std::make_shared<socket>(socket_of(context_, std::move(also)));
    // Whoever listens there may be somebody else, who says nothing.
    asio::steady_timer guard(context_, deadline);
    // Once the time is over, this runs though the guard is gone: perhaps after the socket's end.
    // Closing, unlike cancelling, ends also what is waited for next.
    guard.async_wait([weak = std::weak_ptr(on)](const boost::system::error_code& why) {
      const std::shared_ptr<socket> held = weak.lock();
      if (!why && held != nullptr) held->close();
    });
    try {
      co_await on->async_wait(socket::wait_write, use_awaitable);
      tcp::admission with(std::move(made), where.key, who);
      if (!co_await pass(*on, with) || !on->is_open()) co_return false;
    } catch (const boost::system::system_error&) {
      co_return false;
    }
    socket_ = std::move(*on);
    tcp::keep_alive(number(), where.patience / 6);  // the system tries some ten times in vain
    co_return true;
  }

  awaitable<void> ask(question what, std::span<const std::byte> mine, std::span<std::byte> all) {
    const std::array<asio::const_buffer, 2> said = {asio::buffer(&what, sizeof what),
                                                    asio::buffer(mine.data(), mine.size())};
    answer head{};
    errc code = errc::bootstrap;
    std::string why = "whoever serves the rendezvous went away";
    // As a reply; but whoever abandons this, in another thread, uses the descriptor.
    if (is_broken_) fail("rendezvous: " + why, code);
    try {
      co_await asio::async_write(socket_, said, use_awaitable);
      co_await asio::async_read(socket_, whole(head), use_awaitable);
      if (head.error == 0 && head.bytes == all.size()) {
        co_await asio::async_read(socket_, asio::buffer(all.data(), all.size()), use_awaitable);
        co_return;
      }
      why.assign(std::min(head.bytes, longest_block), ' ');
      co_await asio::async_read(socket_, asio::buffer(why), use_awaitable);
      if (head.error == static_cast<std::uint32_t>(errc::rank_left)) code = errc::rank_left;
    } catch (const boost::system::system_error&) {
      is_broken_ = true;
    }
    fail("rendezvous: " + why, code);
  }

  asio::io_context context_;
  socket socket_;
  bool is_broken_ = false;
};

namespace {

tcp::admission::parties rank_of(std::size_t rank, std::size_t size) {
  return {static_cast<std::uint32_t>(rank), static_cast<std::uint32_t>(size)};
}

}  // namespace

rendezvous::rendezvous(const meeting_place& where, std::size_t rank, std::size_t size)
    : connection_(std::make_unique<connection>(where, rank_of(rank, size))),
      rank_(rank),
      size_(size) {}

rendezvous::~rendezvous() = default;

void rendezvous::tell_of_end(const meeting_place& where, std::size_t rank, std::size_t size) {
  connection(where, rank_of(rank, size)).exchange(comes_no_more, {}, {});
}

void rendezvous::come_again() { connection_->exchange(comes_again, {}, {}); }

void rendezvous::abandon() noexcept { ::shutdown(connection_->number(), SHUT_RDWR); }

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
