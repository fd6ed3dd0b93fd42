! Through 'use mpi_f08'.
subroutine check_usempif08(right)
  use mpi_f08
  implicit none
  type(MPI_Request) :: request
  type(MPI_Status) :: status
  type(MPI_Comm) :: ring
  include 'fortran_checks.inc'
end subroutine
