! Regions, marks and counters of a program in Fortran.
program regions_fortran
    use, intrinsic :: iso_fortran_env, only: int64
    use mpi
    use hdregion
    implicit none
    type(hd_region), save :: solve = hd_region('solve')
    type(hd_region), save :: smooth = hd_region('smooth', group='solver')
    type(hd_counter), save :: residual = hd_counter('residual', group='solver', unit='1', upper=1, meaning=hd_of_thread + hd_rate)
    type(hd_counter), save :: cells = hd_counter('cells', is_integer=.true.)
    integer :: error, state

    call hdr_begin('too early', error)
    print '(a, i0)', 'early: ', error
    call MPI_Init(error)
    state = hdr_state()
    call hdr_begin(solve)
    call hdr_begin(smooth)
    call hdr_count(residual, 0.25d0)
    call hdr_count(residual, 0.5)
    call hdr_count(cells, 3)
    call hdr_count(cells, -4000000000_int64)
    call MPI_Barrier(MPI_COMM_WORLD, error)
    call hdr_mark('converged', 'after one step')
    call hdr_mark(smooth)
    call hdr_end(smooth)
    call hdr_end()
    call hdr_begin('by name')
    call hdr_end('by name')
    call hdr_pause()
    call hdr_mark('nobody sees this')
    call hdr_resume()
    call hdr_flush()
    call hdr_end(solve, error)
    print '(a, i0)', 'not open: ', error
    call hdr_begin(repeat('n', 256), error)
    print '(a, i0)', 'long: ', error
    call hdr_count(cells, 1d0, error)
    print '(a, i0)', 'type: ', error
    if (state /= hd_untraced .and. state /= hd_recording) error stop 1
    call MPI_Finalize(error)
end program
