// The job that this process belongs to: what the MPI launcher (mpirun, mpiexec, srun) tells before MPI is
// initialised.
#pragma once

namespace hdtrace::mpi {

/// True in one process of a run, as far as it is known.
bool is_first_rank();

/// The rank of this process in its world, and the number of processes there: 0 and 1 without a launcher.
/// False if the launcher does not tell both.
bool find_place_in_world(int& rank, int& size);

/// How many processes mpirun or mpiexec has started together with this one, as it says; 0 if it does not. A
/// batch system tells that also those that a job starts alone.
int processes_of_launcher();
/// True in the first one of these.
bool is_first_of_launcher();

/// True in one process of each program of a run (mpirun ./a : ./b), the one with rank 0 among them, if the
/// launcher tells which that is (Open MPI); else only in that with rank 0.
bool is_first_of_program(int rank);

/// True in one process on each host, or in all if the launcher does not tell which process that is.
bool is_first_on_host();

/// Whether the launcher looks for a program without a path in the working directory, too, behind PATH: Open
/// MPI and Slurm, in its steps.
bool launcher_looks_in_working_directory();

/// PMIx's name of what was started together: a run, or what a process has spawned. Null without PMIx.
const char* pmix_namespace();

/// Tells this run from all others of a batch system: "<job>.<run>", e.g. Slurm's "4711.0" for the first step
/// of a job; empty outside of jobs. Valid until the next call; one thread at a time.
const char* name_in_batch_system();

/// Equal in all processes of a run, different in runs that live at the same time; empty if the launcher tells
/// no such name. PMIx (Open MPI and others): the namespace. Hydra (MPICH and others): where mpiexec listens.
/// Slurm without PMIx: the job and its step. Valid until the next call; one thread at a time.
const char* name_of_run();

/// The same for file names, and equal in all worlds of a run, those of processes that it has spawned among
/// them. Empty if the launcher tells no name. Valid until the next call; one thread at a time.
const char* short_name_of_launch();

} // namespace hdtrace::mpi
