// Files that a user names: selection tables, models of clusters, recorded arrivals, what ranks have
// written for `muster why`, and programs and libraries that `muster mpirun` looks into. The first
// byte says which; the rest is the file.

#include <sys/mman.h>
#include <unistd.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <string_view>
#include <variant>

#include <muster/base/descriptor.hpp>
#include <muster/base/error.hpp>

#include "tests/fuzz/input.hpp"
#include "tests/fuzz/require.hpp"
#include "tools/command/mpirun/elf.hpp"
#include "tools/command/shared/arrivals.hpp"
#include "tools/command/why/written.hpp"
#include "tools/library/table.hpp"
#include "tools/library/why/page.hpp"
#include "transports/sim/model.hpp"

namespace muster::fuzz {
namespace {

/// A file of these bytes, for as long as this is there.
class file_of {
public:
  explicit file_of(const std::string& text) : file_(::memfd_create("fuzz", MFD_CLOEXEC)) {
    const ssize_t put = ::write(file_.get(), text.data(), text.size());
    require(put == static_cast<ssize_t>(text.size()), "the file is written");
  }
  std::filesystem::path path() const { return "/proc/self/fd/" + std::to_string(file_.get()); }

private:
  descriptor file_;
};

/// What is read is written such that it is read again, or refused.
template <class Read, class Write>
void read_twice(const std::string& text, Read read, Write write) {
  std::string written;
  try {
    written = write(read(text, "file"));
  } catch (const error& why) {
    require(why.code() == errc::invalid_argument, "a wrong file is an invalid argument");
    require(std::string_view(why.what()).find("file") != std::string_view::npos, "and named");
    return;
  }
  require(write(read(written, "again")) == written, "what is written is what was read");
}

void read_arrivals(const std::string& text) {
  const file_of file(text);
  try {
    const arrivals::pattern found = arrivals::parse("file:" + file.path().string());
    const std::size_t ranks = std::get<arrivals::recorded_delays>(found.how).ranks;
    arrivals::require_ranks(found, ranks);
    constexpr std::uint64_t last_call = UINT64_MAX;
    const arrivals::setting around{.ranks = ranks};
    for (const std::uint64_t call : {std::uint64_t{0}, last_call}) {
      const auto late = arrivals::delay(found, around, ranks - 1, call);
      require(late >= std::chrono::nanoseconds(0), "nobody comes too early");
    }
  } catch (const std::invalid_argument& why) {
    require(*why.what() != '\0', "a wrong file is told");
  }
}

void look_into_program(const std::string& text) {
  const file_of file(text);
  const auto kind = mpirun::kind_of(file.path());
  const auto found = mpirun::read_elf(file.path());
  require(!found || kind == mpirun::file_kind::elf, "only what begins as ELF is ELF");
}

void find_out_why(const std::string& text) {
  try {
    const auto ranks = why::latest_of_each(why::parse(text).ranks);
    require(ranks.empty() || !why::page("fuzz", ranks).empty(), "there is a page");
  } catch (const std::runtime_error& wrong) {
    require(*wrong.what() != '\0', "a wrong file is told");
  }
}

void run(input& in) {
  constexpr std::uint8_t kinds = 5;
  const auto kind = in.take<std::uint8_t>() % kinds;
  const std::string text = in.take_text();
  switch (kind) {
    case 0:
      return read_twice(text, tune::parse_table,
                        [](const selection_table& table) { return tune::to_json(table, "today"); });
    case 1:
      return read_twice(text, sim::parse_model,
                        [](const sim::model& model) { return sim::to_json(model); });
    case 2:
      return read_arrivals(text);
    case 3:
      return find_out_why(text);
    default:
      return look_into_program(text);
  }
}

}  // namespace
}  // namespace muster::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  muster::fuzz::input in(data, size);
  muster::fuzz::run(in);
  return 0;
}
