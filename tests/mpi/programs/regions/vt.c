/* A program that is instrumented with the interface of the Intel Trace Collector. */
#include "../check.h"

#include <hdVT.h>

int vt_in_another_file(int state);

int main(int argc, char** argv)
{
    int class_solver = 0, solve = 0, same = 0, state = 0, place = 0, scope = 0, other_scope = 0, group = 0,
        thread = 0;
    int real_counter = 0, wide_counter = 0, split_counter = 0, handles[3], members[2];
    int process = 0, number = 0, seqnr = 0, on = 0, truncated = 0;
    static int copy_handle;
    const double bounds[2] = {0, 100};
    const int64_t wide_bounds[2] = {-1, 1};
    union {
        double real;
        int64_t wide;
        int32_t split[2];
    } values[3];

    begin(&argc, &argv);
    CHECK(VT_initialize(&argc, &argv) == VT_OK);
    CHECK(VT_classdef(":numerics::solver:", &class_solver) == VT_OK);
    CHECK(VT_funcdef("solve", class_solver, &solve) == VT_OK &&
          VT_funcdef("::solve", class_solver, &same) == VT_OK);
    CHECK(solve == same);
    CHECK(VT_symdef(17, "old", "interface") == VT_OK);
    CHECK(VT_scldef("model.f", 12, &place) == VT_OK);
    CHECK(VT_scopedef("phase", VT_NOCLASS, place, VT_NOSCL, &scope) == VT_OK);
    CHECK(VT_scopedef("other phase", VT_NOCLASS, VT_NOSCL, VT_NOSCL, &other_scope) == VT_OK);
    CHECK(VT_getprocid(2, &members[0]) == VT_OK && VT_getthreadid(1, 3, &members[1]) == VT_OK);
    CHECK(VT_groupdef("some", 2, members, &group) == VT_OK);
    CHECK(VT_countdef("load", class_solver, VT_COUNT_FLOAT | VT_COUNT_RATE | VT_COUNT_VALID_SAMPLE, VT_ME,
                      bounds, "%", &real_counter) == VT_OK);
    CHECK(VT_countdef("wide", VT_NOCLASS, VT_COUNT_INTEGER64, group, wide_bounds, "B", &wide_counter) ==
          VT_OK);
    CHECK(VT_countdef("split", VT_NOCLASS, VT_COUNT_INTEGER, VT_GROUP_CLUSTER, NULL, NULL, &split_counter) ==
          VT_OK);

    CHECK(VT_tracestate(&state) == VT_OK);
    if (state == 0) {
        CHECK(VT_getrank(&number) == VT_OK && number == rank && VT_getthrank(&thread) == VT_OK &&
              thread == 0);
        CHECK(VT_registernamed("main thread", 0) == VT_OK);
        CHECK(VT_begin(4711) == VT_ERR_BADSYMBOLID && VT_leave(VT_NOSCL) == VT_ERR_BADREQUEST);
    }
    CHECK(VT_symstate(solve, &on) == VT_OK && on);

    CHECK(VT_enter(solve, place) == VT_OK);
    CHECK(VT_scopebegin(scope, VT_NOSCL, &seqnr) == VT_OK &&
          VT_scopebegin(other_scope, VT_NOSCL, NULL) == VT_OK);
    CHECK(VT_begin(17) == VT_OK);
    CHECK(vt_in_another_file(solve) == VT_OK);
    CHECK(VT_end(17) == VT_OK);
    CHECK(VT_scopeend(scope, seqnr, VT_NOSCL) == VT_OK);
    MPI_Barrier(MPI_COMM_WORLD);
    handles[0] = real_counter, handles[1] = wide_counter, handles[2] = split_counter;
    values[0].real = 12.5, values[1].wide = -7, values[2].split[0] = 1, values[2].split[1] = -1;
    CHECK(VT_countval(3, handles, values) == VT_OK);
    CHECK(VT_leave(VT_NOSCL) == VT_OK); /* the scope stays */
    CHECK(VT_scopeend(other_scope, 0, VT_NOSCL) == VT_OK);
    CHECK(VT_thisloc(place) == VT_OK && VT_log_comment("a comment") == VT_OK);
    CHECK(VT_enterstate("MPI:COPY/DETAIL", &copy_handle, &truncated) == VT_OK && truncated &&
          VT_leave(VT_NOSCL) == VT_OK);
    CHECK(VT_enterstate("/MPI", &process, &truncated) != VT_OK);
    CHECK(VT_traceoff() == VT_OK && VT_begin(solve) == VT_OK && VT_traceon() == VT_OK &&
          VT_end(solve) == VT_OK);
    CHECK(VT_flush() == VT_OK);
    CHECK(VT_version() == VT_VERSION && VT_version() >= VT_VERSION_COMPATIBILITY);
    CHECK(VT_timestart() <= VT_timestamp() && VT_timestamp() <= VT_timeofday());
    CHECK(VT_finalize() == VT_OK);
    return finish();
}
