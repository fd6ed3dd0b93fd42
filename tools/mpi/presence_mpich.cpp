// Hydra, MPICH's launcher, speaks PMI-1: lines of text through a socket, each of which it answers
// by a line. The MPI itself speaks there in MPI_Init, after the first and before the rest of what
// is said here.
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "tools/mpi/presence.hpp"

namespace muster::mpi {
namespace {

std::optional<int> number_in(const char* text) {
  if (text == nullptr) return std::nullopt;
  int number = 0;
  const char* const end = text + std::strlen(text);
  const auto [read_to, code] = std::from_chars(text, end, number);
  return code == std::errc{} && read_to == end ? std::optional(number) : std::nullopt;
}

/// The value of `name` in "name=value name=value"; empty where it has none.
std::string_view field(std::string_view line, std::string_view name) {
  while (!line.empty()) {
    const std::string_view one = line.substr(0, line.find(' '));
    if (one.starts_with(name) && one.substr(name.size()).starts_with('=')) {
      return one.substr(name.size() + 1);
    }
    line.remove_prefix(std::min(one.size() + 1, line.size()));
  }
  return {};
}

/// The key-value space of the processes that were started together.
class pmi final : public notice_board {
public:
  static std::unique_ptr<notice_board> join(int socket, int rank) {
    pmi joined(socket);
    // Each node's Hydra forgets, when the first process begins, what was said before; that the MPI
    // begins later once more does not matter.
    const std::string begun = joined.ask("cmd=init pmi_version=1 pmi_subversion=1");
    if (field(begun, "rc") != "0") return nullptr;
    joined.space_ = field(joined.ask("cmd=get_my_kvsname"), "kvsname");
    if (joined.space_.empty()) return nullptr;
    const std::string answer = joined.ask("cmd=put" + joined.place_of(rank) + " value=here");
    if (field(answer, "rc") != "0") return nullptr;
    return std::make_unique<pmi>(std::move(joined));
  }

  bool has_notice_of(std::size_t rank) override {
    return field(ask("cmd=get" + place_of(rank)), "rc") == "0";
  }

private:
  explicit pmi(int socket) : socket_(socket) {}

  template <class Number>
  std::string place_of(Number rank) const {
    return " kvsname=" + space_ + " key=muster-" + std::to_string(rank);
  }

  /// The answer, without its end; empty where there is none.
  std::string ask(std::string line) const {
    line += '\n';
    if (::write(socket_, line.data(), line.size()) != static_cast<ssize_t>(line.size())) return {};
    std::string answer;
    while (!answer.ends_with('\n')) {
      constexpr int patience_ms = 10'000;
      pollfd until{.fd = socket_, .events = POLLIN, .revents = 0};
      std::array<char, 1024> part;
      if (::poll(&until, 1, patience_ms) <= 0) return {};
      const ssize_t got = ::read(socket_, part.data(), part.size());
      if (got <= 0) return {};
      answer.append(part.data(), static_cast<std::size_t>(got));
    }
    answer.pop_back();
    return answer;
  }

  int socket_;
  std::string space_;
};

}  // namespace

std::unique_ptr<notice_board> put_notice_up() {
  // Others than Hydra, which alone sets this, want to hear of each process's beginning before
  // anything else, and once.
  if (std::getenv("MPI_LOCALRANKID") == nullptr) return nullptr;
  const std::optional<int> socket = number_in(std::getenv("PMI_FD"));
  const std::optional<int> rank = number_in(std::getenv("PMI_RANK"));
  if (!socket || !rank) return nullptr;
  return pmi::join(*socket, *rank);
}

}  // namespace muster::mpi
