// A process manager's answers, however long, and what rank 0 says through it.

#include "tools/library/launcher/pmi.hpp"

#include <doctest/doctest.h>
#include <sys/socket.h>

#include <array>
#include <cstddef>
#include <cstdlib>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include <muster/base/descriptor.hpp>
#include <muster/base/error.hpp>

#include "tests/harness/failure.hpp"
#include "tools/library/launcher/meeting.hpp"
#include "tools/library/launcher/pmi_wire.hpp"
#include "tools/library/launcher/private_channel.hpp"

namespace muster::testing {
namespace {

/// The process manager of rank 0 of 2, which says what it has to say and goes.
class manager {
public:
  explicit manager(std::string answers) {
    std::array<int, 2> ends{};
    REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) == 0);
    ours_ = descriptor(ends[0]);
    its_ = descriptor(ends[1]);
    ::setenv("PMI_FD", std::to_string(ends[0]).c_str(), 1);
    ::setenv("PMI_RANK", "0", 1);
    ::setenv("PMI_SIZE", "2", 1);
    speaker_ = std::jthread([this, all = std::move(answers)] { say(all); });
  }
  ~manager() {
    for (const char* const name : {"PMI_FD", "PMI_RANK", "PMI_SIZE"}) ::unsetenv(name);
    ours_ = {};  // it may still be speaking
  }
  manager(const manager&) = delete;
  manager& operator=(const manager&) = delete;

private:
  void say(std::string_view left) const {
    while (!left.empty()) {
      const ssize_t said = ::send(its_.get(), left.data(), left.size(), MSG_NOSIGNAL);
      if (said <= 0) return;
      left.remove_prefix(static_cast<std::size_t>(said));
    }
    ::shutdown(its_.get(), SHUT_WR);
  }

  descriptor ours_;
  descriptor its_;
  std::jthread speaker_;
};

/// An answer to the first question of PMI-1, without the end of its line.
std::string greeting_of(std::size_t length) {
  const std::string begin = "cmd=response_to_init rc=0 note=";
  return begin + std::string(length - begin.size(), 'x');
}

TEST_CASE("a line of PMI-1 that is longer than 65,536 characters is no answer") {
  constexpr std::size_t longest = 65536;  // with its end
  {
    const manager alive(greeting_of(longest - 1) + "\n");
    CHECK(launcher::pmi_wire::find()->ask_line("cmd=init") == greeting_of(longest - 1));
  }
  const manager alive(greeting_of(longest) + "\n");
  const auto why = failure_of([] { launcher::open_pmi(launcher::pmi_version::one); });
  REQUIRE(why);
  CHECK(why->code() == errc::bootstrap);
  CHECK(why->text().find("does not speak PMI-1") != std::string::npos);
}

TEST_CASE("an answer of PMI-2 has a length of 6 digits") {
  {
    const manager alive("999999" + std::string(999'999, 'x'));
    CHECK(launcher::pmi_wire::find()->ask_text("cmd=get;") == std::string(999'999, 'x'));
  }
  // The seventh is the first character of the answer.
  const manager alive("1000000" + std::string(1'000'000, 'x'));
  const std::string answer = launcher::pmi_wire::find()->ask_text("cmd=get;");
  CHECK(answer == "0" + std::string(99'999, 'x'));
}

TEST_CASE("rank 0 tells no more than 12 of its addresses") {
  meeting one;
  // As long as addresses are.
  const auto address = [](int number) {
    return "2001:db8:1111:2222:3333:4444:5555:" + std::to_string(1000 + number);
  };
  constexpr int most = 12;
  for (int i = 0; i < most; ++i) one.place.hosts.push_back(address(i));
  const std::string full = launcher::invitation_to(one);
  CHECK(full.ends_with("/" + address(most - 1)));
  CHECK(full.size() <= 1000);
  one.place.hosts.push_back(address(most));
  CHECK(launcher::invitation_to(one) == full);
}

}  // namespace
}  // namespace muster::testing
