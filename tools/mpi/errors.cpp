#include "tools/mpi/errors.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <new>

namespace muster::mpi {
namespace {

bool ends_some_ranks([[maybe_unused]] MPI_Errhandler handler) noexcept {
#if defined(MPI_ERRORS_ABORT)
  return handler == MPI_ERRORS_ABORT;
#else
  return false;
#endif
}

}  // namespace

int class_of(errc code) noexcept {
  switch (code) {
    case errc::invalid_argument:
      return MPI_ERR_ARG;
    case errc::resource:
      return MPI_ERR_NO_MEM;
    case errc::bootstrap:
      return MPI_ERR_INTERN;
    case errc::mismatched_call:
    case errc::rank_died:
    case errc::rank_left:
    case errc::stopped:
    case errc::deadline_exceeded:
      return MPI_ERR_OTHER;
  }
  return MPI_ERR_UNKNOWN;
}

failure failure_of(const std::exception_ptr& thrown, const char* function) {
  const std::string call = std::string(function) + ": ";
  try {
    std::rethrow_exception(thrown);
  } catch (const rejected& why) {
    return {why.error_class, why.what()};
  } catch (const error& why) {
    return {class_of(static_cast<errc>(why.code().value())), call + why.text()};
  } catch (const std::bad_alloc&) {
    return {MPI_ERR_NO_MEM, call + "no memory for the operation"};
  } catch (const std::exception& why) {
    return {MPI_ERR_OTHER, call + why.what()};
  } catch (...) {
    return {MPI_ERR_UNKNOWN, call + "an exception of unknown type"};
  }
}

int error_codes::code_for(int of_class, const std::string& text) {
  entry& one = all_.at(static_cast<std::size_t>(of_class));
  if (one.code == 0) PMPI_Add_error_code(of_class, &one.code);
  one.text = text.substr(0, MPI_MAX_ERROR_STRING - 1);
  PMPI_Add_error_string(one.code, one.text.c_str());
  return one.code;
}

const std::string* error_codes::text_of(int code) const noexcept {
  const auto at = std::ranges::find(all_, code, &entry::code);
  return code == 0 || at == all_.end() ? nullptr : &at->text;
}

void end_program(const std::string& why, int status) {
  std::fprintf(stderr, "muster: %s\n", why.c_str());
  // MPICH's launcher forgets what it has not passed on when it is told to end the program.
  constexpr unsigned long_enough_us = 200'000;
  ::usleep(long_enough_us);
  PMPI_Abort(MPI_COMM_WORLD, status);
  std::abort();
}

int handle(MPI_Comm of, int code, const std::string& text) {
  if (of == MPI_COMM_NULL) of = MPI_COMM_WORLD;
  MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
  PMPI_Comm_get_errhandler(of, &handler);
  if (handler == MPI_ERRORS_ARE_FATAL) {
    // In its own way MPICH leaves ranks of other hosts alone that are in its calls.
    int of_class = MPI_ERR_OTHER;
    PMPI_Error_class(code, &of_class);
    end_program(text, of_class);
  }
  if (ends_some_ranks(handler)) std::fprintf(stderr, "muster: %s\n", text.c_str());
  PMPI_Errhandler_free(&handler);
  PMPI_Comm_call_errhandler(of, code);
  return code;
}

}  // namespace muster::mpi
