// Runs a fuzz target without a fuzzer: all inputs of its corpus, then some that are made of these
// at random.
//
//     replay [--mutations=N] FOLDER…

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string_view>
#include <vector>

#include "tools/conformance/random.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace muster::fuzz {
namespace {

namespace fs = std::filesystem;
using bytes = std::vector<std::uint8_t>;

constexpr std::size_t longest = 4096;

std::vector<fs::path> files_in(const fs::path& folder) {
  std::vector<fs::path> all;
  for (const auto& each : fs::directory_iterator(folder)) {
    if (each.is_regular_file()) all.push_back(each.path());
  }
  std::ranges::sort(all);
  return all;
}

bytes contents_of(const fs::path& file) {
  std::ifstream from(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(from), {}};
}

class mutator {
public:
  explicit mutator(std::uint64_t seed) : random_(seed) {}

  /// One of them, changed.
  bytes make_of(const std::vector<bytes>& all) {
    constexpr std::size_t most_changes = 4;
    bytes made = all[random_.below(all.size())];
    for (std::size_t left = 1 + random_.below(most_changes); left != 0; --left) {
      change(made, all[random_.below(all.size())]);
    }
    made.resize(std::min(made.size(), longest));
    return made;
  }

private:
  void change(bytes& one, const bytes& other) {
    enum { flip, set, cut, insert, splice, kinds };
    const std::size_t at = random_.below(one.size() + 1);
    const auto here = one.begin() + static_cast<std::ptrdiff_t>(at);
    switch (random_.below(kinds)) {
      case flip:
        if (at < one.size()) one[at] ^= static_cast<std::uint8_t>(1U << random_.below(8));
        return;
      case set:
        if (at < one.size()) one[at] = any_byte();
        return;
      case cut:
        one.erase(here, here + static_cast<std::ptrdiff_t>(below_some(one.size() - at)));
        return;
      case insert:
        one.insert(here, 1 + below_some(16), any_byte());
        return;
      default:
        one.erase(here, one.end());
        one.insert(one.end(),
                   other.begin() + static_cast<std::ptrdiff_t>(random_.below(other.size() + 1)),
                   other.end());
    }
  }
  /// 0 … bound, and small ones as often as large ones.
  std::size_t below_some(std::size_t bound) {
    constexpr std::size_t few = 9;
    return random_.below((random_.one_in(2) ? std::min(bound, few) : bound) + 1);
  }
  /// Numbers at bounds as often as any others.
  std::uint8_t any_byte() {
    constexpr std::uint8_t bounds[] = {0x00, 0x01, 0x7f, 0x80, 0xff};
    return random_.one_in(2) ? bounds[random_.below(std::size(bounds))]
                             : static_cast<std::uint8_t>(random_.next());
  }

  testing::random_stream random_;
};

int run(const std::vector<fs::path>& folders, std::size_t mutations) {
  std::fprintf(stderr, "%s\n", testing::how_to_replay().c_str());
  std::vector<bytes> corpus;
  for (const fs::path& folder : folders) {
    for (const fs::path& file : files_in(folder)) {
      std::fprintf(stderr, "%s\n", file.c_str());
      corpus.push_back(contents_of(file));
      LLVMFuzzerTestOneInput(corpus.back().data(), corpus.back().size());
    }
  }
  if (corpus.empty()) {
    std::fprintf(stderr, "there are no inputs; expected folders of them\n");
    return EXIT_FAILURE;
  }
  mutator changed(testing::run_seed());
  for (std::size_t i = 0; i < mutations; ++i) {
    const bytes made = changed.make_of(corpus);
    std::fprintf(stderr, "mutation %zu: %zu bytes\n", i, made.size());
    LLVMFuzzerTestOneInput(made.data(), made.size());
  }
  std::printf("ran %zu inputs of the corpus and %zu mutations\n", corpus.size(), mutations);
  return EXIT_SUCCESS;
}

}  // namespace
}  // namespace muster::fuzz

int main(int argc, char** argv) {
  constexpr std::string_view option = "--mutations=";
  std::size_t mutations = 200;
  std::vector<std::filesystem::path> folders;
  for (int i = 1; i < argc; ++i) {
    const std::string_view given = argv[i];
    if (given.starts_with(option)) {
      mutations = std::strtoull(argv[i] + option.size(), nullptr, 10);
    } else {
      folders.emplace_back(given);
    }
  }
  return muster::fuzz::run(folders, mutations);
}
