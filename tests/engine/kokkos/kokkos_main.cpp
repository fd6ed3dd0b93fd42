// main() of doctest programs that use Kokkos.

#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>
#include <Kokkos_Core.hpp>

#include <cstdlib>

int main(int argc, char** argv) {
  const Kokkos::ScopeGuard kokkos(argc, argv);
  doctest::Context context;
  // `bazel test --test_filter=PATTERN` picks test cases.
  if (const char* filter = std::getenv("TESTBRIDGE_TEST_ONLY"))
    context.addFilter("test-case", filter);
  context.applyCommandLine(argc, argv);
  return context.run();
}
