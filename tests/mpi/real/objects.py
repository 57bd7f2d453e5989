"""Sends pickled objects in every way that mpi4py has."""
from mpi4py import MPI

world = MPI.COMM_WORLD
rank, size = world.rank, world.size
left, right = (rank - 1) % size, (rank + 1) % size
record = {"rank": rank, "list": list(range(10 * (rank + 1))), "text": "ä" * rank, "nothing": None}
lines = []

if rank % 2 == 0:
    world.send(record, dest=right, tag=1)
    got = world.recv(source=left, tag=1)
else:
    got = world.recv(source=MPI.ANY_SOURCE, tag=MPI.ANY_TAG)
    world.send(record, dest=right, tag=1)
lines.append(got)
requests = [world.isend((rank, "isend"), dest=right, tag=2), world.irecv(source=left, tag=2)]
lines.append(MPI.Request.waitall(requests)[1])
message = world.sendrecv([rank] * 3, dest=right, source=left)
lines.append(message)
lines.append(world.bcast({"from": rank} if rank == 0 else None, root=0))
lines.append(world.scatter([("part", i, "x" * i) for i in range(size)] if rank == 1 else None, root=1))
lines.append(world.gather(set(range(rank)), root=2))
lines.append(world.allgather("abc"[:rank]))
lines.append(world.alltoall([(rank, i) for i in range(size)]))
lines.append(world.reduce(rank, op=MPI.MAX, root=0))
lines.append(world.allreduce([rank], op=MPI.SUM))
lines.append(world.scan(rank + 1))
world.send({"probed": rank}, dest=right, tag=3)
lines.append(world.mprobe(source=left, tag=3).recv())
everything = world.gather(lines, root=0)
if rank == 0:
    print(*everything, sep="\n")
