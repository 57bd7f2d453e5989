C     An old program: functions that MPI 3 removed, which the bindings of Fortran still reach.
      program removed
      implicit none
      include 'mpif.h'
      integer error, rank, size, numbers(2), lengths(2), places(2)
      integer members(2), pair, bytes, extent, start, first, second
      integer halves(2)
      double precision value
      equivalence (value, halves)
      common /data/ value, numbers

      call MPI_INIT(error)
      call MPI_COMM_RANK(MPI_COMM_WORLD, rank, error)
      call MPI_COMM_SIZE(MPI_COMM_WORLD, size, error)
      value = 0.5d0
      call MPI_ADDRESS(halves, start, error)
      call MPI_ADDRESS(halves, first, error)
      call MPI_ADDRESS(numbers, second, error)
      lengths(1) = 1
      lengths(2) = 2
      places(1) = first - start
      places(2) = second - start
      members(1) = MPI_DOUBLE_PRECISION
      members(2) = MPI_INTEGER
      call MPI_TYPE_STRUCT(2, lengths, places, members, pair, error)
      call MPI_TYPE_COMMIT(pair, error)
      call MPI_TYPE_EXTENT(pair, extent, error)
      call MPI_TYPE_SIZE(pair, bytes, error)
      numbers(1) = 1
      numbers(2) = 2
      call MPI_BCAST(halves, 1, pair, 0, MPI_COMM_WORLD, error)
      call MPI_TYPE_FREE(pair, error)
      if (rank .eq. 0) print *, 'size', bytes, 'extent', extent
      call MPI_FINALIZE(error)
      end
