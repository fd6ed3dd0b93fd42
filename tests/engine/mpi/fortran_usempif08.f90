! Through 'use mpi_f08'.
subroutine check_usempif08(right)
  use mpi_f08
  implicit none
  logical, intent(out) :: right
  integer, parameter :: count = 5
  integer, allocatable, asynchronous :: sent(:), received(:)
  integer :: rank, ranks, from, i, code, total(2), word
  type(MPI_Request) :: request
  type(MPI_Status) :: status

  call MPI_Comm_rank(MPI_COMM_WORLD, rank, code)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, code)
  right = .true.
  allocate(sent(count * ranks), received(count * ranks))
  do i = 1, count * ranks
    sent(i) = 1000 * rank + i
  end do

  received = -1
  call MPI_Alltoall(sent, count, MPI_INTEGER, received, count, MPI_INTEGER, MPI_COMM_WORLD, code)
  call check_received()

  received = -1
  call MPI_Ialltoall(sent, count, MPI_INTEGER, received, count, MPI_INTEGER, MPI_COMM_WORLD, &
                     request, code)
  call MPI_Wait(request, status, code)
  call check_received()

  total = (/ 1, rank /)
  call MPI_Allreduce(MPI_IN_PLACE, total, 2, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, code)
  if (total(1) /= ranks .or. total(2) /= ranks * (ranks - 1) / 2) right = .false.

  word = merge(77, 0, rank == ranks - 1)
  call MPI_Bcast(word, 1, MPI_INTEGER, ranks - 1, MPI_COMM_WORLD, code)
  if (word /= 77) right = .false.
  call MPI_Barrier(MPI_COMM_WORLD, code)

contains

  subroutine check_received()
    do from = 0, ranks - 1
      do i = 1, count
        if (received(count * from + i) /= 1000 * from + count * rank + i) right = .false.
      end do
    end do
  end subroutine
end subroutine
