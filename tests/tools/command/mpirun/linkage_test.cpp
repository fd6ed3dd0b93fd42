#include "tools/command/mpirun/linkage.hpp"

#include <doctest/doctest.h>

#include <cstdlib>
#include <fstream>
#include <string>

#include "tools/command/mpirun/loader.hpp"

namespace muster::mpirun {
namespace {

namespace fs = std::filesystem;

fs::path in_test_folder(const char* name) {
  const char* const folder = std::getenv("TEST_TMPDIR");
  return fs::path(folder == nullptr ? "/tmp" : folder) / name;
}

fs::path written(const char* name, const std::string& text) {
  const fs::path file = in_test_folder(name);
  std::ofstream(file, std::ios::binary) << text;
  fs::permissions(file, fs::perms::owner_all);
  return file;
}

TEST_CASE("linkage: libraries of the MPIs") {
  CHECK(mpi_of_library("libmpi.so.40") == mpi::openmpi);
  CHECK(mpi_of_library("libmpich.so.12") == mpi::mpich);
  CHECK(mpi_of_library("libmpi.so.12") == mpi::mpich);
  CHECK_FALSE(mpi_of_library("libmpi_mpifh.so.40").has_value());
  CHECK_FALSE(mpi_of_library("libc.so.6").has_value());
}

TEST_CASE("linkage: the loader finds what this program needs") {
  const auto self = load_program("/proc/self/exe");
  REQUIRE(self.has_value());
  CHECK(self->said.has_loader);
  REQUIRE_FALSE(self->said.needed.empty());
  const library_finder finder;
  for (const std::string& name : self->said.needed) {
    INFO(name);
    const auto found = finder.find(name, *self);
    REQUIRE(found.has_value());
    CHECK(fs::exists(found->file));
  }
  CHECK_FALSE(finder.find("libnowhere.so.1", *self).has_value());
}

TEST_CASE("linkage: a file that is cut off or nonsense is none, at any length") {
  std::ifstream from("/proc/self/exe", std::ios::binary);
  std::string head(4096, '\0');
  from.read(head.data(), static_cast<std::streamsize>(head.size()));
  CHECK_FALSE(read_elf(written("empty", "")).has_value());
  CHECK_FALSE(read_elf(written("short", head.substr(0, 40))).has_value());
  // The head is there, what it points to is not.
  const auto cut = read_elf(written("cut", head.substr(0, 64)));
  REQUIRE(cut.has_value());
  CHECK(cut->needed.empty());
  for (std::size_t i = 64; i < head.size(); ++i) head[i] = static_cast<char>(i * 37);
  CHECK(read_elf(written("nonsense", head)).has_value());
}

TEST_CASE("linkage: kinds of files") {
  CHECK(kind_of("/proc/self/exe") == file_kind::elf);
  CHECK(kind_of(written("script", "#!/bin/sh\n")) == file_kind::script);
  CHECK(kind_of(written("text", "hello")) == file_kind::other);
  CHECK(kind_of(written("old", "\177ELF\1\1\1")) == file_kind::other_elf);
  CHECK(kind_of("/nowhere") == file_kind::other);
}

}  // namespace
}  // namespace muster::mpirun
