! Each process exchanges a number with both neighbours, without waiting for each message: modern Fortran.
program neighbours
    use mpi_f08
    implicit none
    integer :: rank, ranks, from_left, from_right, total
    type(MPI_Request) :: requests(4)

    call MPI_Init()
    call MPI_Comm_rank(MPI_COMM_WORLD, rank)
    call MPI_Comm_size(MPI_COMM_WORLD, ranks)
    associate (left => modulo(rank - 1, ranks), right => modulo(rank + 1, ranks))
        call MPI_Irecv(from_left, 1, MPI_INTEGER, left, 1, MPI_COMM_WORLD, requests(1))
        call MPI_Irecv(from_right, 1, MPI_INTEGER, right, 2, MPI_COMM_WORLD, requests(2))
        call MPI_Isend(rank, 1, MPI_INTEGER, right, 1, MPI_COMM_WORLD, requests(3))
        call MPI_Isend(rank, 1, MPI_INTEGER, left, 2, MPI_COMM_WORLD, requests(4))
    end associate
    call MPI_Waitall(4, requests, MPI_STATUSES_IGNORE)
    call MPI_Reduce(from_left + from_right, total, 1, MPI_INTEGER, MPI_SUM, 0, MPI_COMM_WORLD)
    if (rank == 0) print '(a, i0)', 'Twice the sum of all ranks is ', total
    call MPI_Finalize()
end program neighbours
