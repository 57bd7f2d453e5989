// An MPI library of a few functions: communicators and groups that are lists of ranks, and attributes.
#pragma once

#include "mpiwrapper/runtime/library/mpi_api.h"

#include <functional>
#include <stdint.h>
#include <string.h>
#include <string>
#include <vector>

namespace hdtrace::test {

/// A handle with these bits. Those that a test makes up are far from the predefined ones.
template <typename Handle> Handle handle_of(unsigned number)
{
    const uintptr_t bits = 0x10000 + 64 * static_cast<uintptr_t>(number);
    Handle handle;
    memcpy(&handle, &bits, sizeof handle);
    return handle;
}

/// What this process sees of the library. There is one at a time.
class FakeMpi {
  public:
    /// MPI_COMM_WORLD has ranks from 0 on. The .info is in a folder of its own. Other functions than those of
    /// the fake end the test.
    FakeMpi(int rank, int size);
    ~FakeMpi();
    FakeMpi(const FakeMpi&) = delete;
    FakeMpi& operator=(const FakeMpi&) = delete;

    /// @p members are world ranks, or -1 for a process of another world. With @p remote it is an
    /// inter-communicator.
    MPI_Comm make_comm(std::vector<int> members, std::vector<int> remote = {});
    /// The same for a handle that is free again.
    void make_comm_as(MPI_Comm handle, std::vector<int> members, std::vector<int> remote = {});
    /// A Cartesian topology of one dimension, not periodic.
    void make_line(MPI_Comm handle);
    /// Calls the delete functions of its attributes, as MPI_Comm_free does.
    void free_comm(MPI_Comm handle);
    /// How many attributes were set, or values replaced.
    int attributes_set() const;

    /// What the .info holds.
    std::string info() const;
};

/// Runs a member of a world in a process of its own for each rank, and returns what each returned; throws if
/// an expectation of it failed. The communicators WORLD and SELF are known to them.
std::vector<std::string> on_each_rank(int size, const std::function<std::string(FakeMpi&, int rank)>& member);

} // namespace hdtrace::test
