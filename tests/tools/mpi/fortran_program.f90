! Collectives from Fortran, through each of its interfaces to MPI. Prints what is wrong.
program fortran_program
  use mpi
  implicit none
  logical :: right
  integer :: code, wrong

  call MPI_Init(code)
  wrong = 0
  call check_mpifh(right)
  call note('mpif.h')
  call check_usempi(right)
  call note('use mpi')
  call check_usempif08(right)
  call note('use mpi_f08')
  call MPI_Finalize(code)
  if (wrong /= 0) stop 1

contains

  subroutine note(name)
    character(len=*), intent(in) :: name
    if (right) return
    print *, name, ': wrong data'
    wrong = wrong + 1
  end subroutine
end program
