#include "tools/command/shared/algorithms.hpp"

#include <doctest/doctest.h>

#include <stdexcept>

#include "algos/catalog.hpp"
#include "tests/support/says.hpp"

namespace muster::bench {
namespace {

using testing::says;

using texts = std::vector<std::string>;

std::string complaint(const texts& asked, const std::vector<collective>& whats) {
  try {
    require_algorithms(algos::catalog(), asked, whats);
  } catch (const std::runtime_error& why) {
    return why.what();
  }
  return "";
}

TEST_CASE("algorithms: a list, where options belong to the id before them") {
  CHECK(parse_algorithms("pairwise") == texts{"pairwise"});
  CHECK(parse_algorithms("pairwise,auto") == texts{"pairwise", "auto"});
  CHECK(parse_algorithms("bruck:ports=2,groups=2") == texts{"bruck:ports=2,groups=2"});
  CHECK(parse_algorithms("a:ports=2,groups=2,b,c:groups=3,d") ==
        texts{"a:ports=2,groups=2", "b", "c:groups=3", "d"});
  CHECK(parse_algorithms("bruck,ports=2") == texts{"bruck:ports=2"});
  CHECK(parse_algorithms("bruck:ports=2,bruck:ports=4") == texts{"bruck:ports=2", "bruck:ports=4"});
}

TEST_CASE("algorithms: each once, in the order given") {
  CHECK(parse_algorithms("b,a,b") == texts{"b", "a"});
}

TEST_CASE("algorithms: what is no list") {
  for (const char* text : {"", ",", "a,", ",a", "a,,b", "ports=2", "ports=2,a"}) {
    CAPTURE(text);
    CHECK_THROWS_AS(parse_algorithms(text), std::invalid_argument);
  }
}

TEST_CASE("algorithms: a collective has some of those asked for, and auto always") {
  const texts asked{"pairwise", "auto", "ring", "pairwise:ports=2"};
  CHECK(algorithms_of(algos::catalog(), collective::alltoall, asked) ==
        texts{"pairwise", "auto", "pairwise:ports=2"});
  CHECK(algorithms_of(algos::catalog(), collective::barrier, asked) == texts{"auto"});
}

TEST_CASE("algorithms: one that no collective has is refused, naming those there are") {
  const std::vector<collective> one{collective::alltoall};
  const std::vector<collective> two{collective::alltoall, collective::barrier};
  CHECK(complaint({"auto", "pairwise"}, two) == "");
  CHECK(says(complaint({"srm"}, one),
             "--algorithms: 'srm' is not an algorithm of alltoall; there are: alone, flat, "));
  CHECK(says(complaint({"srm"}, one), ", auto"));
  const std::string of_both = complaint({"pairwise", "ring"}, two);
  CHECK(says(of_both, "'ring' is not an algorithm of alltoall, barrier; there are:\n"));
  CHECK(says(of_both, "\n  of alltoall: alone, flat, "));
  CHECK(says(of_both, "\n  of barrier: "));
  CHECK(complaint({"auto:ports=2"}, one) != "");
}

TEST_CASE("algorithms: an option that it does not have is refused") {
  CHECK(says(complaint({"pairwise:colour=2"}, {collective::alltoall}),
             "--algorithms: algorithm 'pairwise' for alltoall has no option 'colour=2'"));
}

}  // namespace
}  // namespace muster::bench
