#include "mpiwrapper/runtime/objects/messages.h"

#include "hdtrace/writer/own_memory.h"
#include "hdtrace/writer/undisturbed.h"
#include "mpiwrapper/runtime/objects/lock.h"

#include <stdlib.h>

namespace hdtrace::mpi {

namespace {

struct KnownMessage : TableEntry<KnownMessage> {
    Message message;
};

pthread_mutex_t mutex = HDTRACE_MUTEX_INITIALIZER; // for the table
constinit ObjectTable<KnownMessage> messages;      // by handle
int64_t message_count = 0;                         // that were ever added

// With its reference to the communicator. False if memory is short.
bool add(MPI_Message handle, const Message& message)
{
    const MutexLock lock(mutex);
    KnownMessage* const known =
        lock.held() ? static_cast<KnownMessage*>(own_malloc(sizeof(KnownMessage))) : nullptr;
    if (known == nullptr)
        return false;
    known->message = message;
    messages.add(handle_bits(handle), known);
    return true;
}

} // namespace

int64_t add_message(MPI_Message handle, Message message)
{
    if (handle == MPI_MESSAGE_NULL || handle == MPI_MESSAGE_NO_PROC)
        return -1;
    message.id = __atomic_fetch_add(&message_count, 1, __ATOMIC_RELAXED);
    add_reference(*message.comm);
    if (add(handle, message))
        return message.id;
    drop_reference(*message.comm);
    return -1;
}

MatchedMessage::MatchedMessage(const MPI_Message* handle) : m_variable(handle)
{
    const MutexLock lock(mutex);
    KnownMessage* const known =
        lock.held() && handle != nullptr ? messages.find(handle_bits(*handle)) : nullptr;
    if (known == nullptr)
        return;
    static_cast<Message&>(*this) = known->message; // with its reference to the communicator
    messages.remove(known);
    own_free(known);
    m_handle = *handle;
}

MatchedMessage::~MatchedMessage()
{
    const bool is_left = m_handle != MPI_MESSAGE_NULL && *m_variable == m_handle;
    if (!is_left || !add(m_handle, *this))
        drop_reference(*comm);
}

} // namespace hdtrace::mpi
