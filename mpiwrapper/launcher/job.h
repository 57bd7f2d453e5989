// The job that this process belongs to: what the MPI launcher (mpirun, mpiexec, srun) tells before MPI is
// initialised.
#pragma once

namespace hdtrace::mpi {

/// True in one process of a run, as far as it is known.
bool is_first_rank();

/// PMIx's name of what was started together: a run, or what a process has spawned. Null without PMIx.
const char* pmix_namespace();

/// Equal in all processes of a run, different in runs that live at the same time; empty if the launcher tells
/// no such name. PMIx (Open MPI and others): the namespace. Hydra (MPICH and others): where mpiexec listens.
/// Valid until the next call; one thread at a time.
const char* name_of_run();

} // namespace hdtrace::mpi
