! Through 'use mpi'.
subroutine check_usempi(right)
  use mpi
  implicit none
  integer :: request, status(MPI_STATUS_SIZE), ring
  include 'fortran_checks.inc'
end subroutine
