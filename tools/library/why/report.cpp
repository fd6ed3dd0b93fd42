#include "tools/library/why/report.hpp"

#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include <muster/base/descriptor.hpp>
#include <muster/environment/environment.hpp>

#include "tools/library/why/json.hpp"
#include "tools/library/why/look.hpp"
#include "tools/library/why/page.hpp"

namespace muster::why {
namespace {

std::string host_name() {
  std::array<char, 64> name{};
  ::gethostname(name.data(), name.size() - 1);
  return name.data();
}

found_record record_of(const shm::job& job, std::size_t index) noexcept {
  return find_record(job.control_base(), job.flights(), index);
}

/// What is wrong with a tool for finding out what is wrong ends nothing.
void complain(const std::string& what) { std::fprintf(stderr, "muster: %s\n", what.c_str()); }

int new_file(const std::string& path) noexcept {
  return ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
}

}  // namespace

// ---- files

files::files(const shm::job& job, std::string_view folder, std::size_t rank) : job_(job) {
  std::error_code why;
  const std::filesystem::path whole = std::filesystem::absolute(folder, why);
  if (!why) std::filesystem::create_directories(whole, why);
  if (why) complain("cannot make " + std::string(folder) + ": " + why.message());
  const std::string stem =
      (whole / ("muster-why." + host_name() + ".rank-" + std::to_string(rank))).string();
  new_json_ = stem + ".new";
  json_ = stem + ".json";
  page_ = stem + ".txt";
}

bool files::take_turn(cause why) const noexcept {
  constexpr std::int64_t apart_ns = 1'000'000'000;
  std::atomic<std::int64_t>& last = job_.flights().written_ns[static_cast<std::size_t>(why)];
  const std::int64_t now = time_of_day();
  // relaxed: it guards nothing but whose turn it is.
  std::int64_t before = last.load(std::memory_order_relaxed);
  if (before != 0 && now - before < apart_ns) return false;
  return last.compare_exchange_strong(before, now, std::memory_order_relaxed);
}

bool files::write_json(cause why, std::string_view reason) const noexcept {
  if (!take_turn(why)) return false;
  const descriptor out(new_file(new_json_));
  if (!out) return false;
  json_writer all(out.get(), reason);
  for (std::size_t i = 0; i < job_.flights().ranks; ++i) all.add(record_of(job_, i));
  return all.end() && ::rename(new_json_.c_str(), json_.c_str()) == 0;
}

void files::write_page(std::string_view reason) const {
  std::vector<seen_rank> ranks;
  for (std::size_t i = 0; i < job_.flights().ranks; ++i) {
    if (auto one = look_at(record_of(job_, i))) ranks.push_back(std::move(*one));
  }
  const descriptor out(new_file(page_));
  if (!out) return complain("cannot write " + page_ + ": " + ::strerror(errno));
  text_out(out.get()) << page(reason, ranks);
  complain("who is late is in " + page_ + ", all calls in " + json_);
}

// ---- the signal

namespace {

/// What the handler writes, while there is something, and how many threads are in it.
struct signal_state {
  std::atomic<const files*> to{nullptr};
  std::atomic<int> handlers{0};
  std::atomic<int> signal{0};               // the last one upon which it wrote,
  std::atomic<std::int64_t> written_ns{0};  // and when, until there is a page, too
  std::mutex guard;                         // of the next, for other than handlers
  signal_watch* last = nullptr;             // whose files these are
};

std::array<char, 32> words_for(int signal) noexcept {
  std::array<char, 32> words{"signal "};
  ::strncat(words.data(), ::sigabbrev_np(signal), words.size() / 2);
  return words;
}

signal_state& state_for_signals() noexcept {
  static constinit signal_state state;
  return state;
}

// seq_cst, here and where it is taken away: either the handler sees that there is nothing to write,
// or whoever takes it away sees the handler.
void write_upon(int signal) {
  const int before = errno;
  signal_state& state = state_for_signals();
  state.handlers.fetch_add(1);
  if (const files* const to = state.to.load()) {
    if (to->write_json(cause::signal, words_for(signal).data())) {
      state.signal.store(signal);
      state.written_ns.store(time_of_day());
    }
  }
  state.handlers.fetch_sub(1);
  errno = before;
}

/// Where nobody else handles the signal.
void install_handler(int signal) {
  struct sigaction now{};
  ::sigaction(signal, nullptr, &now);
  const bool has_none = (now.sa_flags & SA_SIGINFO) == 0 && now.sa_handler == SIG_DFL;
  if (has_none) {
    struct sigaction ours{};
    ours.sa_handler = write_upon;
    ours.sa_flags = SA_RESTART;
    ::sigemptyset(&ours.sa_mask);
    ::sigaction(signal, &ours, nullptr);
  } else if (now.sa_handler != write_upon) {
    complain(std::string(environment::why_signal.name) +
             ": the program does something else upon that signal, and will");
  }
}

}  // namespace

signal_watch::signal_watch(const files& to) : to_(to) {
  install_handler(signal_named(environment::read(environment::why_signal)));
  signal_state& state = state_for_signals();
  const std::scoped_lock lock(state.guard);
  before_ = std::exchange(state.last, this);
  state.to.store(&to_);
}

// The handler stays, and does nothing: without it the signal would end the process.
signal_watch::~signal_watch() {
  signal_state& state = state_for_signals();
  const std::scoped_lock lock(state.guard);
  signal_watch** here = &state.last;
  while (*here != this) here = &(*here)->before_;
  *here = before_;
  state.to.store(state.last != nullptr ? &state.last->to_ : nullptr);
  while (state.handlers.load() != 0) std::this_thread::yield();
}

// A rank that waits looks soon enough for the page to be of the same moment.
void signal_watch::finish() noexcept {
  constexpr std::int64_t a_moment_ns = 1'000'000'000;
  signal_state& state = state_for_signals();
  // relaxed: what is written is looked at again once it is taken.
  const bool is_last = state.to.load(std::memory_order_relaxed) == &to_;
  if (!is_last || state.written_ns.load(std::memory_order_relaxed) == 0) return;
  if (time_of_day() - state.written_ns.exchange(0) > a_moment_ns) return;
  try {
    to_.write_page(words_for(state.signal.load()).data());
  } catch (const std::exception&) {
    // There is no memory: the JSON is there.
  }
}

int signal_named(const std::string& name) {
  constexpr std::string_view prefix = "SIG";
  const std::string_view bare =
      name.starts_with(prefix) ? std::string_view(name).substr(prefix.size()) : name;
  for (int each = 1; each < NSIG; ++each) {
    const char* const known = ::sigabbrev_np(each);
    if (known != nullptr && bare == known && each != SIGKILL && each != SIGSTOP) return each;
  }
  throw error(errc::invalid_argument, std::string(environment::why_signal.name) + " is '" + name +
                                          "'; expected a signal's name, as in USR1");
}

// ---- the recorder

reporting_recorder::reporting_recorder(const shm::job& job, std::size_t index, std::size_t rank,
                                       std::size_t ranks)
    : flight_recorder(job.flight(index), {.process = ::getpid(),
                                          .rank = rank,
                                          .ranks = ranks,
                                          .clock_ns = time_of_day(),
                                          .host = host_name()}) {
  const char* const folder = environment::read(environment::why);
  const bool has_folder = folder != nullptr && *folder != '\0';
  if (has_folder) on_breakage_ = std::make_unique<files>(job, folder, rank);
  if (environment::read(environment::why_signal) == nullptr) return;
  on_signal_ = std::make_unique<files>(job, has_folder ? folder : ".", rank);
  watch_ = std::make_unique<signal_watch>(*on_signal_);
}

reporting_recorder::~reporting_recorder() = default;

// A program that stops its own calls knows why.
void reporting_recorder::note_breakage(const error& why) noexcept {
  if (on_breakage_ == nullptr || why.code() == make_error_code(errc::stopped)) return;
  try {
    if (on_breakage_->write_json(cause::breakage, why.text())) on_breakage_->write_page(why.text());
  } catch (const std::exception&) {
    // There is no memory: the JSON is there by then.
  }
}

void reporting_recorder::note_look() noexcept {
  if (watch_ != nullptr) watch_->finish();
}

}  // namespace muster::why
