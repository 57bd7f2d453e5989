/* hdRegion.h - regions, marks and counters of a program in the trace of its MPI calls.
 *
 *     static hdRegion solve = HD_REGION("solve");
 *     static hdCounter residual = HD_COUNTER("residual", HD_FLOAT);
 *
 *     hdR_begin(&solve);
 *     hdR_countFloat(&residual, 1e-7);
 *     hdR_markNamed("converged");
 *     hdR_end(&solve);
 *
 * and in C++, until the end of the block: `HD_SCOPE("solve");`. docs/regions.md tells everything.
 *
 * This header is all that a program needs to be built, also where hdtrace is not installed. The tracer is
 * found when the program is loaded; where there is none, functions do nothing.
 *
 * Functions return 0, also where nothing is traced or recording is paused, or a number of hdRError, and then
 * nothing was recorded; the first error of a kind is also reported on standard error. errno stays as it is.
 * All are thread-safe. They may be called in signal handlers by threads, and with regions and counters, that
 * have been used before.
 */
#ifndef HDREGION_H
#define HDREGION_H

#include <stdint.h>
#include <string.h>

/** How long names, and the texts of marks, may be, in bytes. */
#define HD_LONGEST_NAME 255
#define HD_LONGEST_TEXT 1000

/** What is wrong. */
enum hdRError {
    HD_ERR_NOT_STARTED = 800200, /**< MPI is not initialised yet */
    HD_ERR_ENDED = 800201,       /**< after MPI_Finalize, or the trace was given up */
    HD_ERR_NOT_TRACED = 800202,  /**< a child of fork(), or a program that is not traced for another reason */
    HD_ERR_NOT_OPEN = 800203,    /**< the thread is not in this region */
    HD_ERR_DEEP_REGION = 800204, /**< the thread is in too many regions */
    HD_ERR_NAME = 800205,        /**< there is no name, or it is empty */
    HD_ERR_LONG = 800206,        /**< a name or a text is too long */
    HD_ERR_TYPE = 800207,        /**< the counter has another type */
    HD_ERR_BUSY = 800208,        /**< a signal handler interrupted the tracer itself */
    HD_ERR_MANY = 800209,        /**< too many names, or too many events inside one MPI call */
    HD_ERR_MEMORY = 800210,      /**< memory is short */
    HD_ERR_LOST = 800211         /**< the trace cannot be written any more */
};

/** A name for regions and marks. Those with the same group and name are the same. What the tracer does not
 * change must stay as it is. Members are added behind `known` only. */
typedef struct hdRegion {
    const char* group; /**< what it belongs to, "class" in the trace; may be null */
    const char* name;
    const char* file; /**< where it is defined; may be null */
    int line;
    int flags;   /**< enum hdFlags */
    void* known; /**< the tracer's; null before the first use */
} hdRegion;

enum hdFlags {
    HD_NO_SITE = 1, /**< where the program calls hdR_… tells nothing */
    HD_OVERLAPS = 2 /**< hdR_end() ends this region by its name only */
};

#define HD_REGION(name) HD_REGION_IN(0, name)
#define HD_REGION_IN(group, name)                                                                            \
    {                                                                                                        \
        group, name, __FILE__, __LINE__, 0, 0                                                                \
    }

enum hdType { HD_INTEGER = 1, HD_FLOAT = 2 };

/** Whose values a counter has, plus for which time a value holds, plus HD_RATE if users want to see how fast
 * they change. */
enum hdMeaning {
    HD_OF_PROCESS = 0,
    HD_OF_THREAD = 1,
    HD_OF_NODE = 2,
    HD_OF_ALL = 3,
    HD_AFTER = 0,   /**< until the next value */
    HD_BEFORE = 4,  /**< since the value before */
    HD_POINT = 8,   /**< at this moment */
    HD_SAMPLE = 12, /**< at this moment, of what changes continuously */
    HD_RATE = 16
};

/** A counter. Those with the same group and name are the same, and have the same type. */
typedef struct hdCounter {
    const char* group; /**< may be null */
    const char* name;
    enum hdType type;
    const char* unit; /**< may be null */
    double lower;     /**< no bounds if both are 0 */
    double upper;
    int meaning;    /**< of hdMeaning */
    int flags;      /**< enum hdFlags */
    const char* of; /**< the group of hdR_group() whose values it has; may be null */
    void* known;    /**< the tracer's; null before the first use */
} hdCounter;

#define HD_COUNTER(name, type) HD_COUNTER_IN(0, name, type, 0, 0, 0, 0)
#define HD_COUNTER_IN(group, name, type, unit, lower, upper, meaning)                                        \
    {                                                                                                        \
        group, name, type, unit, lower, upper, meaning, 0, 0, 0                                              \
    }

/** Whether anything is recorded now. */
enum hdRState {
    HD_UNTRACED = 0, /**< this process is not traced, or not any more */
    HD_WAITING = 1,  /**< until MPI is initialised */
    HD_RECORDING = 2,
    HD_PAUSED = 3
};

enum hdRControl { HD_PAUSE = 0, HD_RESUME = 1, HD_FLUSH = 2 };

/** What the tracer does for the functions below. Members are only added, at the end. */
typedef struct hdTracer {
    int (*begin)(hdRegion* region);
    int (*end)(const hdRegion* region);
    int (*mark)(hdRegion* mark, const char* text);
    int (*countInteger)(hdCounter* counter, int64_t value);
    int (*countFloat)(hdCounter* counter, double value);
    int (*beginNamed)(const char* name);
    int (*endNamed)(const char* name);
    int (*markNamed)(const char* name);
    int (*atPlace)(const char* file, const char* function, int line);
    int (*state)(void);
    int (*control)(int what);
    int (*rank)(void);
    int (*thread)(void);
    int (*group)(const char* name, const char* members);
} hdTracer;

#define HD_TRACER_VERSION 1

#ifndef HD_TYPES_ONLY

/* What is done where nothing is traced. Both ways lead to the same, so that no compiler misses the use of a
 * parameter. NOLINTBEGIN(bugprone-branch-clone) */
static int hdR_noBegin(hdRegion* region)
{
    return region ? 0 : 0;
}
static int hdR_noEnd(const hdRegion* region)
{
    return region ? 0 : 0;
}
static int hdR_noMark(hdRegion* mark, const char* text)
{
    return mark && text ? 0 : 0;
}
static int hdR_noInteger(hdCounter* counter, int64_t value)
{
    return counter && value ? 0 : 0;
}
static int hdR_noFloat(hdCounter* counter, double value)
{
    return counter && value > 0 ? 0 : 0;
}
static int hdR_noName(const char* name)
{
    return name ? 0 : 0;
}
static int hdR_noPlace(const char* file, const char* function, int line)
{
    return file && function && line ? 0 : 0;
}
static int hdR_noState(void)
{
    return HD_UNTRACED;
}
static int hdR_noControl(int what)
{
    return what ? 0 : 0;
}
static int hdR_noNumber(void)
{
    return -1;
}
static int hdR_noGroup(const char* name, const char* members)
{
    return name && members ? 0 : 0;
}
/* NOLINTEND(bugprone-branch-clone) */
static const hdTracer hdR_noTracer = {hdR_noBegin,   hdR_noEnd,    hdR_noMark,   hdR_noInteger, hdR_noFloat,
                                      hdR_noName,    hdR_noName,   hdR_noName,   hdR_noPlace,   hdR_noState,
                                      hdR_noControl, hdR_noNumber, hdR_noNumber, hdR_noGroup};

static const hdTracer* hdR_theTracer = &hdR_noTracer;

#if defined(__GNUC__) && defined(__ELF__)
/* The tracer is in the program itself, or was loaded before it; the linker leaves null where there is none.
 */
static const hdTracer* hdR_linkedTracer(int version) __attribute__((weakref("hdR_tracer")));
static void* hdR_dlsym(void* handle, const char* name) __attribute__((weakref("dlsym")));

/* Before the constructors of the program. A linker that makes programs for fixed addresses resolves weak
 * references at once, so the loader is asked, too. */
__attribute__((constructor(101))) static void hdR_findTracer(void)
{
    const hdTracer* (*find)(int) = 0;
    const hdTracer* found = 0;
    if (hdR_linkedTracer) {
        find = hdR_linkedTracer;
    } else if (hdR_dlsym) {
        void* const address = hdR_dlsym(0, "hdR_tracer");
        memcpy(&find, &address, sizeof find);
    }
    if (find)
        found = find(HD_TRACER_VERSION);
    if (found)
        hdR_theTracer = found;
}
#endif

/* Macros, so that the place where the program calls is the program's. */

/** int hdR_begin(hdRegion* region): the thread enters the region. Regions of a thread may overlap; it may
 * enter one several times. */
#define hdR_begin(region) (hdR_theTracer->begin(region))
/** int hdR_end(const hdRegion* region): the thread leaves what it has entered last by this name; with null,
 * the last of all. */
#define hdR_end(region) (hdR_theTracer->end(region))
/** int hdR_mark(hdRegion* mark, const char* text): something happened, of which the text tells more; it may
 * be null. */
#define hdR_mark(region, note) (hdR_theTracer->mark(region, note))
/** int hdR_countInteger(hdCounter* counter, int64_t value), of an HD_INTEGER counter. */
#define hdR_countInteger(counter, value) (hdR_theTracer->countInteger(counter, value))
/** int hdR_countFloat(hdCounter* counter, double value), of an HD_FLOAT counter. */
#define hdR_countFloat(counter, value) (hdR_theTracer->countFloat(counter, value))

/** int hdR_beginNamed(const char* name) and so on: the name is looked up in each call. */
#define hdR_beginNamed(name) (hdR_theTracer->beginNamed(name))
#define hdR_endNamed(name) (hdR_theTracer->endNamed(name))
#define hdR_markNamed(name) (hdR_theTracer->markNamed(name))

/** int hdR_atPlace(const char* file, const char* function, int line): the next event of this thread belongs
 * to this place in the sources, and not to where it is called. The function may be null. */
#define hdR_atPlace(file, function, line) (hdR_theTracer->atPlace(file, function, line))

/** int hdR_state(void): one of hdRState. */
#define hdR_state() (hdR_theTracer->state())
/** int hdR_pause(void): the same as MPI_Pcontrol(0), (1) and (2): of all threads, calls of MPI included. */
#define hdR_pause() (hdR_theTracer->control(HD_PAUSE))
#define hdR_resume() (hdR_theTracer->control(HD_RESUME))
#define hdR_flush() (hdR_theTracer->control(HD_FLUSH))

/** int hdR_rank(void): as in the names of the files the process, and the calling thread; -1 where nothing is
 * traced. */
#define hdR_rank() (hdR_theTracer->rank())
#define hdR_thread() (hdR_theTracer->thread())

/** int hdR_group(const char* name, const char* members): a group of processes, "0;2;", and threads of
 * processes, "1.3;". */
#define hdR_group(name, members) (hdR_theTracer->group(name, members))

#ifdef __cplusplus
namespace hdtrace {

/** The calling thread is in a region while this lives: HD_SCOPE makes it, or `RegionScope
 * scope(hdR_beginNamed(name), name)`. */
class RegionScope {
  public:
    /** @p error: what the beginning said. */
    RegionScope(int error, const hdRegion& region) : m_region(region), m_has_begun(error == 0)
    {
        m_region.flags |= HD_NO_SITE; // a block ends where it ends
    }
    RegionScope(int error, const char* name) : m_region(), m_has_begun(error == 0)
    {
        m_region.name = name;
        m_region.flags = HD_NO_SITE;
    }
    ~RegionScope() { end(); }

    /** Leaves the region now. */
    void end()
    {
        if (m_has_begun)
            hdR_end(&m_region);
        m_has_begun = false;
    }

  private:
    RegionScope(const RegionScope&);
    RegionScope& operator=(const RegionScope&);

    hdRegion m_region;
    bool m_has_begun;
};

} // namespace hdtrace

#define HDR_JOIN_(first, second) first##second
#define HDR_JOIN(first, second) HDR_JOIN_(first, second)
/** The rest of the block is a region. */
#define HD_SCOPE(name) HD_SCOPE_IN(0, name)
#ifdef __COUNTER__
#define HD_SCOPE_IN(group, name) HDR_SCOPE(group, name, HDR_JOIN(HDR_JOIN(__LINE__, _), __COUNTER__))
#else
#define HD_SCOPE_IN(group, name) HDR_SCOPE(group, name, __LINE__)
#endif
/* The number of the line is in it because that of the counter may be another one's in another source file. */
#define HDR_SCOPE(group, name, number)                                                                       \
    static hdRegion HDR_JOIN(hdR_region, number) = HD_REGION_IN(group, name);                                \
    const ::hdtrace::RegionScope HDR_JOIN(hdR_scope, number)(hdR_begin(&HDR_JOIN(hdR_region, number)),       \
                                                             HDR_JOIN(hdR_region, number))
#endif /* __cplusplus */

#endif /* HD_TYPES_ONLY */
#endif
