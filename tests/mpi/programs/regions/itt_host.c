/* Does what the part of ITT does that programs carry inside: asks the library for functions by their names.
 */
#include "../check.h"

#include <dlfcn.h>

struct domain {
    volatile int flags;
    const char* name;
};
struct string_handle {
    const char* text;
};
struct id {
    unsigned long long parts[3];
};
enum { s32 = 4, real_64 = 8 };

static void* library;

static void* find(const char* name)
{
    void* const function = dlsym(library, name);
    CHECK(function != NULL);
    return function;
}

int main(int argc, char** argv)
{
    const struct id none = {{0, 0, 0}};
    const double real = 2.5;
    const int number = -7;

    library = dlopen(getenv("INTEL_LIBITTNOTIFY64"), RTLD_LAZY);
    CHECK(library != NULL);
    /* Version 1 of the interface between the two parts. */
    CHECK(dlsym(library, "__itt_api_init") == NULL && dlsym(library, "__itt_api_version") != NULL);
    struct domain* (*const domain_create)(const char*) = find("__itt_domain_create");
    struct string_handle* (*const string_handle_create)(const char*) = find("__itt_string_handle_create");
    void (*const task_begin)(const struct domain*, struct id, struct id, struct string_handle*) =
        find("__itt_task_begin");
    void (*const task_end)(const struct domain*) = find("__itt_task_end");
    void (*const marker)(const struct domain*, struct id, struct string_handle*, int) = find("__itt_marker");
    void (*const thread_set_name)(const char*) = find("__itt_thread_set_name");
    void (*const pause)(void) = find("__itt_pause");
    void (*const resume)(void) = find("__itt_resume");
    void* (*const counter_create)(const char*, const char*) = find("__itt_counter_create");
    void* (*const counter_create_typed)(const char*, const char*, int) = find("__itt_counter_create_typed");
    void (*const set_value)(void*, const void*) = find("__itt_counter_set_value");
    void (*const increment)(void*) = find("__itt_counter_inc");
    void (*const add)(void*, unsigned long long) = find("__itt_counter_inc_delta");

    struct domain* const domain = domain_create("solver");
    struct string_handle* const step = string_handle_create("step");
    CHECK(domain_create("solver") == domain && domain->flags != 0 && strcmp(domain->name, "solver") == 0);
    CHECK(string_handle_create("step") == step && strcmp(step->text, "step") == 0);
    task_begin(domain, none, none, step);
    begin(&argc, &argv);
    task_end(domain);
    thread_set_name("main");
    task_begin(domain, none, none, step);
    task_begin(domain, none, none, string_handle_create("inner"));
    MPI_Barrier(MPI_COMM_WORLD);
    task_end(domain);
    marker(domain, none, string_handle_create("half"), 1);
    void* const integer = counter_create("cells", "solver");
    increment(integer);
    add(integer, 5);
    set_value(counter_create_typed("depth", "solver", s32), &number);
    set_value(counter_create_typed("error", "solver", real_64), &real);
    pause();
    marker(domain, none, step, 1);
    resume();
    task_end(domain);
    return finish();
}
