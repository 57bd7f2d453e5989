#include "mpiwrapper/runtime/calls/children.h"

#include "hdtrace/settings/environment.h"
#include "hdtrace/writer/own_memory.h"
#include "mpiwrapper/runtime/library/real.h"
#include "mpiwrapper/runtime/objects/new_communicators.h"
#include "mpiwrapper/runtime/process/diagnostic.h"
#include "mpiwrapper/runtime/process/settings.h"

#include <stdlib.h>
#include <unistd.h>

namespace hdtrace::mpi {

namespace {

#ifdef OPEN_MPI
constexpr bool launcher_takes_variables = true;
#else
constexpr bool launcher_takes_variables = false;
#endif

// Open MPI sets the variables of the first key, which are separated by line breaks, and the one of the
// second, if there is such a key.
struct Keys {
    const char* variables;
    const char* one_variable;
};

constexpr Keys keys_of_first_versions = {"env", "ompi_param"};
constexpr Keys keys_since_version_5 = {"PMIX_ENVAR", nullptr}; // which complains of the others
constexpr const char* directory = "HDTRACE_DIRECTORY=";

const Keys& known_keys()
{
    constexpr char name[] = "Open MPI v";
    char version[MPI_MAX_LIBRARY_VERSION_STRING] = "";
    int length = 0;
    real.MPI_Get_library_version(version, &length);
    const char* const number = strstr(version, name);
    return number != nullptr && atoi(number + strlen(name)) < 5 ? keys_of_first_versions
                                                                : keys_since_version_5;
}

bool begins_with(const char* text, const char* beginning)
{
    return strncmp(text, beginning, strlen(beginning)) == 0;
}

// Only what tracing them needs: MPI's hints have little room.
bool is_for_children(const char* variable)
{
    return !is_internal_variable(variable) &&
           (begins_with(variable, "HDTRACE_") || begins_with(variable, "LD_PRELOAD=")) &&
           strchr(variable, '\n') == nullptr;
}

// Open MPI 6 gives children some variables twice.
bool is_first_of_its_name(char** variable)
{
    const size_t length = strcspn(*variable, "=") + 1;
    for (char** before = environ; before != variable; ++before) {
        if (strncmp(*before, *variable, length) == 0)
            return false;
    }
    return true;
}

// If the directory, which may be long, has a key of its own, it is returned; null if it is not set.
const char* add_variables(TextBuffer& variables, const Comm& parent, const Keys& keys)
{
    const char* found = nullptr;
    for (char** variable = environ; *variable != nullptr; ++variable) {
        if (keys.one_variable != nullptr && begins_with(*variable, directory))
            found = *variable;
        else if (is_for_children(*variable) && is_first_of_its_name(variable))
            variables.string(*variable).text("\n");
    }
    variables.string(parent_variable).text("=");
    add_uid_of_children(variables, parent, parent.creations + 1);
    return found;
}

bool has_key(MPI_Info info, const char* key, int* length)
{
    int is_defined = 0;
    real.MPI_Info_get_valuelen(info, key, length, &is_defined);
    return is_defined != 0;
}

// Behind what the program has set. False if there is no room.
bool set_variables(MPI_Info info, const char* key, const TextBuffer& variables)
{
    TextBuffer all;
    int length = 0;
    if (has_key(info, key, &length)) {
        char value[MPI_MAX_INFO_VAL + 1] = "";
        int is_defined = 0;
        real.MPI_Info_get(info, key, MPI_MAX_INFO_VAL, value, &is_defined);
        all.string(value).text("\n");
    }
    all.bytes(variables.data(), variables.size());
    if (all.bad() || all.size() >= MPI_MAX_INFO_VAL)
        return false;
    return real.MPI_Info_set(info, key, all.c_string()) == MPI_SUCCESS;
}

bool set_directory(MPI_Info info, const char* key, const char* variable)
{
    int length = 0;
    if (variable == nullptr)
        return true;
    return strlen(variable) < MPI_MAX_INFO_VAL && !has_key(info, key, &length) &&
           real.MPI_Info_set(info, key, variable) == MPI_SUCCESS;
}

MPI_Info with_variables(MPI_Info given, const Keys& keys, const TextBuffer& variables,
                        const char* directory_variable)
{
    MPI_Info own = MPI_INFO_NULL;
    if (given == MPI_INFO_NULL)
        real.MPI_Info_create(&own);
    else
        real.MPI_Info_dup(given, &own);
    if (own != MPI_INFO_NULL && !(set_variables(own, keys.variables, variables) &&
                                  set_directory(own, keys.one_variable, directory_variable)))
        Diagnostic(incomplete_trace)
            .text("the processes that MPI_Comm_spawn starts are not traced: their environment would be "
                  "too long for MPI");
    return own;
}

} // namespace

InfosForChildren::InfosForChildren(const Comm& parent, int root, int count, const MPI_Info* given)
    : m_given(given)
{
    if (!launcher_takes_variables || !settings.follow || &parent == &null_comm || parent.rank != root ||
        count <= 0)
        return;
    m_own = static_cast<MPI_Info*>(own_malloc(static_cast<size_t>(count) * sizeof(MPI_Info)));
    if (m_own == nullptr)
        return;
    m_count = count;
    TextBuffer variables;
    const Keys& keys = known_keys();
    const char* const directory_variable = add_variables(variables, parent, keys);
    for (int i = 0; i < count; ++i)
        m_own[i] = with_variables(given[i], keys, variables, directory_variable);
}

InfosForChildren::~InfosForChildren()
{
    for (int i = 0; i < m_count; ++i)
        if (m_own[i] != MPI_INFO_NULL)
            real.MPI_Info_free(&m_own[i]);
    own_free(m_own);
}

} // namespace hdtrace::mpi
