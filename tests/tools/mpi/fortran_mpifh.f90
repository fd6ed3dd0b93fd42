! Through mpif.h.
subroutine check_mpifh(right)
  implicit none
  include 'mpif.h'
  integer :: request, status(MPI_STATUS_SIZE), ring
  include 'fortran_checks.inc'
end subroutine
