#include "mpiwrapper/runtime/calls/values.h"

#include "mpiwrapper/runtime/objects/lock.h"
#include "mpiwrapper/runtime/objects/object_table.h"

#include <stdlib.h>

namespace hdtrace::mpi {

namespace {

#define HDT_NAMED(constant)                                                                                  \
    {                                                                                                        \
        constant, #constant                                                                                  \
    }

struct NamedOp {
    MPI_Op op;
    const char* name;
};

const NamedOp ops[] = {
    HDT_NAMED(MPI_SUM),     HDT_NAMED(MPI_MAX),   HDT_NAMED(MPI_MIN),    HDT_NAMED(MPI_PROD),
    HDT_NAMED(MPI_LAND),    HDT_NAMED(MPI_BAND),  HDT_NAMED(MPI_LOR),    HDT_NAMED(MPI_BOR),
    HDT_NAMED(MPI_LXOR),    HDT_NAMED(MPI_BXOR),  HDT_NAMED(MPI_MINLOC), HDT_NAMED(MPI_MAXLOC),
    HDT_NAMED(MPI_REPLACE), HDT_NAMED(MPI_NO_OP),
};

struct KnownMessage : TableEntry<KnownMessage> {
    Message message;
};

pthread_mutex_t message_mutex = PTHREAD_MUTEX_INITIALIZER;
constinit ObjectTable<KnownMessage> messages; // by handle

// Callbacks of the program can make up codes. Open MPI would call its error handler if asked about one.
bool is_code_of_mpi(int rc)
{
#ifdef OPEN_MPI
    const int* last = nullptr;
    int is_set = 0;
    if (real.MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_LASTUSEDCODE, &last, &is_set) != MPI_SUCCESS || !is_set)
        return false;
    return rc >= 0 && rc <= *last;
#else
    return rc != MPI_SUCCESS;
#endif
}

// Some libraries leave statuses of ours as they were.
bool is_written(const MPI_Status* status)
{
    return value_of(status).MPI_SOURCE != no_source_yet;
}

bool was_cancelled(const MPI_Status* told)
{
    const MPI_Status status = value_of(told);
    int answer = 0;
    real.MPI_Test_cancelled(&status, &answer);
    return answer != 0;
}

} // namespace

const char* error_class_name(int rc)
{
    int error_class = rc;
    if (is_code_of_mpi(rc))
        real.MPI_Error_class(rc, &error_class);
    for (const NamedValue& candidate : error_class_names)
        if (candidate.value == error_class)
            return candidate.name;
    return "MPI_ERR_UNKNOWN"; // e.g. a class of the program's own
}

const char* op_name(MPI_Op op)
{
    for (const NamedOp& candidate : ops)
        if (candidate.op == op)
            return candidate.name;
    return op == MPI_OP_NULL ? "MPI_OP_NULL" : "USER";
}

void put_name(Element& element, std::span<const NamedValue> names, int value)
{
    for (const NamedValue& candidate : names) {
        if (candidate.value == value) {
            element.name(candidate.name);
            return;
        }
    }
    element.number(value);
}

void put_names(Element& element, std::span<const NamedValue> names, int value)
{
    bool is_first = true;
    for (const NamedValue& candidate : names) {
        if ((value & candidate.value) == 0)
            continue;
        if (!is_first)
            element.text("|");
        element.name(candidate.name);
        is_first = false;
        value &= ~candidate.value;
    }
    if (is_first)
        element.number(value);
    else if (value != 0)
        element.text("|").number(value);
}

void put_list(Element& element, const int* values, int count)
{
    TextBuffer list;
    for (int i = 0; values != nullptr && i < count; ++i)
        list.number(values[i]).text(";");
    element.raw(list.data(), list.size());
}

void put_info(Element& element, const Call& call, MPI_Info info)
{
    if (!settings.file_info || !call.succeeded() || info == MPI_INFO_NULL)
        return;
    int count = 0;
    real.MPI_Info_get_nkeys(info, &count);
    for (int i = 0; i < count; ++i) {
        char key[MPI_MAX_INFO_KEY + 1] = "";
        int length = 0, is_defined = 0;
        real.MPI_Info_get_nthkey(info, i, key);
        real.MPI_Info_get_valuelen(info, key, &length, &is_defined);
        char* const value = static_cast<char*>(calloc(static_cast<size_t>(length) + 2, 1));
        if (value == nullptr)
            return;
        real.MPI_Info_get(info, key, length + 1, value, &is_defined);
        element.child("<Info key='").escaped(key).text("' value='").escaped(value).text("'").end_child();
        free(value);
    }
}

void put_group(Element& element, const Call& call, MPI_Group group)
{
    if (!call.succeeded())
        return;
    int count = 0;
    int* const ranks = world_ranks(group, &count);
    TextBuffer list;
    add_ranks(list, ranks, count);
    free(ranks);
    element.raw(list.data(), list.size());
}

void put_ranges(Element& element, const int (*ranges)[3], int count)
{
    TextBuffer list;
    for (int i = 0; ranges != nullptr && i < count; ++i)
        list.number(ranges[i][0]).text(",").number(ranges[i][1]).text(",").number(ranges[i][2]).text(";");
    element.raw(list.data(), list.size());
}

int dimensions_of(MPI_Comm comm)
{
    int dimensions = 0;
    return real.MPI_Cartdim_get(comm, &dimensions) == MPI_SUCCESS ? dimensions : 0;
}

int last_of(const int* values, int count)
{
    return count > 0 ? values[count - 1] : 0;
}

int sum_of(const int* values, int count)
{
    int sum = 0;
    for (int i = 0; i < count; ++i)
        sum += values[i];
    return sum;
}

void put_arguments(Element& element, const Call& call, char** arguments)
{
    if (!call.succeeded() || arguments == MPI_ARGV_NULL)
        return;
    for (; *arguments != nullptr; ++arguments)
        element.child("<Arg value='").escaped(*arguments).text("'").end_child();
}

void put_commands(Element& element, const Call& call, int count, char** commands, char*** arguments,
                  const MPI_Info* infos)
{
    if (!call.succeeded())
        return;
    for (int i = 0; i < count; ++i) {
        element.child("<Command name='").escaped(commands[i]).text("'").end_child();
        if (arguments != MPI_ARGVS_NULL)
            put_arguments(element, call, arguments[i]);
        put_info(element, call, infos[i]);
    }
}

int64_t ask_for_bytes(const MPI_Status& status)
{
    MPI_Count bytes = 0;
    if (real.MPI_Get_elements_x(&status, MPI_BYTE, &bytes) != MPI_SUCCESS || bytes < 0)
        return 0;
    return bytes;
}

void add_message(MPI_Message handle, const Message& message)
{
    if (handle == MPI_MESSAGE_NULL || handle == MPI_MESSAGE_NO_PROC)
        return;
    KnownMessage* const found = static_cast<KnownMessage*>(malloc(sizeof(KnownMessage)));
    if (found == nullptr)
        return;
    found->message = message;
    add_reference(*message.comm);
    const MutexLock lock(message_mutex);
    messages.add(handle_bits(handle), found);
}

MatchedMessage::MatchedMessage(const MPI_Message* handle)
{
    const MutexLock lock(message_mutex);
    KnownMessage* const known = handle != nullptr ? messages.find(handle_bits(*handle)) : nullptr;
    if (known == nullptr)
        return;
    static_cast<Message&>(*this) = known->message; // with its reference to the communicator
    messages.remove(known);
    free(known);
}

void put_completed(Element& element, const Request& request, const MPI_Status* told)
{
    element.child("<For rid='").number(request.rid);
    if (request.is_cancelled && was_cancelled(told)) {
        element.text("' cancelled='1");
    } else if (request.kind == RequestKind::receive_from_nobody) {
        element.text("' fromRank='").number(no_process).text("' fromTag='-1' size='0");
    } else if (request.kind == RequestKind::receive && is_written(told)) {
        const Comm& comm = request.comm != nullptr ? *request.comm : null_comm;
        const Received received(comm, MPI_ANY_SOURCE, MPI_ANY_TAG, true, told);
        element.text("' fromRank='").number(received.source).text("' fromTag='").number(received.tag);
        element.text("' size='").number(received.size);
    } else if (request.kind == RequestKind::access && is_written(told)) {
        const int64_t actual = status_bytes(value_of(told));
        if (actual != request.size)
            element.text("' actual='").number(actual);
    }
    element.text("'").end_child();
}

} // namespace hdtrace::mpi
