// Files that a user names: selection tables, models of clusters, recorded arrivals, what ranks have
// written for `muster why`, the memory of a job that it looks into, and programs and libraries that
// `muster mpirun` looks into. The first byte says which; the rest is the file, or of a job's memory
// what is there beside zeros.

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <new>
#include <stdexcept>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <muster/base/descriptor.hpp>
#include <muster/base/error.hpp>
#include <muster/run/flight_record.hpp>

#include "tests/fuzz/input.hpp"
#include "tests/fuzz/require.hpp"
#include "tools/command/mpirun/elf.hpp"
#include "tools/command/shared/arrivals.hpp"
#include "tools/command/why/processes.hpp"
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

/// Where a job's memory says that its records are, and what is there.
void look_into_memory(input& in) {
  constexpr std::size_t records = 256;  // from this place on
  std::vector<std::byte> memory(std::size_t{64} << 10);
  auto& where = *new (&memory[flight_directory::place]) flight_directory{};
  where.magic = flight_directory::right_magic;
  where.layout = flight_directory::this_layout;
  where.ranks = in.take<std::uint32_t>();
  where.first = in.take<std::uint64_t>();
  where.stride = in.take<std::uint64_t>();
  where.first_asleep = in.take<std::uint64_t>();
  where.asleep_stride = in.take<std::uint64_t>();
  std::ranges::copy(in.take_bytes(memory.size() - records),
                    memory.begin() + static_cast<std::ptrdiff_t>(records));
  const file_of file(std::string(reinterpret_cast<const char*>(memory.data()), memory.size()));
  try {
    const auto ranks = why::latest_of_each(why::read_ranks_in(file.path()));
    require(ranks.empty() || !why::page("fuzz", ranks).empty(), "there is a page");
  } catch (const std::runtime_error& wrong) {
    require(*wrong.what() != '\0', "wrong memory is told");
  }
}

void run(input& in) {
  constexpr std::uint8_t kinds = 6;
  const auto kind = in.take<std::uint8_t>() % kinds;
  if (kind == 5) return look_into_memory(in);
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
