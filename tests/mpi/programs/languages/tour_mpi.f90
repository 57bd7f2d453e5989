! The tour with `use mpi`.
program tour
    use mpi
    implicit none
    integer :: error, rank, size, mine, from_left, all(0:63), column(6)
    integer :: request
    integer :: copy
    integer :: vector
    integer :: file

    call MPI_Init(error)
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
    call MPI_Comm_size(MPI_COMM_WORLD, size, error)
    mine = rank
    column = 0
    call MPI_Irecv(from_left, 1, MPI_INTEGER, modulo(rank - 1, size), 7, MPI_COMM_WORLD, request, error)
    call MPI_Send(mine, 1, MPI_INTEGER, modulo(rank + 1, size), 7, MPI_COMM_WORLD, error)
    call MPI_Wait(request, MPI_STATUS_IGNORE, error)
    call MPI_Bcast(mine, 1, MPI_INTEGER, 0, MPI_COMM_WORLD, error)
    all = rank
    call MPI_Allreduce(MPI_IN_PLACE, all, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, error)
    call MPI_Gather(rank, 1, MPI_INTEGER, all, 1, MPI_INTEGER, 0, MPI_COMM_WORLD, error)
    call MPI_Comm_dup(MPI_COMM_WORLD, copy, error)
    call MPI_Type_vector(3, 1, 2, MPI_INTEGER, vector, error)
    call MPI_Type_commit(vector, error)
    call MPI_Sendrecv_replace(column, 1, vector, modulo(rank + 1, size), 8, MPI_ANY_SOURCE, MPI_ANY_TAG, &
                              copy, MPI_STATUS_IGNORE, error)
    call MPI_Send(mine, 1, MPI_INTEGER, MPI_PROC_NULL, 9, copy, error)
    call MPI_Type_free(vector, error)
    call MPI_File_open(copy, 'tour.data', MPI_MODE_CREATE + MPI_MODE_RDWR, MPI_INFO_NULL, file, error)
    call MPI_File_write_at(file, int(rank, MPI_OFFSET_KIND) * 4, rank, 1, MPI_INTEGER, MPI_STATUS_IGNORE, error)
    call MPI_File_close(file, error)
    call MPI_Comm_free(copy, error)
    if (rank == 0) print '(a, i0, a, i0)', 'last rank ', all(size - 1), ', from the left ', from_left
    call MPI_Finalize(error)
end program tour
