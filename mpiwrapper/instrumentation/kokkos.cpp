// libhdtrace-kokkos.so: what a program does with Kokkos, by the interface of Kokkos Tools: KOKKOS_TOOLS_LIBS
// names it.
#include "mpiwrapper/instrumentation/program_regions.h"

#include <stdlib.h>

using namespace hdtrace::instrumentation;

namespace {

/// As Kokkos passes it.
struct SpaceHandle {
    char name[64];
};

thread_local Stack regions, copies;
hdCounter copied = HD_COUNTER_IN("Kokkos", "deep_copy", HD_INTEGER, "B", 0, 0, HD_POINT);

// Kokkos keeps a number for each kernel: what the tracer knows it as.
void begin_kernel(const char* group, const char* name, uint64_t* id)
{
    *id = reinterpret_cast<uint64_t>(begin(group, name));
}

void end_kernel(uint64_t id)
{
    end(reinterpret_cast<Begun>(id));
}

// Sections are numbered by the tool, and begin and end as they like.
struct Section {
    char* name; // null: the number is free
    Begun begun;
};
constexpr uint32_t most_sections = 4096;
Section sections[most_sections];

// The number of a new section, which owns its name; `most_sections` if all are taken.
uint32_t number_for(char* name)
{
    for (uint32_t id = 0; id < most_sections; ++id) {
        char* none = nullptr;
        if (__atomic_compare_exchange_n(&sections[id].name, &none, name, false, __ATOMIC_ACQ_REL,
                                        __ATOMIC_RELAXED))
            return id;
    }
    free(name);
    return most_sections;
}

} // namespace

HDT_INTERFACE void kokkosp_init_library(int, uint64_t, uint32_t, void*) {}

HDT_INTERFACE void kokkosp_finalize_library() {}

HDT_INTERFACE void kokkosp_begin_parallel_for(const char* name, uint32_t, uint64_t* id)
{
    begin_kernel("Kokkos parallel_for", name, id);
}

HDT_INTERFACE void kokkosp_end_parallel_for(uint64_t id)
{
    end_kernel(id);
}

HDT_INTERFACE void kokkosp_begin_parallel_reduce(const char* name, uint32_t, uint64_t* id)
{
    begin_kernel("Kokkos parallel_reduce", name, id);
}

HDT_INTERFACE void kokkosp_end_parallel_reduce(uint64_t id)
{
    end_kernel(id);
}

HDT_INTERFACE void kokkosp_begin_parallel_scan(const char* name, uint32_t, uint64_t* id)
{
    begin_kernel("Kokkos parallel_scan", name, id);
}

HDT_INTERFACE void kokkosp_end_parallel_scan(uint64_t id)
{
    end_kernel(id);
}

HDT_INTERFACE void kokkosp_begin_fence(const char* name, uint32_t, uint64_t* id)
{
    begin_kernel("Kokkos fence", name, id);
}

HDT_INTERFACE void kokkosp_end_fence(uint64_t id)
{
    end_kernel(id);
}

HDT_INTERFACE void kokkosp_push_profile_region(const char* name)
{
    regions.push(begin("Kokkos", name));
}

HDT_INTERFACE void kokkosp_pop_profile_region()
{
    regions.pop();
}

HDT_INTERFACE void kokkosp_create_profile_section(const char* name, uint32_t* id)
{
    char* const copy = strdup(name);
    *id = copy != nullptr ? number_for(copy) : most_sections;
}

HDT_INTERFACE void kokkosp_start_profile_section(uint32_t id)
{
    if (id < most_sections)
        sections[id].begun = begin("Kokkos", sections[id].name);
}

HDT_INTERFACE void kokkosp_stop_profile_section(uint32_t id)
{
    if (id >= most_sections)
        return;
    end(sections[id].begun);
    sections[id].begun = nullptr;
}

HDT_INTERFACE void kokkosp_destroy_profile_section(uint32_t id)
{
    if (id >= most_sections)
        return;
    sections[id].begun = nullptr;
    free(__atomic_exchange_n(&sections[id].name, nullptr, __ATOMIC_ACQ_REL));
}

HDT_INTERFACE void kokkosp_profile_event(const char* name)
{
    mark("Kokkos", name);
}

HDT_INTERFACE void kokkosp_begin_deep_copy(SpaceHandle, const char* name, const void*, SpaceHandle,
                                           const char*, const void*, uint64_t size)
{
    copies.push(begin("Kokkos deep_copy", name));
    if (is_traced())
        hdR_countInteger(&copied, static_cast<int64_t>(size));
}

HDT_INTERFACE void kokkosp_end_deep_copy()
{
    copies.pop();
}
