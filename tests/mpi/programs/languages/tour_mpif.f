C     The tour with mpif.h, in the manner of Fortran 77.
      program tour
      implicit none
      include 'mpif.h'
      integer error, rank, size, mine, left, right, fleft, i
      integer all(0:63), column(6), request, copy, vector, file
      integer(kind=MPI_OFFSET_KIND) place

      call MPI_INIT(error)
      call MPI_COMM_RANK(MPI_COMM_WORLD, rank, error)
      call MPI_COMM_SIZE(MPI_COMM_WORLD, size, error)
      mine = rank
      left = mod(rank + size - 1, size)
      right = mod(rank + 1, size)
      do 10 i = 1, 6
          column(i) = 0
   10 continue
      call MPI_IRECV(fleft, 1, MPI_INTEGER, left, 7, MPI_COMM_WORLD,
     &               request, error)
      call MPI_SEND(mine, 1, MPI_INTEGER, right, 7, MPI_COMM_WORLD,
     &              error)
      call MPI_WAIT(request, MPI_STATUS_IGNORE, error)
      call MPI_BCAST(mine, 1, MPI_INTEGER, 0, MPI_COMM_WORLD, error)
      do 20 i = 0, size - 1
          all(i) = rank
   20 continue
      call MPI_ALLREDUCE(MPI_IN_PLACE, all, 1, MPI_INTEGER, MPI_SUM,
     &                   MPI_COMM_WORLD, error)
      call MPI_GATHER(rank, 1, MPI_INTEGER, all, 1, MPI_INTEGER, 0,
     &                MPI_COMM_WORLD, error)
      call MPI_COMM_DUP(MPI_COMM_WORLD, copy, error)
      call MPI_TYPE_VECTOR(3, 1, 2, MPI_INTEGER, vector, error)
      call MPI_TYPE_COMMIT(vector, error)
      call MPI_SENDRECV_REPLACE(column, 1, vector, right, 8,
     &                          MPI_ANY_SOURCE, MPI_ANY_TAG, copy,
     &                          MPI_STATUS_IGNORE, error)
      call MPI_SEND(mine, 1, MPI_INTEGER, MPI_PROC_NULL, 9, copy,
     &              error)
      call MPI_TYPE_FREE(vector, error)
      call MPI_FILE_OPEN(copy, 'tour.data',
     &                   MPI_MODE_CREATE + MPI_MODE_RDWR,
     &                   MPI_INFO_NULL, file, error)
      place = rank * 4
      call MPI_FILE_WRITE_AT(file, place, rank, 1, MPI_INTEGER,
     &                       MPI_STATUS_IGNORE, error)
      call MPI_FILE_CLOSE(file, error)
      call MPI_COMM_FREE(copy, error)
      if (rank .eq. 0) then
          print '(a, i0, a, i0)', 'last rank ', all(size - 1),
     &          ', from the left ', fleft
      end if
      call MPI_FINALIZE(error)
      end
