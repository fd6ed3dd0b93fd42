#pragma once

#include <mpi.h>

#include <array>
#include <exception>
#include <stdexcept>
#include <string>

#include <muster/base/error.hpp>

namespace muster::mpi {

/// The class of MPI's that says most nearly what a failure of Muster's is.
int class_of(errc code) noexcept;

/// An argument is wrong: the class of MPI's error, and a text that names the call, the argument and
/// what was expected.
struct rejected : std::runtime_error {
  rejected(int of_class, const std::string& text)
      : std::runtime_error(text), error_class(of_class) {}
  int error_class;
};

/// What went wrong with a call.
struct failure {
  int error_class;
  std::string text;
};

/// \param thrown   by an operation of Muster's
/// \param function the program's call
failure failure_of(const std::exception_ptr& thrown, const char* function);

/// Makes codes of MPI's classes whose text is Muster's.
class error_codes {
public:
  /// A code of a class, with this text until the next one of it.
  int code_for(int of_class, const std::string& text);
  /// The text of one of these codes; null for others.
  const std::string* text_of(int code) const noexcept;

private:
  struct entry {
    int code = 0;  ///< 0: none yet
    std::string text;
  };
  std::array<entry, 64> all_;  // by class
};

/// Ends the program, all its ranks, and says why: as `MPI_Abort` with a status.
[[noreturn]] void end_program(const std::string& why, int status);

/// Hands an error to the communicator's handler, or to MPI_COMM_WORLD's where that has been freed
/// and is MPI_COMM_NULL; what the call is to return. Where that would end the program, this does,
/// with the error's class, and says the text: MPICH no longer knows it, and Open MPI may lose what
/// several say.
int handle(MPI_Comm of, int code, const std::string& text);

}  // namespace muster::mpi
