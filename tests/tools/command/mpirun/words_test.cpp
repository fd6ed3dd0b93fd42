#include "tools/command/mpirun/words.hpp"

#include <doctest/doctest.h>

#include <cstdlib>

namespace muster::mpirun {
namespace {

std::vector<part> read(const words& all, mpi as = mpi::openmpi) { return split(all, as); }

TEST_CASE("words: options end where the program begins") {
  auto parts = read({"-np", "4", "--map-by", "node", "--mca", "btl", "self,vader", "--tag-output",
                     "./solve", "-np", "7"});
  REQUIRE(parts.size() == 1);
  CHECK(parts[0].options.size() == 8);
  CHECK(parts[0].program == words{"./solve", "-np", "7"});
  CHECK(options_of(parts[0], mpi::openmpi).size() == 4);
  CHECK(ranks_asked_for(parts, mpi::openmpi) == 4);
}

TEST_CASE("words: each launcher has options of its own") {
  const words preloads{"-s", "all", "./solve"};
  CHECK(read(preloads, mpi::mpich)[0].program == words{"./solve"});
  CHECK(read(preloads, mpi::openmpi)[0].program == words{"all", "./solve"});
  CHECK(read({"-genv", "A", "1", "./solve"}, mpi::mpich)[0].program == words{"./solve"});
  CHECK(read({"-x", "A=1", "./solve"}, mpi::openmpi)[0].program == words{"./solve"});
}

TEST_CASE("words: colons part programs, whose ranks are summed") {
  auto parts = read({"-n", "2", "./a", "1", ":", "-n", "3", "./b"});
  REQUIRE(parts.size() == 2);
  CHECK(parts[0].program == words{"./a", "1"});
  CHECK(parts[1].program == words{"./b"});
  CHECK(ranks_asked_for(parts, mpi::openmpi) == 5);
}

TEST_CASE("words: nobody knows the ranks where the launcher chooses, or of which host they are") {
  auto unsaid = read({"./a"});
  CHECK_FALSE(ranks_asked_for(unsaid, mpi::openmpi).has_value());
  auto half = read({"-n", "2", "./a", ":", "./b"});
  CHECK_FALSE(ranks_asked_for(half, mpi::openmpi).has_value());
  auto elsewhere = read({"-n", "2", "-host", "far", "./a"});
  CHECK_FALSE(ranks_asked_for(elsewhere, mpi::openmpi).has_value());
}

TEST_CASE("words: what is not all there is read as far as it goes") {
  CHECK(read({})[0].program.empty());
  auto cut = read({"--mca", "btl"});
  CHECK(cut[0].program.empty());
  CHECK(options_of(cut[0], mpi::openmpi)[0].arguments.size() == 1);
  CHECK(read({"-n", "1", "./a", ":"}).size() == 2);
}

TEST_CASE("words: the folder") {
  auto parts = read({"-n", "1", "--wdir", "/there", "a", ":", "b"});
  CHECK(folder_of(parts[0], mpi::openmpi) == "/there");
  CHECK(folder_of(parts[1], mpi::openmpi) == ".");
}

words preloaded(const words& all, mpi as, bool is_first = true) {
  part one = read(all, as)[0];
  preload(one, "/m.so", as, is_first);
  return one.options;
}

TEST_CASE("words: the library comes behind what is preloaded already") {
  ::unsetenv("LD_PRELOAD");
  CHECK(preloaded({"-n", "1", "a"}, mpi::openmpi) == words{"-n", "1", "-x", "LD_PRELOAD=/m.so"});
  CHECK(preloaded({"-n", "1", "a"}, mpi::mpich) ==
        words{"-n", "1", "-genv", "LD_PRELOAD", "/m.so"});
  CHECK(preloaded({"-x", "LD_PRELOAD=/p.so", "a"}, mpi::openmpi) ==
        words{"-x", "LD_PRELOAD=/p.so:/m.so"});
  CHECK(preloaded({"-genv", "LD_PRELOAD", "/p.so", "a"}, mpi::mpich) ==
        words{"-genv", "LD_PRELOAD", "/p.so:/m.so"});
  ::setenv("LD_PRELOAD", "libm.so.6", 1);
  CHECK(preloaded({"a"}, mpi::openmpi) == words{"-x", "LD_PRELOAD=libm.so.6:/m.so"});
  CHECK(preloaded({"-x", "LD_PRELOAD", "a"}, mpi::openmpi) ==
        words{"-x", "LD_PRELOAD=libm.so.6:/m.so"});
  ::unsetenv("LD_PRELOAD");
}

TEST_CASE("words: Hydra is told once for all parts, Open MPI for each") {
  ::unsetenv("LD_PRELOAD");
  CHECK(preloaded({"a"}, mpi::mpich, false).empty());
  CHECK(preloaded({"-env", "LD_PRELOAD", "/p.so", "a"}, mpi::mpich, false) ==
        words{"-env", "LD_PRELOAD", "/p.so:/m.so"});
  CHECK(preloaded({"a"}, mpi::openmpi, false) == words{"-x", "LD_PRELOAD=/m.so"});
}

}  // namespace
}  // namespace muster::mpirun
