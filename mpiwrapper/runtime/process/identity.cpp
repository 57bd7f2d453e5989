#include "mpiwrapper/runtime/process/identity.h"

#include "hdtrace/writer/clock.h"
#include "hdtrace/writer/file_name.h"
#include "hdtrace/writer/own_memory.h"
#include "mpiwrapper/launcher/job.h"
#include "mpiwrapper/runtime/library/real.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

namespace hdtrace::mpi {

namespace {

constinit Identity identity;
int64_t second = 0;

// That of a world within its launch; -1 if its namespace tells none. Open MPI 4 has both in one number, later
// ones LAUNCH@NUMBER.
int64_t number_of_world(const char* job)
{
    const char* const behind = strrchr(job, '@');
    const char* const digits = behind != nullptr ? behind + 1 : job;
    char* end = nullptr;
    const unsigned long number = strtoul(digits, &end, 10);
    if (end == digits || *end != '\0')
        return -1;
    return static_cast<int64_t>(behind != nullptr ? number : number & 0xFFFF);
}

void find_world_of_spawned()
{
    MPI_Comm parent = MPI_COMM_NULL;
    real.MPI_Comm_get_parent(&parent);
    if (parent == MPI_COMM_NULL)
        return;
    const char* const job = pmix_namespace();
    const int64_t number = job != nullptr ? number_of_world(job) : -1;
    TextBuffer name;
    name.text("W");
    if (job == nullptr)
        name.text("spawned");
    else if (number >= 0)
        name.number(number);
    else
        append_file_label(name, job);
    const char* const copy = own_strdup(name.c_string());
    identity.world_uid = copy != nullptr ? copy : "Wspawned";
    identity.world_label = identity.world_uid + 1;
}

void find_host()
{
    if (gethostname(identity.host, sizeof identity.host) != 0 || *identity.host == '\0')
        strcpy(identity.host, "localhost");
    identity.host[sizeof identity.host - 1] = '\0';
}

} // namespace

void find_identity(MPI_Group world, bool has_world_communicator)
{
    find_host();
    real.MPI_Group_rank(world, &identity.rank);
    real.MPI_Group_size(world, &identity.size);
    if (has_world_communicator)
        find_world_of_spawned();
}

bool find_identity_by_launcher()
{
    find_host();
    return find_place_in_world(identity.rank, identity.size);
}

const Identity& this_process()
{
    return identity;
}

bool is_alone_beside_others()
{
    return identity.size == 1 && *identity.world_label == '\0' && processes_of_launcher() > 1;
}

void start_time()
{
    second = Clock().now() / nanoseconds_per_second;
}

bool has_start_time()
{
    return second != 0;
}

int64_t time_base()
{
    return second * nanoseconds_per_second;
}

int64_t base_second()
{
    return second;
}

} // namespace hdtrace::mpi
