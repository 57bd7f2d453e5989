/* hdVT.h - for programs that are instrumented with the interface of the Intel Trace Collector: include it in
 * place of VT.h.
 *
 * Everything maps to hdRegion.h, so a program is built and runs where hdtrace is not installed.
 * docs/regions.md has the table of what maps to what, and what does nothing. Handles are numbers of the
 * program, or of a library whose symbols are hidden; they are good in all its source files. */
#ifndef HDVT_H
#define HDVT_H

#include <hdRegion.h>

#include <sys/time.h>

#define VT_VERSION 4000
#define VT_VERSION_COMPATIBILITY 4000
#define VT_version() ((int)VT_VERSION)

enum _VT_ErrorCode {
    VT_OK = 0,
    VT_ERR_NOLICENSE = -1,
    VT_ERR_NOTIMPLEMENTED = -2,
    VT_ERR_NOTINITIALIZED = -3,
    VT_ERR_BADREQUEST = -4,
    VT_ERR_BADSYMBOLID = -5,
    VT_ERR_BADSCLID = -6,
    VT_ERR_BADSCL = -7,
    VT_ERR_BADFORMAT = -8,
    VT_ERR_BADKIND = -9,
    VT_ERR_NOMEMORY = -10,
    VT_ERR_BADFILE = -11,
    VT_ERR_FLUSH = -12,
    VT_ERR_BADARG = -13,
    VT_ERR_NOTHREADS = -14,
    VT_ERR_BADINDEX = -15,
    VT_ERR_COMM = -16,
    VT_ERR_INVT = -17,
    VT_ERR_IGNORE = -18
};

#define VT_NOSCL 0
#define VT_NOCLASS 0

enum VT_Group { VT_ME = -1, VT_GROUP_THREAD = -2, VT_GROUP_PROCESS = -3, VT_GROUP_CLUSTER = -4 };

enum VT_CountData { VT_COUNT_INTEGER = 1, VT_COUNT_FLOAT = 2, VT_COUNT_INTEGER64 = 3, VT_COUNT_DATA = 3 };
enum VT_CountDisplay { VT_COUNT_ABSVAL = 0, VT_COUNT_RATE = 4, VT_COUNT_DISPLAY = 4 };
enum VT_CountScope {
    VT_COUNT_VALID_AFTER = 0,
    VT_COUNT_VALID_BEFORE = 8,
    VT_COUNT_VALID_POINT = 16,
    VT_COUNT_VALID_SAMPLE = 24,
    VT_COUNT_SCOPE = 24
};

#include "hdVTObjects.h"

/* ---- definitions ---- */

HDV_FUNCTION int hdV_code(int error)
{
    switch (error) {
    case 0:
        return VT_OK;
    case HD_ERR_NOT_STARTED:
    case HD_ERR_ENDED:
    case HD_ERR_NOT_TRACED:
        return VT_ERR_NOTINITIALIZED;
    case HD_ERR_NOT_OPEN:
        return VT_ERR_BADREQUEST;
    case HD_ERR_NAME:
        return VT_ERR_BADSYMBOLID;
    case HD_ERR_BUSY:
        return VT_ERR_INVT;
    case HD_ERR_LOST:
        return VT_ERR_BADFILE;
    case HD_ERR_MEMORY:
    case HD_ERR_MANY:
    case HD_ERR_DEEP_REGION:
        return VT_ERR_NOMEMORY;
    default:
        return VT_ERR_BADARG;
    }
}

HDV_FUNCTION int hdV_give(int* handle, int defined)
{
    if (defined == 0)
        return VT_ERR_NOMEMORY;
    *handle = defined;
    return VT_OK;
}

HDV_FUNCTION int VT_classdef(const char* classname, int* classhandle)
{
    return classname && classhandle ? hdV_give(classhandle, hdV_define(hdV_class, classname, "", 0))
                                    : VT_ERR_BADARG;
}

HDV_FUNCTION const char* hdV_class_name(int classhandle)
{
    const hdV_Object* const object = hdV_find(classhandle, hdV_class);
    return object ? object->text : "";
}

HDV_FUNCTION int VT_funcdef(const char* symname, int classhandle, int* statehandle)
{
    if (!symname || !statehandle)
        return VT_ERR_BADARG;
    return hdV_give(statehandle, hdV_define(hdV_state, hdV_class_name(classhandle), symname, 0));
}

HDV_FUNCTION int VT_scopedef(const char* scopename, int classhandle, int scl1, int scl2, int* scopehandle)
{
    int error;
    const hdV_Object* const place = hdV_find(scl1, hdV_place);
    if (!scopename || !scopehandle)
        return VT_ERR_BADARG;
    (void)scl2;
    error = hdV_give(scopehandle, hdV_define(hdV_scope, hdV_class_name(classhandle), scopename, 0));
    if (error == VT_OK && place) {
        hdRegion* const region = hdV_region(*scopehandle, hdV_scope);
        region->line = place->line;
        region->file = place->text;
    }
    return error;
}

HDV_FUNCTION int VT_scldef(const char* file, int line_nr, int* sclhandle)
{
    return file && *file && sclhandle ? hdV_give(sclhandle, hdV_define(hdV_place, file, "", line_nr))
                                      : VT_ERR_BADARG;
}

/** A group of processes and threads, as VT_getprocid() and VT_getthreadid() name them, and of other groups.
 */
HDV_FUNCTION int VT_groupdef(const char* name, int n_members, const int* ids, int* grouphandle)
{
    int i, defined;
    char* members;
    hdV_Object* group;
    if (!name || !*name || n_members < 0 || (n_members > 0 && !ids) || !grouphandle)
        return VT_ERR_BADARG;
    members = (char*)calloc(1, 1);
    for (i = 0; members && i < n_members; ++i) {
        const hdV_Object* const inner = hdV_find(ids[i], hdV_group);
        char own[64];
        const char* more = own;
        char* longer;
        if (inner)
            more = inner->members;
        else if (ids[i] > -1000)
            own[0] = '\0';
        else if ((-ids[i] - 1000) % 256 == 0)
            sprintf(own, "%d;", (-ids[i] - 1000) / 256);
        else
            sprintf(own, "%d.%d;", (-ids[i] - 1000) / 256, (-ids[i] - 1000) % 256 - 1);
        longer = (char*)realloc(members, strlen(members) + strlen(more) + 1);
        if (!longer)
            free(members);
        else
            strcat(longer, more);
        members = longer;
    }
    defined = members ? hdV_define(hdV_group, name, "", 0) : 0;
    group = hdV_find(defined, hdV_group);
    if (!group || group->members) {
        free(members);
        return hdV_give(grouphandle, defined);
    }
    group->members = members;
    hdV_give(grouphandle, defined);
    return hdV_code(hdR_group(group->text, members));
}

HDV_FUNCTION int VT_getprocid(int procindex, int* procid)
{
    if (procindex < 0 || procindex > 8000000 || !procid)
        return VT_ERR_BADARG;
    *procid = -(1000 + procindex * 256);
    return VT_OK;
}

HDV_FUNCTION int VT_getthreadid(int procindex, int thindex, int* threadid)
{
    if (procindex < 0 || procindex > 8000000 || thindex < 0 || thindex > 254 || !threadid)
        return VT_ERR_BADARG;
    *threadid = -(1000 + procindex * 256 + thindex + 1);
    return VT_OK;
}

HDV_FUNCTION int VT_countdef(const char* name, int classhandle, int genre, int target, const void* bounds,
                             const char* unit, int* counterhandle)
{
    int error;
    hdV_Object* object;
    const hdV_Object* const group = hdV_find(target, hdV_group);
    const int data = genre & VT_COUNT_DATA;
    if (!name || !counterhandle || data == 0 || (target > 0 && !group))
        return VT_ERR_BADARG;
    error = hdV_give(counterhandle, hdV_define(hdV_counter, hdV_class_name(classhandle), name, 0));
    object = error == VT_OK ? hdV_find(*counterhandle, hdV_counter) : 0;
    if (!object || object->data != 0)
        return object && object->data != data ? VT_ERR_BADKIND : error;
    object->counter.type = data == VT_COUNT_FLOAT ? HD_FLOAT : HD_INTEGER;
    object->counter.meaning = (genre & VT_COUNT_SCOPE) / 2 + ((genre & VT_COUNT_RATE) ? HD_RATE : 0) +
                              (target == VT_ME || target == VT_GROUP_THREAD ? HD_OF_THREAD
                               : target == VT_GROUP_CLUSTER                 ? HD_OF_NODE
                                                                            : HD_OF_PROCESS);
    object->counter.of = group ? group->text : 0;
    object->counter.unit = unit ? hdV_copy(unit) : 0;
    if (bounds) {
        int i;
        for (i = 0; i < 2; ++i) {
            double* const bound = i == 0 ? &object->counter.lower : &object->counter.upper;
            if (data == VT_COUNT_FLOAT)
                *bound = ((const double*)bounds)[i];
            else if (data == VT_COUNT_INTEGER64)
                *bound = (double)((const int64_t*)bounds)[i];
            else
                *bound =
                    ((const int32_t*)bounds)[2 * i] * 4294967296.0 + ((const uint32_t*)bounds)[2 * i + 1];
        }
    }
    object->data = data;
    return error;
}

/* The old interface: the program chooses the numbers. */
HDV_FUNCTION int VT_symdef(int statehandle, const char* symname, const char* activity)
{
    if (!symname || !activity || statehandle <= 0 || statehandle >= hdV_first_handle)
        return VT_ERR_BADARG;
    return hdV_define(hdV_state, activity, symname, statehandle) != 0 ? VT_OK : VT_ERR_NOMEMORY;
}

/* ---- events: macros, so that the place where the program calls is the program's ---- */

HDV_FUNCTION int hdV_atPlace(int sclhandle)
{
    const hdV_Object* const place = hdV_find(sclhandle, hdV_place);
    if (sclhandle == VT_NOSCL)
        return VT_OK;
    return place ? hdV_code(hdR_atPlace(place->text, 0, place->line)) : VT_ERR_BADSCLID;
}

#define VT_thisloc(sclhandle) (hdV_atPlace(sclhandle))
#define VT_begin(statehandle) (hdV_code(hdR_begin(hdV_region(statehandle, hdV_state))))
#define VT_beginl(statehandle, sclhandle) ((void)hdV_atPlace(sclhandle), VT_begin(statehandle))
#define VT_enter(statehandle, sclhandle) VT_beginl(statehandle, sclhandle)
#define VT_end(statehandle) ((void)(statehandle), hdV_code(hdR_end(0)))
#define VT_endl(statehandle, sclhandle) ((void)hdV_atPlace(sclhandle), VT_end(statehandle))
#define VT_leave(sclhandle) ((void)hdV_atPlace(sclhandle), hdV_code(hdR_end(0)))
#define VT_scopebegin(scopehandle, scl, seqnr)                                                               \
    ((void)hdV_atPlace(scl), hdV_number(seqnr), hdV_code(hdR_begin(hdV_region(scopehandle, hdV_scope))))
#define VT_scopeend(scopehandle, seqnr, scl)                                                                 \
    ((void)hdV_atPlace(scl), (void)(seqnr), hdV_code(hdR_end(hdV_region(scopehandle, hdV_scope))))
#define VT_log_comment(comment) (hdV_code(hdR_mark(&hdV_comment, comment)))

__attribute__((unused)) static hdRegion hdV_comment = {0, "comment", 0, 0, 0, 0};

HDV_FUNCTION void hdV_number(int* seqnr)
{
    if (seqnr)
        *seqnr = 0;
}

/** The name up to the first slash, as with DETAILED-STATES 0. */
HDV_FUNCTION int hdV_defineState(const char* name, int* statehandle, int* truncated)
{
    char text[2 * HD_LONGEST_NAME];
    const size_t length = strcspn(name, "/");
    *truncated = name[length] == '/';
    if (length == 0)
        return VT_ERR_IGNORE;
    if (length >= sizeof text)
        return VT_ERR_BADARG;
    memcpy(text, name, length);
    text[length] = '\0';
    return *statehandle > 0 ? VT_OK : VT_funcdef(text, VT_NOCLASS, statehandle);
}
#define VT_enterstate(name, statehandle, truncated)                                                          \
    (hdV_defineState(name, statehandle, truncated) != VT_OK ? (int)VT_ERR_IGNORE : VT_begin(*(statehandle)))

HDV_FUNCTION int VT_countval(int ncounters, const int* handles, const void* values)
{
    int i;
    if (ncounters < 0 || (ncounters > 0 && (!handles || !values)))
        return VT_ERR_BADARG;
    for (i = 0; i < ncounters; ++i) {
        hdV_Object* const object = hdV_find(handles[i], hdV_counter);
        const char* const at = (const char*)values + 8 * i;
        int error;
        if (!object)
            return VT_ERR_BADSYMBOLID;
        if (object->data == VT_COUNT_FLOAT) {
            double value;
            memcpy(&value, at, sizeof value);
            error = hdR_countFloat(&object->counter, value);
        } else if (object->data == VT_COUNT_INTEGER64) {
            int64_t value;
            memcpy(&value, at, sizeof value);
            error = hdR_countInteger(&object->counter, value);
        } else {
            uint32_t parts[2]; /* the higher one first */
            memcpy(parts, at, sizeof parts);
            error = hdR_countInteger(&object->counter, (int64_t)((uint64_t)parts[0] << 32 | parts[1]));
        }
        if (error != 0)
            return hdV_code(error);
    }
    return VT_OK;
}

/* ---- the trace itself ---- */

/* The tracer begins and ends with MPI. */
#define VT_initialize(argc, argv) ((void)(argc), (void)(argv), (int)VT_OK)
#define VT_finalize() ((int)VT_OK)
#define VT_traceon() (hdR_resume() == 0 ? (int)VT_OK : (int)VT_ERR_NOTINITIALIZED)
#define VT_traceoff() (hdR_pause() == 0 ? (int)VT_OK : (int)VT_ERR_NOTINITIALIZED)
#define VT_flush() (hdR_flush() == 0 ? (int)VT_OK : (int)VT_ERR_FLUSH)
#define VT_wakeup() ((int)VT_OK)
#define VT_begin_unordered() ((int)VT_OK)
#define VT_end_unordered() ((int)VT_OK)

HDV_FUNCTION int hdV_number_of(int number, int* result)
{
    if (number < 0)
        return VT_ERR_NOTINITIALIZED;
    *result = number;
    return VT_OK;
}
#define VT_getrank(rank) (hdV_number_of(hdR_rank(), rank))
#define VT_getthrank(thrank) (hdV_number_of(hdR_thread(), thrank))

/** 0: the thread is logging, 1: not now, 2: never. */
HDV_FUNCTION int VT_tracestate(int* state)
{
    const int now = hdR_state();
    *state = now == HD_RECORDING ? 0 : now == HD_UNTRACED ? 2 : 1;
    return VT_OK;
}

HDV_FUNCTION int VT_symstate(int statehandle, int* on)
{
    *on = hdV_find(statehandle, hdV_state) != 0;
    return *on ? VT_OK : VT_ERR_BADSYMBOLID;
}

/** Threads are numbered in the order of their first call or event. */
HDV_FUNCTION int VT_registernamed(const char* threadname, int thindex)
{
    static hdRegion name = {0, "thread name", 0, 0, HD_NO_SITE, 0};
    const int number = hdR_thread();
    if (threadname && *threadname && number >= 0)
        hdR_mark(&name, threadname);
    return number < 0 ? VT_ERR_NOTINITIALIZED : thindex >= 0 && thindex != number ? VT_ERR_BADARG : VT_OK;
}
#define VT_registerthread(thindex) (VT_registernamed(0, thindex))

/* ---- time, in seconds ---- */

HDV_FUNCTION double hdV_now(void)
{
    struct timeval now;
    gettimeofday(&now, 0);
    return (double)now.tv_sec + 1e-6 * (double)now.tv_usec;
}
#define VT_timestamp() (hdV_now())
#define VT_timeofday() (hdV_now())

static double hdV_startTime;
__attribute__((constructor)) static void hdV_start(void)
{
    hdV_startTime = hdV_now();
}
#define VT_timestart() (hdV_startTime)

/* ---- what is not recorded ---- */

#define VT_timesync() ((int)VT_ERR_NOTIMPLEMENTED)
#define VT_sclstack(pc, frame, skip, trace, sclhandle) (*(sclhandle) = VT_NOSCL, (int)VT_ERR_NOTIMPLEMENTED)
#define VT_log_sendmsg(other_rank, count, tag, commid, sclhandle) ((int)VT_ERR_NOTIMPLEMENTED)
#define VT_log_recvmsg(other_rank, count, tag, commid, sclhandle) ((int)VT_ERR_NOTIMPLEMENTED)
#define VT_log_msgevent(sender, receiver, count, tag, commid, sendts, sendscl, recvscl)                      \
    ((int)VT_ERR_NOTIMPLEMENTED)
#define VT_log_op(opid, commid, root, bsend, brecv, startts, sclhandle) ((int)VT_ERR_NOTIMPLEMENTED)
#define VT_log_opevent(opid, commid, root, numprocs, bsend, brecv, startts, sclhandle)                       \
    ((int)VT_ERR_NOTIMPLEMENTED)

#ifdef __cplusplus
#include "hdVTClasses.h"
#endif

#endif
