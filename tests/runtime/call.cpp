#include "mpiwrapper/runtime/calls/call.h"

#include "fake_mpi.h"
#include "mpiwrapper/runtime/objects/new_communicators.h"

#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <memory>
#include <setjmp.h>
#include <thread>
#include <unistd.h>

using namespace hdtrace;
using namespace hdtrace::mpi;
using namespace hdtrace::test;

namespace {

constexpr StateForm outer_form = {"Outer"};
constexpr StateForm nested_form = {"Nested"};
constexpr StateForm call_form = {"Call"};
constexpr StateForm left_form = {"Left"};

// A thread whose trace goes to a file of its own.
class TracedThread {
  public:
    explicit TracedThread(const std::string& path)
    {
        find_stack(*m_thread);
        TraceSettings settings;
        if (m_thread->writer.open(path.c_str(), "rank='0' thread='0'", 0, settings, nullptr) != 0)
            throw std::runtime_error("cannot write " + path);
        current_thread = m_thread.get();
    }
    ~TracedThread() { current_thread = nullptr; }
    TracedThread(const TracedThread&) = delete;
    TracedThread& operator=(const TracedThread&) = delete;

    Thread& operator*() { return *m_thread; }
    Thread* operator->() { return m_thread.get(); }

  private:
    std::unique_ptr<Thread> m_thread = std::make_unique<Thread>();
};

class Calls : public testing::Test {
  protected:
    Calls()
    {
        std::string name = (std::filesystem::temp_directory_path() / "hdtrace-test-XXXXXX").string();
        folder = mkdtemp(name.data());
        set_recording(ordinary, Recording::plain);
        set_gate(1, 1);
    }
    ~Calls() override
    {
        set_gate(0, 0);
        std::filesystem::remove_all(folder);
    }
    std::string path() const { return folder + "/thread.trc"; }

    std::string folder;
};

// What is done with a call at this moment.
std::string decision(Function function, Tracks tracks)
{
    Call call(function, tracks);
    return call.passes() ? "passes" : call.is_recorded() ? "recorded" : "tracked";
}

TEST_F(Calls, pass_where_nothing_is_traced)
{
    set_state(State::off);
    EXPECT_EQ(decision(Function::MPI_Barrier, Tracks::communicators), "passes");
    set_state(State::waiting);
}

TEST_F(Calls, are_recorded_by_their_level)
{
    TracedThread thread(path());
    EXPECT_EQ(decision(Function::MPI_Barrier, Tracks::nothing), "recorded");
    EXPECT_EQ(decision(Function::MPI_Finalize, Tracks::nothing), "recorded");
    EXPECT_EQ(decision(Function::MPI_Comm_rank, Tracks::nothing), "tracked");
    set_recording(local_query, Recording::plain);
    EXPECT_EQ(decision(Function::MPI_Comm_rank, Tracks::nothing), "recorded");
}

TEST_F(Calls, are_only_tracked_while_recording_is_paused)
{
    TracedThread thread(path());
    set_gate(0, 1);
    EXPECT_EQ(decision(Function::MPI_Barrier, Tracks::nothing), "passes");
    EXPECT_EQ(decision(Function::MPI_Barrier, Tracks::operations), "tracked");
    EXPECT_EQ(decision(Function::MPI_Barrier, Tracks::communicators), "tracked");
}

TEST_F(Calls, inside_others_pass_or_count_what_they_make)
{
    TracedThread thread(path());
    Call outer(Function::MPI_Barrier, Tracks::nothing);
    outer.begin(outer_form);
    EXPECT_EQ(thread->depth, 1);
    EXPECT_EQ(decision(Function::MPI_Barrier, Tracks::operations), "passes");
    EXPECT_EQ(decision(Function::MPI_Barrier, Tracks::communicators), "tracked");
    EXPECT_EQ(thread->depth, 1);
    set_gate(TraceWriter::max_depth, TraceWriter::max_depth); // HDTRACE_NESTED
    EXPECT_EQ(decision(Function::MPI_Barrier, Tracks::nothing), "recorded");
}

TEST_F(Calls, of_the_library_for_the_wrapper_are_not_recorded)
{
    TracedThread thread(path());
    set_gate(TraceWriter::max_depth, TraceWriter::max_depth);
    {
        Call outer(Function::MPI_Barrier, Tracks::nothing);
        EXPECT_EQ(decision(Function::MPI_Barrier, Tracks::operations), "passes");
        outer.begin(outer_form);
        outer.end(MPI_SUCCESS);
        EXPECT_EQ(decision(Function::MPI_Barrier, Tracks::operations), "passes");
    }
    EXPECT_EQ(thread->depth, 0);
    EXPECT_EQ(thread->call_count, 0);
}

// Ends all calls of the outermost's callbacks at once.
void nest(int depth, int& recorded)
{
    if (depth == 0)
        return;
    Call call(Function::MPI_Barrier, Tracks::nothing);
    if (call.passes())
        return;
    call.begin(nested_form);
    ++recorded;
    nest(depth - 1, recorded);
    call.end(MPI_SUCCESS);
    call.write([&](auto& element) {
        element.text("<Nested");
        call.finish_attributes(element).end("Nested");
    });
}

TEST_F(Calls, are_recorded_as_deep_as_the_trace_can_be)
{
    TracedThread thread(path());
    set_gate(TraceWriter::max_depth, TraceWriter::max_depth);
    int recorded = 0;
    nest(TraceWriter::max_depth + 10, recorded);
    EXPECT_EQ(recorded, TraceWriter::max_depth);
    EXPECT_EQ(thread->call_count, 0);
}

TEST_F(Calls, find_objects_again_until_they_are_freed)
{
    FakeMpi mpi(0, 2);
    const MPI_Comm handle = mpi.make_comm({0, 1});
    created_from_parent(MPI_COMM_WORLD, handle, "dup");
    TracedThread thread(path());
    Call call(Function::MPI_Barrier, Tracks::nothing);
    call.begin(call_form);
    call.end(MPI_SUCCESS);
    const int64_t id = call.comm(handle).id;
    EXPECT_EQ(call.comm(handle).id, id);
    EXPECT_EQ(call.comm(MPI_COMM_NULL).id, -1);
    mpi.free_comm(handle);
    mpi.make_comm_as(handle, {1, 0});
    created_from_parent(MPI_COMM_WORLD, handle, "dup");
    EXPECT_EQ(call.comm(handle).id, id + 1);
}

TEST_F(Calls, see_that_another_thread_closed_a_file)
{
    const MPI_File handle = handle_of<MPI_File>(1);
    opened(handle, 5, MPI_MODE_RDONLY);
    TracedThread thread(path());
    Call call(Function::MPI_Barrier, Tracks::nothing);
    call.begin(call_form);
    call.end(MPI_SUCCESS);
    const File file = call.file(handle);
    EXPECT_EQ(file.id, 5);
    EXPECT_EQ(call.file(handle).id, 5);
    std::thread([&] {
        EXPECT_EQ(current_thread, nullptr);
        closed(handle, file);
    }).join();
    EXPECT_EQ(call.file(handle).id, -1);
}

jmp_buf before_call;

__attribute__((noinline)) void leave_by_longjmp()
{
    // Without a destructor's scope around it, as in C.
    alignas(Call) char memory[sizeof(Call)];
    Call* const call = new (memory) Call(Function::MPI_Barrier, Tracks::nothing);
    call->begin(left_form);
    longjmp(before_call, 1);
}

TEST_F(Calls, that_were_left_become_unfinished)
{
    TracedThread thread(path());
    if (setjmp(before_call) == 0)
        leave_by_longjmp();
    EXPECT_EQ(thread->call_count, 1);
    EXPECT_EQ(decision(Function::MPI_Barrier, Tracks::nothing), "recorded");
    EXPECT_EQ(thread->call_count, 0);
    EXPECT_EQ(thread->depth, 0);
    thread->writer.close();
    std::ifstream file(path());
    const std::string trace{std::istreambuf_iterator<char>(file), {}};
    EXPECT_NE(trace.find("unfinished='1'"), std::string::npos) << trace;
}

} // namespace
