/* Does what the part of ITT does that programs carry inside: hands a list of its functions to the library. */
#include "../check.h"

#include <dlfcn.h>
#include <pthread.h>

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

static struct domain* (*domain_create)(const char*);
static struct string_handle* (*string_handle_create)(const char*);
static void (*task_begin)(const struct domain*, struct id, struct id, struct string_handle*);
static void (*task_end)(const struct domain*);
static void (*marker)(const struct domain*, struct id, struct string_handle*, int);
static void (*thread_set_name)(const char*);
static void (*pause_recording)(void);
static void (*resume_recording)(void);
static void* (*counter_create)(const char*, const char*);
static void* (*counter_create_typed)(const char*, const char*, int);
static void (*set_value)(void*, const void*);
static void (*increment)(void*);
static void (*add)(void*, unsigned long long);
static void (*unknown)(void);

static void do_nothing(void) {}

struct entry {
    const char* name;
    void** function;
    void* at_first;
    void* nothing;
    int group;
};
#define ENTRY(name, function)                                                                                \
    {                                                                                                        \
        "__itt_" name, (void**)&function, NULL, (void*)do_nothing, 1                                         \
    }
static struct entry functions[] = {ENTRY("domain_create", domain_create),
                                   ENTRY("string_handle_create", string_handle_create),
                                   ENTRY("task_begin", task_begin),
                                   ENTRY("task_end", task_end),
                                   ENTRY("marker", marker),
                                   ENTRY("thread_set_name", thread_set_name),
                                   ENTRY("pause", pause_recording),
                                   ENTRY("resume", resume_recording),
                                   ENTRY("counter_create", counter_create),
                                   ENTRY("counter_create_typed", counter_create_typed),
                                   ENTRY("counter_set_value", set_value),
                                   ENTRY("counter_inc", increment),
                                   ENTRY("counter_inc_delta", add),
                                   ENTRY("nobody_knows_this", unknown),
                                   {NULL, NULL, NULL, NULL, 0}};

static struct {
    unsigned char magic[8];
    unsigned long version[3];
    volatile long initialised[3];
    pthread_mutex_t mutex;
    void* library;
    void* error_handler;
    const char** path;
    struct entry* functions;
} global = {.version = {3, 0, 0}, .functions = functions};

int main(int argc, char** argv)
{
    const struct id none = {{0, 0, 0}};
    const double real = 2.5;
    const int number = -7;

    void (*init)(void*, int);
    global.library = dlopen(getenv("INTEL_LIBITTNOTIFY64"), RTLD_LAZY);
    CHECK(global.library != NULL);
    *(void**)&init = dlsym(global.library, "__itt_api_init");
    CHECK(init != NULL);
    init(&global, -1);
    CHECK(unknown == do_nothing);
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
    pause_recording();
    marker(domain, none, step, 1);
    resume_recording();
    task_end(domain);
    return finish();
}
