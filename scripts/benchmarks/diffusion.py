"""Heat spreads over a square, in Python with mpi4py: diffusion.py POINTS STEPS

Each process has some of the POINTS rows. In each step neighbours exchange rows as buffers and all sum up how much has changed; now and
then the processes tell each other as Python objects how far they are.
"""
import sys

import numpy
from mpi4py import MPI

STEPS_BETWEEN_OBJECTS = 10

points, steps = map(int, sys.argv[1:])
world = MPI.COMM_WORLD
above = world.rank - 1 if world.rank > 0 else MPI.PROC_NULL
below = world.rank + 1 if world.rank + 1 < world.size else MPI.PROC_NULL
mine = numpy.zeros((points // world.size + 2, points))  # with a row of each neighbour
if world.rank == 0:
    mine[0] = 1  # the hot border
changed, changed_in_all = numpy.empty(1), numpy.empty(1)

begin = MPI.Wtime()
for step in range(steps):
    world.Sendrecv(mine[1], dest=above, recvbuf=mine[-1], source=below)
    world.Sendrecv(mine[-2], dest=below, recvbuf=mine[0], source=above)
    inner = mine[1:-1, 1:-1]
    change = (mine[:-2, 1:-1] + mine[2:, 1:-1] + mine[1:-1, :-2] + mine[1:-1, 2:]) / 4 - inner
    inner += change
    changed[0] = numpy.abs(change).sum()
    world.Allreduce(changed, changed_in_all)
    if step % STEPS_BETWEEN_OBJECTS == 0:
        requests = [world.isend({"step": step, "changed": changed[0]}, dest=peer) for peer in (above, below)]
        told = [world.recv(source=peer) for peer in (above, below)]
        MPI.Request.waitall(requests)
        world.bcast({"step": step, "changed": changed_in_all[0]})
if world.rank == 0:
    print(f"loop {MPI.Wtime() - begin:.6f} seconds")
