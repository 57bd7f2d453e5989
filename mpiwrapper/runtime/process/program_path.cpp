#include "mpiwrapper/runtime/process/program_path.h"

#include <limits.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

namespace hdtrace::mpi {

namespace {

constexpr size_t room_before_path = 100; // in a line of /proc/self/maps

char path[PATH_MAX + room_before_path] = "";

// "7f5c2a400000-7f5c2a428000 r--p 00000000 08:01 2883   /home/me/app": the path, if the file is mapped there.
char* file_mapped_at(uintptr_t address, char* line)
{
    unsigned long begin = 0, end = 0;
    if (sscanf(line, "%lx-%lx", &begin, &end) != 2 || address < begin || address >= end)
        return nullptr;
    line[strcspn(line, "\n")] = '\0';
    return strchr(line, '/');
}

// Empty if it is not known.
void find_by_mappings()
{
    const uintptr_t program = getauxval(AT_PHDR); // which the loader corrects
    FILE* const mappings = fopen("/proc/self/maps", "re");
    const char* found = nullptr;
    while (mappings != nullptr && found == nullptr && fgets(path, sizeof path, mappings) != nullptr)
        found = file_mapped_at(program, path);
    if (mappings != nullptr)
        fclose(mappings);
    if (found != nullptr)
        memmove(path, found, strlen(found) + 1);
    else
        path[0] = '\0';
}

void find()
{
    if (is_started_by_loader())
        return find_by_mappings();
    const ssize_t length = readlink("/proc/self/exe", path, PATH_MAX - 1);
    path[length > 0 ? length : 0] = '\0';
}

} // namespace

// The kernel has loaded no loader for the program. (One that is linked statically is found either way.)
bool is_started_by_loader()
{
    return getauxval(AT_BASE) == 0;
}

const char* program_path()
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, find);
    return path;
}

} // namespace hdtrace::mpi
