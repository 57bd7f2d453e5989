! Buffers in variables of Fortran; marked like those in variables.c.
module shared
    implicit none
    integer :: numbers(8) = 0
    real(8), allocatable :: field(:, :)
end module shared

program variables
    use mpi
    use shared
    implicit none
    integer :: ierror, rank, few(4)
    real(8) :: grid(4, 4)
    real(8) :: first(3), second(3)
    complex(8) :: pair(2)
    logical :: flags(2)
    character(len=16) :: text
    common /block/ first, second

    call MPI_Init(ierror)
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
    allocate(field(8, 8))
    field = 0
    grid = 0
    few = 0
    first = 0
    second = 0
    pair = (0, 0)
    flags = .false.
    text = ' '
    call MPI_Bcast(few, 4, MPI_INTEGER, 0, MPI_COMM_WORLD, ierror)
    call MPI_Bcast(numbers, 8, MPI_INTEGER, 0, MPI_COMM_WORLD, ierror)
    call MPI_Bcast(field, 64, MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD, ierror)
    call MPI_Bcast(grid(1, 2), 12, MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD, ierror)
    call MPI_Bcast(grid(1, 2), 12, MPI_INTEGER8, 0, MPI_COMM_WORLD, ierror) ! buffer-type-mismatch
    call MPI_Bcast(first, 6, MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD, ierror)
    call MPI_Bcast(pair, 2, MPI_DOUBLE_COMPLEX, 0, MPI_COMM_WORLD, ierror)
    call MPI_Bcast(flags, 2, MPI_LOGICAL, 0, MPI_COMM_WORLD, ierror)
    call MPI_Bcast(text, 16, MPI_CHARACTER, 0, MPI_COMM_WORLD, ierror)
    call within(few, 4)
    if (rank == 0) then
        call MPI_Send(numbers(5), 8, MPI_INTEGER, 1, 0, MPI_COMM_WORLD, ierror) ! buffer-overrun
    else
        call MPI_Recv(field, 8, MPI_INTEGER, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierror)
    end if
    call MPI_Finalize(ierror)

contains
    subroutine within(values, n)
        integer, intent(in) :: n
        integer, intent(inout) :: values(n)
        integer :: twice(2 * n), one
        twice = 0
        one = 0
        call MPI_Bcast(values, n, MPI_INTEGER, 0, MPI_COMM_WORLD, ierror)
        call MPI_Bcast(twice, 2 * n, MPI_INTEGER, 0, MPI_COMM_WORLD, ierror)
        call MPI_Bcast(one, 1, MPI_REAL, 0, MPI_COMM_WORLD, ierror) ! buffer-type-mismatch
    end subroutine within
end program variables
