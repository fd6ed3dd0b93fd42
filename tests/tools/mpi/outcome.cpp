#include "tests/tools/mpi/outcome.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>

namespace muster::testing {
namespace {

std::string in_lower_case(std::string_view text) {
  std::string lower(text);
  std::ranges::transform(lower, lower.begin(),
                         [](unsigned char one) { return static_cast<char>(std::tolower(one)); });
  return lower;
}

void keep_error(MPI_Comm*, int* code, ...) { told() = outcome_of(*code); }

}  // namespace

bool outcome::says(std::string_view what) const {
  return in_lower_case(text).find(in_lower_case(what)) != std::string::npos;
}

outcome outcome_of(int code) {
  outcome of;
  MPI_Error_class(code, &of.error_class);
  std::array<char, MPI_MAX_ERROR_STRING> text{};
  int length = 0;
  MPI_Error_string(code, text.data(), &length);
  of.text.assign(text.data(), static_cast<std::size_t>(length));
  return of;
}

void keep_errors(MPI_Comm of) {
  MPI_Errhandler keeping = MPI_ERRHANDLER_NULL;
  MPI_Comm_create_errhandler(keep_error, &keeping);
  MPI_Comm_set_errhandler(of, keeping);
  MPI_Errhandler_free(&keeping);
}

outcome& told() {
  static outcome last;
  return last;
}

}  // namespace muster::testing
