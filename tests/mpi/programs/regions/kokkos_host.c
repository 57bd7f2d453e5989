/* Calls a tool's library as Kokkos does, for a machine without Kokkos. */
#include "../check.h"

#include <dlfcn.h>
#include <stdint.h>

struct space_handle {
    char name[64];
};

static void* library;

static void* find(const char* name)
{
    void* const function = dlsym(library, name);
    CHECK(function != NULL);
    return function;
}

int main(int argc, char** argv)
{
    const struct space_handle host = {"Host"};
    char long_name[1000];
    uint64_t outer = 0, inner = 0;
    uint32_t first = 0, second = 0;

    library = dlopen(getenv("KOKKOS_TOOLS_LIBS"), RTLD_NOW);
    CHECK(library != NULL);
    void (*const init)(int, uint64_t, uint32_t, void*) = find("kokkosp_init_library");
    void (*const finalize)(void) = find("kokkosp_finalize_library");
    void (*const begin_for)(const char*, uint32_t, uint64_t*) = find("kokkosp_begin_parallel_for");
    void (*const end_for)(uint64_t) = find("kokkosp_end_parallel_for");
    void (*const begin_reduce)(const char*, uint32_t, uint64_t*) = find("kokkosp_begin_parallel_reduce");
    void (*const end_reduce)(uint64_t) = find("kokkosp_end_parallel_reduce");
    void (*const push)(const char*) = find("kokkosp_push_profile_region");
    void (*const pop)(void) = find("kokkosp_pop_profile_region");
    void (*const event)(const char*) = find("kokkosp_profile_event");
    void (*const create)(const char*, uint32_t*) = find("kokkosp_create_profile_section");
    void (*const start)(uint32_t) = find("kokkosp_start_profile_section");
    void (*const stop)(uint32_t) = find("kokkosp_stop_profile_section");
    void (*const destroy)(uint32_t) = find("kokkosp_destroy_profile_section");
    void (*const begin_copy)(struct space_handle, const char*, const void*, struct space_handle, const char*,
                             const void*, uint64_t) = find("kokkosp_begin_deep_copy");
    void (*const end_copy)(void) = find("kokkosp_end_deep_copy");

    init(0, 20211015, 0, NULL);
    push("too early");
    begin(&argc, &argv);
    pop();
    memset(long_name, 'n', sizeof long_name);
    long_name[sizeof long_name - 1] = '\0';
    push("step");
    begin_for("axpy", 0, &outer);
    begin_reduce(long_name, 0, &inner);
    end_for(outer);
    end_reduce(inner);
    for (int i = 0; i < 10000; ++i) { /* many, one after the other */
        create("a section", &first);
        destroy(first);
    }
    create("first section", &first);
    create("second section", &second);
    start(first);
    start(second);
    stop(first);
    stop(second);
    destroy(first);
    destroy(second);
    begin_copy(host, "to", NULL, host, "from", NULL, 4096);
    end_copy();
    event("an event");
    pop();
    pop();
    const int result = finish();
    push("too late");
    pop();
    finalize();
    return result;
}
