"""Sends and writes buffers with mpi4py: arrays, vector collectives, derived datatypes and files."""
import numpy
from mpi4py import MPI

world = MPI.COMM_WORLD
rank, size = world.rank, world.size
left, right = (rank - 1) % size, (rank + 1) % size
lines = []

mine, other = numpy.arange(100.0) + 1000 * rank, numpy.empty(100)
world.Sendrecv(mine, dest=right, recvbuf=other, source=left)
lines.append(other.sum())
persistent = [world.Send_init(mine, dest=left, tag=4), world.Recv_init(other, source=right, tag=4)]
for _ in range(3):
    MPI.Prequest.Startall(persistent)
    MPI.Request.Waitall(persistent)
for request in persistent:
    request.Free()
lines.append(other.sum())

counts = [i + 1 for i in range(size)]
gathered = numpy.empty(sum(counts), "i")
world.Allgatherv(numpy.full(rank + 1, rank, "i"), [gathered, counts])
lines.append(gathered.tolist())
total = numpy.empty(100)
world.Allreduce(mine, total, op=MPI.SUM)
lines.append(total.sum())

column = MPI.DOUBLE.Create_vector(10, 1, 10).Commit()
matrix = mine.reshape(10, 10).copy()
world.Sendrecv([matrix, 1, column], dest=right, recvbuf=[other, 10, MPI.DOUBLE], source=left)
lines.append(other[:10].tolist())

grid = world.Create_cart([2, size // 2], periods=[True, False])
row = grid.Sub([False, True])
lines.append((grid.coords, row.allreduce(rank)))

file = MPI.File.Open(world, "columns.data", MPI.MODE_CREATE | MPI.MODE_RDWR)
view = MPI.DOUBLE.Create_vector(10, 1, size).Commit()
file.Set_view(8 * rank, MPI.DOUBLE, view)
file.Write_all(mine[:10])
file.Read_at_all(0, other[:10])
lines.append(numpy.array_equal(mine[:10], other[:10]))
file.Close()
for item in (column, view):
    item.Free()
row.Free()
grid.Free()
everything = world.gather(lines, root=0)
if rank == 0:
    print(*everything, sep="\n")
