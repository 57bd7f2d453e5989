#include "fake_mpi.h"

#include "mpiwrapper/runtime/library/real.h"
#include "mpiwrapper/runtime/objects/communicators.h"
#include "mpiwrapper/runtime/process/info_sink.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <map>
#include <stdexcept>
#include <sys/wait.h>
#include <unistd.h>

namespace hdtrace::mpi {

RealFunctions real;

void resolve_real_functions() {}

const char* foreign_mpi_library()
{
    return nullptr;
}

} // namespace hdtrace::mpi

namespace hdtrace::test {

using mpi::handle_bits;
using mpi::real;

namespace {

struct FakeComm {
    std::vector<int> local, remote;
    std::map<int, void*> attributes;
    bool is_line = false;
};

struct Library {
    int rank = 0;
    std::map<uintptr_t, FakeComm> comms;
    std::map<uintptr_t, std::vector<int>> groups;
    std::vector<MPI_Comm_delete_attr_function*> delete_functions;
    int attributes_set = 0;
    std::filesystem::path folder;
};

Library* library = nullptr;
unsigned last_handle = 0; // of all tests: so none finds what another one left

FakeComm& comm_of(MPI_Comm handle)
{
    return library->comms.at(handle_bits(handle));
}

int rank_in(const std::vector<int>& members)
{
    return static_cast<int>(std::find(members.begin(), members.end(), library->rank) - members.begin());
}

MPI_Group make_group(const std::vector<int>& members)
{
    const MPI_Group group = handle_of<MPI_Group>(++last_handle);
    library->groups[handle_bits(group)] = members;
    return group;
}

void abort_on_others()
{
    fprintf(stderr, "the fake MPI library does not have this function\n");
    abort();
}

void fill_communicators()
{
    real.MPI_Comm_rank = [](MPI_Comm comm, int* rank) {
        return *rank = rank_in(comm_of(comm).local), MPI_SUCCESS;
    };
    real.MPI_Comm_group = [](MPI_Comm comm, MPI_Group* group) {
        return *group = make_group(comm_of(comm).local), MPI_SUCCESS;
    };
    real.MPI_Comm_remote_group = [](MPI_Comm comm, MPI_Group* group) {
        return *group = make_group(comm_of(comm).remote), MPI_SUCCESS;
    };
    real.MPI_Comm_test_inter = [](MPI_Comm comm, int* flag) {
        return *flag = !comm_of(comm).remote.empty(), MPI_SUCCESS;
    };
    real.MPI_Comm_create_keyval = [](MPI_Comm_copy_attr_function*, MPI_Comm_delete_attr_function* end,
                                     int* keyval, void*) {
        library->delete_functions.push_back(end);
        *keyval = static_cast<int>(library->delete_functions.size()) - 1;
        return MPI_SUCCESS;
    };
    real.MPI_Comm_set_attr = [](MPI_Comm comm, int keyval, void* value) {
        comm_of(comm).attributes[keyval] = value;
        ++library->attributes_set;
        return MPI_SUCCESS;
    };
}

void fill_groups()
{
    real.MPI_Group_size = [](MPI_Group group, int* size) {
        return *size = static_cast<int>(library->groups.at(handle_bits(group)).size()), MPI_SUCCESS;
    };
    real.MPI_Group_translate_ranks = [](MPI_Group from, int count, const int* ranks, MPI_Group to,
                                        int* found) {
        const std::vector<int>&members = library->groups.at(handle_bits(from)),
              &others = library->groups.at(handle_bits(to));
        for (int i = 0; i < count; ++i) {
            const auto place =
                std::find(others.begin(), others.end(), members[static_cast<size_t>(ranks[i])]);
            found[i] = place != others.end() ? static_cast<int>(place - others.begin()) : MPI_UNDEFINED;
        }
        return MPI_SUCCESS;
    };
    real.MPI_Group_free = [](MPI_Group* group) {
        library->groups.erase(handle_bits(*group));
        return *group = MPI_GROUP_NULL, MPI_SUCCESS;
    };
}

void fill_topologies()
{
    real.MPI_Topo_test = [](MPI_Comm comm, int* kind) {
        return *kind = comm_of(comm).is_line ? MPI_CART : MPI_UNDEFINED, MPI_SUCCESS;
    };
    real.MPI_Cartdim_get = [](MPI_Comm, int* dimensions) { return *dimensions = 1, MPI_SUCCESS; };
    real.MPI_Cart_shift = [](MPI_Comm comm, int, int step, int* source, int* destination) {
        const std::vector<int>& members = comm_of(comm).local;
        const auto neighbor = [&](int rank) {
            return rank >= 0 && rank < static_cast<int>(members.size()) ? rank : MPI_PROC_NULL;
        };
        *source = neighbor(rank_in(members) - step);
        *destination = neighbor(rank_in(members) + step);
        return MPI_SUCCESS;
    };
}

} // namespace

FakeMpi::FakeMpi(int rank, int size)
{
    using Function = void (*)();
    std::fill_n(reinterpret_cast<Function*>(&real), sizeof real / sizeof(Function), abort_on_others);
    fill_communicators();
    fill_groups();
    fill_topologies();

    library = new Library;
    library->rank = rank;
    std::string folder = (std::filesystem::temp_directory_path() / "hdtrace-test-XXXXXX").string();
    if (mkdtemp(folder.data()) == nullptr || mpi::open_info((folder + "/test.info").c_str()) != 0)
        throw std::runtime_error("cannot write in " + folder);
    library->folder = folder;

    std::vector<int> world;
    for (int i = 0; i < size; ++i)
        world.push_back(i);
    make_comm_as(MPI_COMM_WORLD, world);
    make_comm_as(MPI_COMM_SELF, {rank});
    mpi::start_communicators(make_group(world), "W");
}

FakeMpi::~FakeMpi()
{
    // The next test has a world of its own.
    for (const MPI_Comm predefined : {MPI_COMM_WORLD, MPI_COMM_SELF}) {
        comm_of(predefined).attributes[0] = const_cast<mpi::Comm*>(&mpi::find_comm(predefined, false));
        free_comm(predefined);
    }
    mpi::info_file().close();
    std::filesystem::remove_all(library->folder);
    delete library;
    library = nullptr;
}

MPI_Comm FakeMpi::make_comm(std::vector<int> members, std::vector<int> remote)
{
    const MPI_Comm handle = handle_of<MPI_Comm>(++last_handle);
    make_comm_as(handle, std::move(members), std::move(remote));
    return handle;
}

void FakeMpi::make_comm_as(MPI_Comm handle, std::vector<int> members, std::vector<int> remote)
{
    library->comms[handle_bits(handle)] = {std::move(members), std::move(remote), {}};
}

void FakeMpi::make_line(MPI_Comm handle)
{
    comm_of(handle).is_line = true;
}

void FakeMpi::free_comm(MPI_Comm handle)
{
    for (const auto& [keyval, value] : comm_of(handle).attributes)
        library->delete_functions[static_cast<size_t>(keyval)](handle, keyval, value, nullptr);
    library->comms.erase(handle_bits(handle));
}

int FakeMpi::attributes_set() const
{
    return library->attributes_set;
}

std::string FakeMpi::info() const
{
    mpi::info_file().flush();
    std::ifstream file(library->folder / "test.info");
    return {std::istreambuf_iterator<char>(file), {}};
}

std::vector<std::string> on_each_rank(int size, const std::function<std::string(FakeMpi&, int rank)>& member)
{
    std::vector<std::string> results;
    for (int rank = 0; rank < size; ++rank) {
        int ends[2];
        if (pipe(ends) != 0)
            throw std::runtime_error("no pipe");
        const pid_t child = fork();
        if (child == 0) {
            std::string result;
            {
                FakeMpi mpi(rank, size);
                result = member(mpi, rank);
            }
            const bool is_written =
                write(ends[1], result.data(), result.size()) == static_cast<ssize_t>(result.size());
            _exit(is_written && !testing::Test::HasFailure() ? 0 : 1);
        }
        close(ends[1]);
        std::string result;
        char part[4096];
        for (ssize_t count; (count = read(ends[0], part, sizeof part)) > 0;)
            result.append(part, static_cast<size_t>(count));
        close(ends[0]);
        int status = 0;
        if (waitpid(child, &status, 0) != child || status != 0)
            throw std::runtime_error("rank " + std::to_string(rank) + " ended with status " +
                                     std::to_string(status));
        results.push_back(result);
    }
    return results;
}

} // namespace hdtrace::test
