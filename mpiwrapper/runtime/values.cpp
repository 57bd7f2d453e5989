#include "mpiwrapper/runtime/values.h"

#include "mpiwrapper/runtime/lock.h"

#include <glib.h>
#include <stdlib.h>

namespace hdtrace::mpi {

namespace {

struct NamedValue
{
    int value;
    const char* name;
};

#define HDT_NAMED(constant) {constant, #constant}

constexpr NamedValue error_classes[] = {
    HDT_NAMED(MPI_ERR_BUFFER), HDT_NAMED(MPI_ERR_COUNT), HDT_NAMED(MPI_ERR_TYPE), HDT_NAMED(MPI_ERR_TAG),
    HDT_NAMED(MPI_ERR_COMM), HDT_NAMED(MPI_ERR_RANK), HDT_NAMED(MPI_ERR_REQUEST), HDT_NAMED(MPI_ERR_ROOT),
    HDT_NAMED(MPI_ERR_GROUP), HDT_NAMED(MPI_ERR_OP), HDT_NAMED(MPI_ERR_TOPOLOGY), HDT_NAMED(MPI_ERR_DIMS),
    HDT_NAMED(MPI_ERR_ARG), HDT_NAMED(MPI_ERR_UNKNOWN), HDT_NAMED(MPI_ERR_TRUNCATE), HDT_NAMED(MPI_ERR_OTHER),
    HDT_NAMED(MPI_ERR_INTERN), HDT_NAMED(MPI_ERR_IN_STATUS), HDT_NAMED(MPI_ERR_PENDING), HDT_NAMED(MPI_ERR_ACCESS),
    HDT_NAMED(MPI_ERR_AMODE), HDT_NAMED(MPI_ERR_ASSERT), HDT_NAMED(MPI_ERR_BAD_FILE), HDT_NAMED(MPI_ERR_BASE),
    HDT_NAMED(MPI_ERR_CONVERSION), HDT_NAMED(MPI_ERR_DISP), HDT_NAMED(MPI_ERR_DUP_DATAREP),
    HDT_NAMED(MPI_ERR_FILE_EXISTS), HDT_NAMED(MPI_ERR_FILE_IN_USE), HDT_NAMED(MPI_ERR_FILE),
    HDT_NAMED(MPI_ERR_INFO_KEY), HDT_NAMED(MPI_ERR_INFO_NOKEY), HDT_NAMED(MPI_ERR_INFO_VALUE), HDT_NAMED(MPI_ERR_INFO),
    HDT_NAMED(MPI_ERR_IO), HDT_NAMED(MPI_ERR_KEYVAL), HDT_NAMED(MPI_ERR_LOCKTYPE), HDT_NAMED(MPI_ERR_NAME),
    HDT_NAMED(MPI_ERR_NO_MEM), HDT_NAMED(MPI_ERR_NOT_SAME), HDT_NAMED(MPI_ERR_NO_SPACE), HDT_NAMED(MPI_ERR_NO_SUCH_FILE),
    HDT_NAMED(MPI_ERR_PORT), HDT_NAMED(MPI_ERR_QUOTA), HDT_NAMED(MPI_ERR_READ_ONLY), HDT_NAMED(MPI_ERR_RMA_CONFLICT),
    HDT_NAMED(MPI_ERR_RMA_SYNC), HDT_NAMED(MPI_ERR_SERVICE), HDT_NAMED(MPI_ERR_SIZE), HDT_NAMED(MPI_ERR_SPAWN),
    HDT_NAMED(MPI_ERR_UNSUPPORTED_DATAREP), HDT_NAMED(MPI_ERR_UNSUPPORTED_OPERATION), HDT_NAMED(MPI_ERR_WIN),
    HDT_NAMED(MPI_ERR_RMA_RANGE), HDT_NAMED(MPI_ERR_RMA_ATTACH), HDT_NAMED(MPI_ERR_RMA_FLAVOR),
    HDT_NAMED(MPI_ERR_RMA_SHARED),
};

struct NamedOp
{
    MPI_Op op;
    const char* name;
};

const NamedOp ops[] = {
    HDT_NAMED(MPI_SUM),  HDT_NAMED(MPI_MAX),    HDT_NAMED(MPI_MIN),    HDT_NAMED(MPI_PROD),    HDT_NAMED(MPI_LAND),
    HDT_NAMED(MPI_BAND), HDT_NAMED(MPI_LOR),    HDT_NAMED(MPI_BOR),    HDT_NAMED(MPI_LXOR),    HDT_NAMED(MPI_BXOR),
    HDT_NAMED(MPI_MINLOC), HDT_NAMED(MPI_MAXLOC), HDT_NAMED(MPI_REPLACE), HDT_NAMED(MPI_NO_OP),
};

constexpr NamedValue access_modes[] = {
    {MPI_MODE_CREATE, "CREATE"},
    {MPI_MODE_RDONLY, "RDONLY"},
    {MPI_MODE_WRONLY, "WRONLY"},
    {MPI_MODE_RDWR, "RDWR"},
    {MPI_MODE_DELETE_ON_CLOSE, "DELETE_ON_CLOSE"},
    {MPI_MODE_UNIQUE_OPEN, "UNIQUE_OPEN"},
    {MPI_MODE_EXCL, "EXCL"},
    {MPI_MODE_APPEND, "APPEND"},
    {MPI_MODE_SEQUENTIAL, "SEQUENTIAL"},
};

constexpr NamedValue whences[] = {HDT_NAMED(MPI_SEEK_SET), HDT_NAMED(MPI_SEEK_CUR), HDT_NAMED(MPI_SEEK_END)};

pthread_mutex_t message_mutex = PTHREAD_MUTEX_INITIALIZER;
GHashTable* messages = nullptr; // MPI_Message -> Message

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

} // namespace

const char* error_class_name(int rc)
{
    int error_class = rc;
    if (is_code_of_mpi(rc))
        real.MPI_Error_class(rc, &error_class);
    for (const NamedValue& candidate : error_classes)
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

const char* whence_name(int whence)
{
    for (const NamedValue& candidate : whences)
        if (candidate.value == whence)
            return candidate.name;
    return "UNKNOWN";
}

void put_amode(Element& element, int amode)
{
    bool is_first = true;
    for (const NamedValue& mode : access_modes) {
        if ((amode & mode.value) == 0)
            continue;
        if (!is_first)
            element.text("|");
        element.name(mode.name);
        is_first = false;
    }
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
    for (int i = 0; i < count; ++i)
        list.number(ranks != nullptr ? ranks[i] : i).text(";");
    free(ranks);
    element.raw(list.data(), list.size());
}

const char* lock_name(int lock_type)
{
    return lock_type == MPI_LOCK_EXCLUSIVE ? "MPI_LOCK_EXCLUSIVE"
           : lock_type == MPI_LOCK_SHARED  ? "MPI_LOCK_SHARED"
                                           : "UNKNOWN";
}

int64_t status_bytes(const MPI_Status& status)
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
    Message* const copy = static_cast<Message*>(malloc(sizeof(Message)));
    if (copy == nullptr)
        return;
    *copy = message;
    add_reference(*message.comm);
    const MutexLock lock(message_mutex);
    if (messages == nullptr)
        messages = g_hash_table_new(g_direct_hash, g_direct_equal);
    g_hash_table_replace(messages, key_of(handle), copy);
}

MatchedMessage::MatchedMessage(const MPI_Message* handle)
{
    const MutexLock lock(message_mutex);
    if (messages == nullptr || handle == nullptr)
        return;
    Message* const known = static_cast<Message*>(g_hash_table_lookup(messages, key_of(*handle)));
    if (known == nullptr)
        return;
    static_cast<Message&>(*this) = *known; // with its reference to the communicator
    g_hash_table_remove(messages, key_of(*handle));
    free(known);
}

Received::Received(const Comm& comm, int source_argument, int tag_argument, bool has_message, const MPI_Status& status)
    : posted_source(world_rank(comm, source_argument)), posted_tag(tag_value(tag_argument)), source(posted_source),
      tag(posted_tag), is_known(has_message)
{
    if (!has_message)
        return;
    source = world_rank(comm, status.MPI_SOURCE);
    tag = tag_value(status.MPI_TAG);
    size = status_bytes(status);
}

void Received::put_posted(Element& element) const
{
    if (posted_source != source)
        element.text(" postedRank='").number(posted_source).text("'");
    if (posted_tag != tag)
        element.text(" postedTag='").number(posted_tag).text("'");
}

void put_completed(Element& element, const Request& request, const MPI_Status& status)
{
    element.child("<For rid='").number(request.rid);
    int is_cancelled = 0;
    if (request.is_cancelled)
        real.MPI_Test_cancelled(&status, &is_cancelled);
    if (is_cancelled) {
        element.text("' cancelled='1");
    } else if (request.kind == RequestKind::receive_from_nobody) {
        element.text("' fromRank='").number(no_process).text("' fromTag='-1' size='0");
    } else if (request.kind == RequestKind::receive && status.MPI_SOURCE != no_source_yet) {
        const Comm& comm = request.comm != nullptr ? *request.comm : null_comm;
        const Received received(comm, MPI_ANY_SOURCE, MPI_ANY_TAG, true, status);
        element.text("' fromRank='").number(received.source).text("' fromTag='").number(received.tag);
        element.text("' size='").number(received.size);
    }
    element.text("'").end_child();
}

} // namespace hdtrace::mpi
