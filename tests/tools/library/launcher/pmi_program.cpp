// A process of a process manager that speaks PMI: hears what rank 0 says, by the version that the
// argument names.

#include <cstdio>
#include <string_view>

#include "tools/library/launcher/pmi.hpp"

int main(int argc, char** argv) {
  using namespace muster::launcher;
  const bool is_second = argc > 1 && std::string_view(argv[1]) == "2";
  const auto all = open_pmi(is_second ? pmi_version::two : pmi_version::one);
  if (!all) return 2;
  const std::string heard = all->hear_rank_0(all->rank() == 0 ? "hello" : "");
  std::printf("rank %zu of %zu heard %s\n", all->rank(), all->size(), heard.c_str());
  return 0;
}
