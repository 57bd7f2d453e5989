#include "mpiwrapper/runtime/counters/table.h"

#include <linux/perf_event.h>
#include <stddef.h>
#include <sys/resource.h>
#include <time.h>

namespace hdtrace::mpi {

namespace {

constexpr uint64_t column(int number)
{
    return uint64_t{1} << number;
}

// What perf_event_open() calls an event of a cache.
constexpr uint64_t accesses(uint64_t cache, uint64_t operation)
{
    return cache | operation << 8 | uint64_t{PERF_COUNT_HW_CACHE_RESULT_ACCESS} << 16;
}
constexpr uint64_t misses(uint64_t cache, uint64_t operation)
{
    return cache | operation << 8 | uint64_t{PERF_COUNT_HW_CACHE_RESULT_MISS} << 16;
}

constexpr uint64_t load = PERF_COUNT_HW_CACHE_OP_READ;
constexpr uint64_t store = PERF_COUNT_HW_CACHE_OP_WRITE;
constexpr uint64_t l1_data = PERF_COUNT_HW_CACHE_L1D;
constexpr uint64_t l1_code = PERF_COUNT_HW_CACHE_L1I;
constexpr uint64_t last_level = PERF_COUNT_HW_CACHE_LL;
constexpr uint64_t data_tlb = PERF_COUNT_HW_CACHE_DTLB;
constexpr uint64_t code_tlb = PERF_COUNT_HW_CACHE_ITLB;

// Names of perf's are those of `perf list`. Linux does not fill the members ixrss, idrss, isrss, nswap,
// msgsnd, msgrcv and nsignals of struct rusage, and its maxrss is the process's.
constexpr SampledCounter rows[] = {
    {"user_time", "s", Source::thread_usage, offsetof(rusage, ru_utime), "processor time in user mode"},
    {"system_time", "s", Source::thread_usage, offsetof(rusage, ru_stime), "processor time in the kernel"},
    {"cpu_time", "s", Source::thread_clock, CLOCK_THREAD_CPUTIME_ID, "processor time, in nanoseconds"},
    {"minor_faults", nullptr, Source::thread_usage, offsetof(rusage, ru_minflt),
     "page faults that needed no disk"},
    {"major_faults", nullptr, Source::thread_usage, offsetof(rusage, ru_majflt),
     "page faults that waited for a disk"},
    {"blocks_in", nullptr, Source::thread_usage, offsetof(rusage, ru_inblock),
     "blocks of 512 bytes read from disks"},
    {"blocks_out", nullptr, Source::thread_usage, offsetof(rusage, ru_oublock),
     "blocks of 512 bytes written for disks"},
    {"voluntary_switches", nullptr, Source::thread_usage, offsetof(rusage, ru_nvcsw),
     "how often it waited for something"},
    {"involuntary_switches", nullptr, Source::thread_usage, offsetof(rusage, ru_nivcsw),
     "how often the processor was taken away"},

    {"instructions", nullptr, Source::perf_hardware, PERF_COUNT_HW_INSTRUCTIONS, "instructions"},
    {"cycles", nullptr, Source::perf_hardware, PERF_COUNT_HW_CPU_CYCLES, "processor cycles"},
    {"ref-cycles", nullptr, Source::perf_hardware, PERF_COUNT_HW_REF_CPU_CYCLES,
     "cycles at the nominal frequency"},
    {"bus-cycles", nullptr, Source::perf_hardware, PERF_COUNT_HW_BUS_CYCLES, "cycles of the bus"},
    {"stalled-cycles-frontend", nullptr, Source::perf_hardware, PERF_COUNT_HW_STALLED_CYCLES_FRONTEND,
     "cycles without instructions to begin"},
    {"stalled-cycles-backend", nullptr, Source::perf_hardware, PERF_COUNT_HW_STALLED_CYCLES_BACKEND,
     "cycles in which instructions waited"},
    {"cache-references", nullptr, Source::perf_hardware, PERF_COUNT_HW_CACHE_REFERENCES,
     "accesses to the last cache"},
    {"cache-misses", nullptr, Source::perf_hardware, PERF_COUNT_HW_CACHE_MISSES,
     "accesses that missed the last cache"},
    {"branches", nullptr, Source::perf_hardware, PERF_COUNT_HW_BRANCH_INSTRUCTIONS, "branches"},
    {"branch-misses", nullptr, Source::perf_hardware, PERF_COUNT_HW_BRANCH_MISSES,
     "branches that were predicted wrongly"},
    {"L1-dcache-loads", nullptr, Source::perf_cache, accesses(l1_data, load), "loads from the first cache"},
    {"L1-dcache-load-misses", nullptr, Source::perf_cache, misses(l1_data, load),
     "loads that missed the first cache"},
    {"L1-dcache-stores", nullptr, Source::perf_cache, accesses(l1_data, store), "stores to the first cache"},
    {"L1-icache-load-misses", nullptr, Source::perf_cache, misses(l1_code, load),
     "instructions that missed the first cache"},
    {"LLC-loads", nullptr, Source::perf_cache, accesses(last_level, load), "loads from the last cache"},
    {"LLC-load-misses", nullptr, Source::perf_cache, misses(last_level, load),
     "loads that missed the last cache"},
    {"LLC-stores", nullptr, Source::perf_cache, accesses(last_level, store), "stores to the last cache"},
    {"LLC-store-misses", nullptr, Source::perf_cache, misses(last_level, store),
     "stores that missed the last cache"},
    {"dTLB-loads", nullptr, Source::perf_cache, accesses(data_tlb, load), "addresses of data looked up"},
    {"dTLB-load-misses", nullptr, Source::perf_cache, misses(data_tlb, load),
     "addresses of data that were not in the table"},
    {"iTLB-load-misses", nullptr, Source::perf_cache, misses(code_tlb, load),
     "addresses of instructions that were not in the table"},
    {"task-clock", "s", Source::perf_software, PERF_COUNT_SW_TASK_CLOCK, "processor time"},
    {"page-faults", nullptr, Source::perf_software, PERF_COUNT_SW_PAGE_FAULTS, "page faults"},
    {"minor-faults", nullptr, Source::perf_software, PERF_COUNT_SW_PAGE_FAULTS_MIN,
     "page faults that needed no disk"},
    {"major-faults", nullptr, Source::perf_software, PERF_COUNT_SW_PAGE_FAULTS_MAJ,
     "page faults that waited for a disk"},
    {"alignment-faults", nullptr, Source::perf_software, PERF_COUNT_SW_ALIGNMENT_FAULTS,
     "accesses that the kernel had to align"},
    {"emulation-faults", nullptr, Source::perf_software, PERF_COUNT_SW_EMULATION_FAULTS,
     "instructions that the kernel had to emulate"},
    {"context-switches", nullptr, Source::perf_software, PERF_COUNT_SW_CONTEXT_SWITCHES,
     "how often another thread got the processor", in_kernel},
    {"cpu-migrations", nullptr, Source::perf_software, PERF_COUNT_SW_CPU_MIGRATIONS,
     "how often it went on on another processor", in_kernel},

    {"process_cpu_time", "s", Source::process_clock, CLOCK_PROCESS_CPUTIME_ID,
     "processor time of all threads"},
    {"max_rss", "B", Source::process_usage, offsetof(rusage, ru_maxrss), "most memory in use so far",
     is_level, 1024},
    {"resident", "B", Source::process_memory, column(1), "memory in use", is_level},
    {"read_bytes", "B", Source::process_io, column(1), "bytes read from disks", only_grows, 1, "read_bytes:"},
    {"written_bytes", "B", Source::process_io, column(1), "bytes written for disks", only_grows, 1,
     "write_bytes:"},
    {"read_chars", "B", Source::process_io, column(1), "bytes that read() and its like returned", only_grows,
     1, "rchar:"},
    {"written_chars", "B", Source::process_io, column(1), "bytes given to write() and its like", only_grows,
     1, "wchar:"},
    {"read_calls", nullptr, Source::process_io, column(1), "calls of read() and its like", only_grows, 1,
     "syscr:"},
    {"write_calls", nullptr, Source::process_io, column(1), "calls of write() and its like", only_grows, 1,
     "syscw:"},

    {"cpu_user", "s", Source::processors, column(1) | column(2), "time of all processors in user mode",
     only_grows, 1, "cpu "},
    {"cpu_system", "s", Source::processors, column(3) | column(6) | column(7), "in the kernel", only_grows, 1,
     "cpu "},
    {"cpu_idle", "s", Source::processors, column(4), "with nothing to do", only_grows, 1, "cpu "},
    {"cpu_iowait", "s", Source::processors, column(5), "with nothing to do but to wait for disks", only_grows,
     1, "cpu "},
    {"cpu_steal", "s", Source::processors, column(8), "taken by other virtual machines", only_grows, 1,
     "cpu "},
    {"disk_read", "B", Source::disks, column(5), "bytes read from all disks", only_grows, 512},
    {"disk_written", "B", Source::disks, column(9), "bytes written to all disks", only_grows, 512},
    {"net_received", "B", Source::network, column(1), "bytes received by all network devices"},
    {"net_sent", "B", Source::network, column(9), "bytes sent by all network devices"},
    {"memory_available", "B", Source::memory, column(1), "memory that programs can still have", is_level,
     1024, "MemAvailable:"},
};

} // namespace

std::span<const SampledCounter> sampled_counters()
{
    return rows;
}

} // namespace hdtrace::mpi
