! Solves a linear system on a 2 x 2 grid of processes with PDGESV and prints the residual's verdict and the solution.
program solve_scalapack
    implicit none
    integer, parameter :: n = 24, block = 4, grid = 2
    integer :: context, me, processes, row, column, rows, columns, info, i, j, pivots(n + block)
    integer :: description(9), right_description(9)
    double precision, allocatable :: matrix(:, :), right(:, :)
    double precision :: value
    integer, external :: numroc

    call blacs_pinfo(me, processes)
    call blacs_get(-1, 0, context)
    call blacs_gridinit(context, 'Row', grid, grid)
    call blacs_gridinfo(context, i, j, row, column)
    rows = numroc(n, block, row, 0, grid)
    columns = numroc(n, block, column, 0, grid)
    allocate (matrix(rows, columns), right(rows, 1))
    call descinit(description, n, n, block, block, 0, 0, context, rows, info)
    call descinit(right_description, n, 1, block, 1, 0, 0, context, rows, info)
    do i = 1, n
        do j = 1, n
            value = 1d0 / (i + j)
            if (i == j) value = value + n
            call pdelset(matrix, i, j, description, value)
        end do
        call pdelset(right, i, 1, right_description, dble(i))
    end do

    call pdgesv(n, 1, matrix, 1, 1, description, pivots, right, 1, 1, right_description, info)
    do i = 1, n
        call pdelget('All', ' ', value, right, i, 1, right_description)
        if (me == 0) print '(a, i3, f14.9)', 'x', i, value
    end do
    if (me == 0) print '(a, i0)', 'info ', info
    call blacs_gridexit(context)
    call blacs_exit(0)
end program solve_scalapack
