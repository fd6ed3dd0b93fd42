#include "engine/mpi/errors.hpp"

#include <new>

namespace muster::mpi {

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
  } catch (const error& why) {
    return {class_of(static_cast<errc>(why.code().value())), call + why.text()};
  } catch (const std::bad_alloc&) {
    return {MPI_ERR_NO_MEM, call + "no memory for the operation"};
  } catch (const std::exception& why) {
    return {MPI_ERR_OTHER, call + why.what()};
  }
}

int error_codes::code_for(int of_class, const std::string& text) {
  int& code = codes_.at(static_cast<std::size_t>(of_class));
  if (code == 0) PMPI_Add_error_code(of_class, &code);
  const std::string fitting = text.substr(0, MPI_MAX_ERROR_STRING - 1);
  PMPI_Add_error_string(code, fitting.c_str());
  return code;
}

int handle(MPI_Comm of, int code) {
  PMPI_Comm_call_errhandler(of, code);
  return code;
}

}  // namespace muster::mpi
