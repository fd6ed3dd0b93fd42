#include "tools/command/mpirun/loader.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>

namespace muster::mpirun {
namespace {

namespace fs = std::filesystem;

/// The form of /etc/ld.so.cache since glibc 2.2: a head, entries, and texts that these point to.
struct cache_head {
  char magic[20];
  std::uint32_t entries;
  std::uint32_t bytes_of_texts;
  std::uint32_t unused[5];
};
struct cache_entry {
  std::int32_t flags;
  std::uint32_t name;  ///< offset from the head
  std::uint32_t file;
  std::uint32_t os_version;
  std::uint64_t capabilities;
};
constexpr std::string_view cache_magic = "glibc-ld.so.cache1.1";

std::string read_whole(const fs::path& file) {
  std::ifstream from(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(from), {}};
}

std::string_view text_at(std::string_view all, std::size_t offset) {
  if (offset >= all.size()) return {};
  all.remove_prefix(offset);
  return all.substr(0, all.find('\0'));
}

/// The files that the cache has for a name, the best first.
std::vector<fs::path> cached_files(std::string_view cache, std::string_view name) {
  // An older form may come first.
  const std::size_t begin = cache.find(cache_magic);
  if (begin == cache.npos) return {};
  cache.remove_prefix(begin);
  std::vector<fs::path> files;
  cache_head head;
  if (cache.size() < sizeof head) return {};
  std::memcpy(&head, cache.data(), sizeof head);
  for (std::size_t i = 0; i < head.entries; ++i) {
    cache_entry entry;
    const std::size_t at = sizeof head + i * sizeof entry;
    if (at + sizeof entry > cache.size()) break;
    std::memcpy(&entry, cache.data() + at, sizeof entry);
    if (text_at(cache, entry.name) == name) files.emplace_back(text_at(cache, entry.file));
  }
  return files;
}

void replace_all(std::string& in, std::string_view what, const std::string& by) {
  for (std::size_t at = in.find(what); at != in.npos; at = in.find(what, at + by.size())) {
    in.replace(at, what.size(), by);
  }
}

/// A list of folders as a file of the folder `origin` means it.
std::string expanded(std::string list, const fs::path& origin) {
  replace_all(list, "${ORIGIN}", origin);
  replace_all(list, "$ORIGIN", origin);
  return list;
}

std::optional<loaded> load(const fs::path& file, const std::vector<std::string>& rpaths) {
  auto said = read_elf(file);
  if (!said) return std::nullopt;
  loaded result{file, std::move(*said), {}};
  const fs::path origin = fs::absolute(file).parent_path();
  // Of a file that has a RUNPATH the loader reads no RPATH.
  if (result.said.runpath.empty() && !result.said.rpath.empty()) {
    result.rpaths.push_back(expanded(result.said.rpath, origin));
  }
  result.said.runpath = expanded(result.said.runpath, origin);
  result.rpaths.insert(result.rpaths.end(), rpaths.begin(), rpaths.end());
  return result;
}

std::optional<loaded> find_in(std::string_view folders, std::string_view name, const loaded& by) {
  while (!folders.empty()) {
    const std::string_view folder = folders.substr(0, folders.find(':'));
    folders.remove_prefix(std::min(folders.size(), folder.size() + 1));
    if (auto found = load(fs::path(folder.empty() ? "." : folder) / name, by.rpaths)) return found;
  }
  return std::nullopt;
}

}  // namespace

library_finder::library_finder() : cache_(read_whole("/etc/ld.so.cache")) {
  if (const char* const given = std::getenv("LD_LIBRARY_PATH")) from_environment_ = given;
}

std::optional<loaded> library_finder::find(std::string_view name, const loaded& by) const {
  if (name.find('/') != name.npos) return load(name, by.rpaths);
  if (by.said.runpath.empty()) {
    for (const std::string& folders : by.rpaths) {
      if (auto found = find_in(folders, name, by)) return found;
    }
  }
  for (const std::string& folders : {from_environment_, by.said.runpath}) {
    if (auto found = find_in(folders, name, by)) return found;
  }
  for (const fs::path& file : cached_files(cache_, name)) {
    if (auto found = load(file, by.rpaths)) return found;
  }
  return find_in("/lib/x86_64-linux-gnu:/usr/lib/x86_64-linux-gnu:/lib64:/usr/lib64:/lib:/usr/lib",
                 name, by);
}

std::optional<loaded> load_program(const fs::path& file) {
  std::error_code ignored;
  const fs::path real = fs::canonical(file, ignored);
  return load(real.empty() ? file : real, {});
}

}  // namespace muster::mpirun
