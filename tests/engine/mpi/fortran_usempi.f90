! Through 'use mpi'.
subroutine check_usempi(right)
  use mpi
  implicit none
  integer :: request, status(MPI_STATUS_SIZE)
  include 'fortran_checks.inc'
end subroutine
