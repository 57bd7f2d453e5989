#include "mpiwrapper/launcher/job.h"

#include "mpiwrapper/launcher/small_file.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

namespace hdtrace::mpi {

namespace {

constexpr const char* rank_variables[] = {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "SLURM_PROCID"};
constexpr const char* size_variables[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_NTASKS"};
constexpr const char* local_rank_variables[] = {"OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID",
                                                "SLURM_LOCALID"};
constexpr const char* batch_job_variables[] = {"SLURM_JOB_ID", "PBS_JOBID", "LSB_JOBID", "FLUX_JOB_ID"};

// The value of the first of these that is set; null if none is.
template <size_t Size> const char* first_in_environment(const char* const (&variables)[Size])
{
    for (const char* const variable : variables) {
        if (const char* const value = getenv(variable))
            return value;
    }
    return nullptr;
}

// Of Hydra's process on this host, which made the socket that we have from it; 0 if there is none. Not our
// parent: that may be a shell.
pid_t hydra_proxy()
{
    const char* const descriptor = getenv("PMI_FD");
    ucred proxy = {};
    socklen_t size = sizeof proxy;
    if (descriptor == nullptr || getsockopt(atoi(descriptor), SOL_SOCKET, SO_PEERCRED, &proxy, &size) != 0)
        return 0;
    return proxy.pid;
}

// The argument behind that one in a command line as /proc has it; empty if there is none.
const char* argument_behind(const char* option, const char* arguments, size_t length)
{
    const char* const end = arguments + length;
    for (const char* argument = arguments; argument < end; argument += strlen(argument) + 1) {
        if (strcmp(argument, option) == 0 && argument + strlen(option) + 1 < end)
            return argument + strlen(option) + 1;
    }
    return "";
}

// The host and port of mpiexec, which all its proxies are told.
const char* hydra_control_port()
{
    static char arguments[4096];
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/cmdline", static_cast<int>(hydra_proxy()));
    return argument_behind("--control-port", arguments, read_begin(path, arguments));
}

} // namespace

bool is_first_rank()
{
    const char* const rank = first_in_environment(rank_variables);
    return rank == nullptr || strcmp(rank, "0") == 0;
}

bool find_place_in_world(int& rank, int& size)
{
    const char* const own = first_in_environment(rank_variables);
    const char* const all = first_in_environment(size_variables);
    rank = own != nullptr ? atoi(own) : 0;
    size = own == nullptr ? 1 : all != nullptr ? atoi(all) : 0;
    return rank >= 0 && rank < size;
}

int processes_of_launcher()
{
    constexpr const char* variables[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE"};
    const char* const size = first_in_environment(variables);
    return size != nullptr ? atoi(size) : 0;
}

bool is_first_of_launcher()
{
    constexpr const char* variables[] = {"OMPI_COMM_WORLD_RANK", "PMI_RANK"};
    const char* const rank = first_in_environment(variables);
    return rank != nullptr && strcmp(rank, "0") == 0;
}

// OMPI_FIRST_RANKS would tell, but Open MPI 4.1 has zeros there.
bool is_first_of_program(int rank)
{
    const char* sizes = getenv("OMPI_APP_CTX_NUM_PROCS");
    int64_t first = 0;
    while (first < rank && sizes != nullptr && *sizes != '\0') {
        char* end = nullptr;
        first += strtol(sizes, &end, 10);
        sizes = end != sizes ? end : nullptr;
    }
    return first == rank;
}

bool is_first_on_host()
{
    const char* const rank = first_in_environment(local_rank_variables);
    return rank == nullptr || strcmp(rank, "0") == 0;
}

// Not SLURM_PROCID: the script of a batch job has it, too.
bool launcher_looks_in_working_directory()
{
    return getenv("OMPI_COMM_WORLD_RANK") != nullptr || getenv("SLURM_STEP_ID") != nullptr;
}

const char* pmix_namespace()
{
    return getenv("PMIX_NAMESPACE");
}

// Only PMIx's name is the same everywhere if mpirun starts some processes itself and others by the batch
// system.
const char* name_in_batch_system()
{
    static constexpr char from_slurm[] = "slurm.pmix."; // with job and step behind it
    static char name[256];
    const char* const job = first_in_environment(batch_job_variables);
    const char* run = pmix_namespace();
    if (job == nullptr)
        return "";
    if (run != nullptr && strncmp(run, from_slurm, strlen(from_slurm)) == 0)
        return run + strlen(from_slurm);
    if (run == nullptr)
        run = getenv("SLURM_STEP_ID");
    snprintf(name, sizeof name, "%s%s%s", job, run != nullptr ? "." : "", run != nullptr ? run : "");
    return name;
}

// Open MPI 4: the number of a world, with that of the launch in its upper bits. Later ones: LAUNCH@WORLD.
// Hydra: HOST:PORT.
const char* short_name_of_launch()
{
    constexpr unsigned long worlds = 1ul << 16;
    static char name[256];
    const char* const run = name_of_run();
    char* end = nullptr;
    const unsigned long number = strtoul(run, &end, 10);
    if (*run == '\0')
        return "";
    if (*end == '\0')
        snprintf(name, sizeof name, "%lu", number / worlds);
    else if (const char* const port = strrchr(run, ':'))
        snprintf(name, sizeof name, "%s", port + 1);
    else
        snprintf(name, sizeof name, "%.*s", static_cast<int>(strcspn(run, "@")), run);
    return name;
}

const char* name_of_run()
{
    const char* const name = pmix_namespace();
    if (name != nullptr)
        return name;
    const char* const port = hydra_control_port();
    return *port != '\0' ? port : name_in_batch_system();
}

} // namespace hdtrace::mpi
