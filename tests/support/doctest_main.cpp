// main() of every doctest program.

#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include <cstdlib>

int main(int argc, char** argv) {
  doctest::Context context;
  // `bazel test --test_filter=PATTERN` picks test cases.
  if (const char* filter = std::getenv("TESTBRIDGE_TEST_ONLY"))
    context.addFilter("test-case", filter);
  context.applyCommandLine(argc, argv);
  return context.run();
}
