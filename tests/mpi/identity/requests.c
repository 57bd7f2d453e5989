/* Random operations that are started, moved, completed, cancelled and freed: requests SEED ROUNDS.

   All ranks plan each round's messages and collectives from the same random numbers, start all of it and then
   complete it in their own random ways, so nobody waits for what is never started. Each rank counts its
   operations by itself and notes in log-<rank> what each call has to say about them; test_requests.py
   compares that with the trace.

   A note is a call's name and words: start:RID init:RID for:RID[:SOURCE:TAG:BYTES] cancelled:RID pending:RID
   names:RID and attributes. Lines that start with a dot tell of handles: ".handle RID BITS" and ".moved RID".
 */
#include "../programs/check.h"

#include "random.h"

#include <stdarg.h>

enum {
    NOBODY = -1,
    SLOTS = 96,
    CHANNELS = 6,
    MESSAGES = 10,
    HEADER = 3 * sizeof(int),
    LARGEST = 300000,
    CHANNEL_TAG = 1000,
    UNMATCHED_TAG = 2000,
    FILE_BYTES = 64
};

typedef struct Operation {
    long rid;                 /* of the operation, while it is active; else of the last one */
    long init_rid;            /* NOBODY if it is not persistent */
    const MPI_Request* place; /* where MPI stored the handle */
    int is_active, is_moved, is_cancelled, is_request_of_user;
    int is_stuck;   /* ends only by MPI_Cancel or MPI_Grequest_complete */
    int is_fragile; /* with MPICH 4.0 some plans abort inside the library unless requests of files are
                       completed by themselves */
    int is_receive;
    int source, tag, bytes; /* what will arrive; source is NOBODY where only the message itself tells */
    char* buffer;
    MPI_Comm* made; /* by MPI_Comm_idup */
} Operation;

/* A message of the round's plan. */
typedef struct Message {
    int source, target, tag, bytes;
    int is_wild; /* received with any source and any tag, on a communicator where all receives are like that
                  */
    enum { ISEND, ISSEND, IBSEND, IRSEND, FREED, SEND_WAYS } send_way;
    enum { IRECV, IRECV_ANY_SOURCE, IMRECV, RECEIVE_WAYS } receive_way;
} Message;

/* A pair of persistent requests that may live for several rounds. */
typedef struct Channel {
    int source, target, bytes, send_way, is_open;
    Operation *sender, *receiver;
    int is_started;
} Channel;

static FILE* log_file;
static long rid_count;
static Random plan, own; /* the same numbers on all ranks, and this rank's */

/* All requests; owners[i] is null where slots[i] is. The two arrays take turns when everything is moved. */
static MPI_Request slot_arrays[2][SLOTS], *slots = slot_arrays[0];
static Operation* owners[SLOTS];
static int slot_count;

static MPI_Comm reversed; /* the world backwards, so that its ranks are not those of the world */
static MPI_File own_file, common_file;
static Channel channels[CHANNELS];
static char* attached;

/* --- notes --- */

__attribute__((format(printf, 1, 2))) static void note(const char* format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vfprintf(log_file, format, arguments);
    va_end(arguments);
}

static void note_handle(const Operation* operation, MPI_Request handle)
{
    unsigned long long bits = 0;
    memcpy(&bits, &handle, sizeof handle);
    note(".handle %ld %llx\n", operation->rid, bits);
}

static void note_completed(const Operation* operation)
{
    int header[3] = {operation->source, operation->tag, operation->bytes};
    if (operation->is_cancelled) {
        note(" cancelled:%ld", operation->rid);
    } else if (operation->is_receive) {
        if (operation->source == NOBODY) {
            memcpy(header, operation->buffer, sizeof header);
        }
        note(" for:%ld:%d:%d:%d", operation->rid, header[0], header[1], header[2]);
    } else {
        note(" for:%ld", operation->rid);
    }
}

/* --- slots --- */

static MPI_Request* new_slot(Operation** operation)
{
    CHECK(slot_count < SLOTS);
    *operation = owners[slot_count] = calloc(1, sizeof(Operation));
    (*operation)->init_rid = NOBODY;
    (*operation)->place = &slots[slot_count];
    return &slots[slot_count++];
}

static int slot_of(const Operation* operation)
{
    for (int i = 0; i < slot_count; ++i) {
        if (owners[i] == operation) {
            return i;
        }
    }
    return NOBODY;
}

static void forget(Operation* operation)
{
    const int i = slot_of(operation);
    if (i != NOBODY) {
        owners[i] = NULL;
    }
    free(operation);
}

static void drop_empty_slots(void)
{
    int kept = 0;
    for (int i = 0; i < slot_count; ++i) {
        if (owners[i] != NULL) {
            owners[kept] = owners[i];
            slots[kept++] = slots[i];
        }
    }
    slot_count = kept;
}

/* Null requests stand between others as well. */
static void add_null(void)
{
    CHECK(slot_count < SLOTS);
    owners[slot_count] = NULL;
    slots[slot_count++] = MPI_REQUEST_NULL;
}

static void swap_slots(int a, int b)
{
    const MPI_Request request = slots[a];
    Operation* const owner = owners[a];
    slots[a] = slots[b];
    owners[a] = owners[b];
    slots[b] = request;
    owners[b] = owner;
}

static void move_all(void)
{
    MPI_Request* const other = slots == slot_arrays[0] ? slot_arrays[1] : slot_arrays[0];
    memcpy(other, slots, sizeof slot_arrays[0]);
    memset(slots, 0x5a, sizeof slot_arrays[0]);
    slots = other;
}

/* Before each call: which handles are not where MPI stored them. */
static void note_moved(const MPI_Request* requests, int first, int count)
{
    for (int i = 0; i < count; ++i) {
        Operation* const owner = owners[first + i];
        if (owner != NULL && owner->is_active && owner->place != &requests[i] && !owner->is_moved) {
            owner->is_moved = 1;
            note(".moved %ld\n", owner->rid);
        }
    }
}

/* --- starting --- */

static void started(Operation* operation, const char* name)
{
    operation->rid = rid_count++;
    operation->is_active = 1;
    note_handle(operation, slots[slot_of(operation)]);
    note("%s start:%ld\n", name, operation->rid);
}

static void initialised(Operation* operation, const char* name)
{
    operation->rid = operation->init_rid = rid_count++;
    note("%s init:%ld\n", name, operation->rid);
}

static char* message_buffer(const Message* message)
{
    char* const buffer = malloc(LARGEST);
    const int header[3] = {message->source, message->tag, message->bytes};
    memcpy(buffer, header, sizeof header);
    return buffer;
}

static void start_send(const Message* message)
{
    static int (*const functions[])(const void*, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request*) = {
        MPI_Isend, MPI_Issend, MPI_Ibsend, MPI_Irsend, MPI_Isend};
    static const char* const names[] = {"Isend", "Issend", "Ibsend", "Irsend", "Isend"};
    Operation* operation;
    MPI_Request* const request = new_slot(&operation);
    operation->buffer = message_buffer(message);
    functions[message->send_way](operation->buffer, message->bytes, MPI_BYTE,
                                 message->is_wild ? size - 1 - message->target : message->target,
                                 message->tag, message->is_wild ? reversed : MPI_COMM_WORLD, request);
    started(operation, names[message->send_way]);
    if (message->send_way == FREED) {
        MPI_Request_free(request);
        note("Request_free names:%ld\n", operation->rid);
        forget(operation); /* its buffer is left to MPI */
    }
}

static Operation* new_receive(const Message* message, MPI_Request** request)
{
    Operation* operation;
    *request = new_slot(&operation);
    operation->buffer = malloc(LARGEST);
    operation->is_receive = 1;
    operation->source = message->is_wild ? NOBODY : message->source;
    operation->tag = message->tag;
    operation->bytes = message->bytes;
    return operation;
}

static void post_receive(const Message* message)
{
    MPI_Request* request;
    Operation* const operation = new_receive(message, &request);
    if (message->is_wild) {
        MPI_Irecv(operation->buffer, LARGEST, MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG, reversed, request);
    } else {
        MPI_Irecv(operation->buffer, LARGEST, MPI_BYTE,
                  message->receive_way == IRECV_ANY_SOURCE ? MPI_ANY_SOURCE : message->source, message->tag,
                  MPI_COMM_WORLD, request);
    }
    started(operation, "Irecv");
}

static void start_matched_receive(const Message* message)
{
    MPI_Message matched;
    if (message->is_wild) {
        MPI_Mprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, reversed, &matched, MPI_STATUS_IGNORE);
    } else {
        MPI_Mprobe(message->source, message->tag, MPI_COMM_WORLD, &matched, MPI_STATUS_IGNORE);
    }
    MPI_Request* request;
    Operation* const operation = new_receive(message, &request);
    MPI_Imrecv(operation->buffer, LARGEST, MPI_BYTE, &matched, request);
    started(operation, "Imrecv");
}

static void start_with_nobody(void)
{
    const Message message = {.source = MPI_PROC_NULL, .target = MPI_PROC_NULL};
    MPI_Request* request;
    Operation* operation;
    if (one_in(&own, 2)) {
        request = new_slot(&operation);
        MPI_Isend(NULL, 0, MPI_BYTE, MPI_PROC_NULL, 5, MPI_COMM_WORLD, request);
        started(operation, "Isend");
        return;
    }
    operation = new_receive(&message, &request);
    operation->source = -2;
    operation->tag = -1;
    if (one_in(&own, 2)) {
        MPI_Irecv(operation->buffer, 4, MPI_BYTE, MPI_PROC_NULL, MPI_ANY_TAG, MPI_COMM_WORLD, request);
        started(operation, "Irecv");
    } else {
        MPI_Message matched;
        MPI_Mprobe(MPI_PROC_NULL, MPI_ANY_TAG, MPI_COMM_WORLD, &matched, MPI_STATUS_IGNORE);
        MPI_Imrecv(operation->buffer, 4, MPI_BYTE, &matched, request);
        started(operation, "Imrecv");
    }
}

static void start_unmatched_receive(void)
{
    const Message nothing = {.source = 0};
    MPI_Request* request;
    Operation* const operation = new_receive(&nothing, &request);
    MPI_Irecv(operation->buffer, 4, MPI_BYTE, MPI_ANY_SOURCE, UNMATCHED_TAG, MPI_COMM_WORLD, request);
    operation->is_stuck = 1;
    started(operation, "Irecv");
}

static int query(void* state, MPI_Status* status)
{
    (void)state;
    MPI_Status_set_elements(status, MPI_BYTE, 0);
    MPI_Status_set_cancelled(status, 0);
    status->MPI_SOURCE = MPI_UNDEFINED;
    status->MPI_TAG = MPI_UNDEFINED;
    return MPI_SUCCESS;
}

static int release(void* state)
{
    (void)state;
    return MPI_SUCCESS;
}

static int cancel(void* state, int is_complete)
{
    (void)state;
    (void)is_complete;
    return MPI_SUCCESS;
}

static void start_request_of_user(void)
{
    Operation* operation;
    MPI_Request* const request = new_slot(&operation);
    MPI_Grequest_start(query, release, cancel, NULL, request);
    operation->is_request_of_user = operation->is_stuck = 1;
    started(operation, "Grequest_start");
}

static void start_file_access(void)
{
    static const char* const names[] = {"File_iwrite_at", "File_iread_at", "File_iwrite", "File_iread"};
    Operation* operation;
    MPI_Request* const request = new_slot(&operation);
    const int way = below(&own, 4);
    operation->buffer = calloc(1, FILE_BYTES);
    if (way == 0) {
        CHECK_MPI(MPI_File_iwrite_at(own_file, 0, operation->buffer, FILE_BYTES, MPI_BYTE, request));
    } else if (way == 1) {
        CHECK_MPI(MPI_File_iread_at(own_file, 0, operation->buffer, FILE_BYTES, MPI_BYTE, request));
    } else if (way == 2) {
        CHECK_MPI(MPI_File_iwrite(own_file, operation->buffer, FILE_BYTES, MPI_BYTE, request));
    } else {
        CHECK_MPI(MPI_File_iread(own_file, operation->buffer, FILE_BYTES, MPI_BYTE, request));
    }
#ifdef MPICH
    operation->is_fragile = 1;
#endif
    started(operation, names[way]);
}

/* The kind comes from the plan, or is one that a communicator with one member allows. */
static void start_collective(int kind, MPI_Comm comm)
{
    static const char* const names[] = {"Ibarrier", "Ibcast", "Iallreduce", "Ialltoall", "Comm_idup"};
    Operation* operation;
    MPI_Request* const request = new_slot(&operation);
    int *const in = calloc(2 * MOST_RANKS, sizeof(int)), *const out = in + MOST_RANKS;
    operation->buffer = (char*)in;
    switch (kind) {
    case 0:
        MPI_Ibarrier(comm, request);
        break;
    case 1:
        MPI_Ibcast(in, 4, MPI_INT, 0, comm, request);
        break;
    case 2:
        MPI_Iallreduce(in, out, 1, MPI_INT, MPI_SUM, comm, request);
        break;
    case 3:
        MPI_Ialltoall(in, 1, MPI_INT, out, 1, MPI_INT, comm, request);
        break;
    default:
        operation->made = malloc(sizeof(MPI_Comm));
        MPI_Comm_idup(comm, operation->made, request);
    }
    started(operation, names[kind]);
}

static void start_collective_write(int round)
{
    Operation* operation;
    MPI_Request* const request = new_slot(&operation);
    operation->buffer = calloc(1, FILE_BYTES);
    CHECK_MPI(MPI_File_iwrite_at_all(common_file, (MPI_Offset)FILE_BYTES * (round * size + rank),
                                     operation->buffer, FILE_BYTES, MPI_BYTE, request));
    started(operation, "File_iwrite_at_all");
}

/* --- persistent requests --- */

static void open_sender(Channel* channel, int tag)
{
    static int (*const functions[])(const void*, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request*) = {
        MPI_Send_init, MPI_Ssend_init, MPI_Bsend_init, MPI_Rsend_init};
    static const char* const names[] = {"Send_init", "Ssend_init", "Bsend_init", "Rsend_init"};
    const Message message = {.source = channel->source, .tag = tag, .bytes = channel->bytes};
    MPI_Request* const request = new_slot(&channel->sender);
    channel->sender->buffer = message_buffer(&message);
    functions[channel->send_way](channel->sender->buffer, channel->bytes, MPI_BYTE, channel->target, tag,
                                 MPI_COMM_WORLD, request);
    initialised(channel->sender, names[channel->send_way]);
}

static void open_receiver(Channel* channel, int tag)
{
    const Message message = {.source = channel->source, .tag = tag, .bytes = channel->bytes};
    MPI_Request* request;
    channel->receiver = new_receive(&message, &request);
    MPI_Recv_init(channel->receiver->buffer, LARGEST, MPI_BYTE,
                  one_in(&own, 2) ? MPI_ANY_SOURCE : channel->source, tag, MPI_COMM_WORLD, request);
    initialised(channel->receiver, "Recv_init");
}

static void open_channels(void)
{
    static const int bytes[] = {0, 12, 3000, 70000};
    for (int i = 0; i < CHANNELS; ++i) {
        Channel* const channel = &channels[i];
        const int is_wanted = one_in(&plan, 3), source = below(&plan, size), target = below(&plan, size);
        const int length = bytes[below(&plan, LENGTH(bytes))], way = below(&plan, 4);
        if (channel->is_open && rank == channel->source && channel->sender == NULL) {
            open_sender(channel, CHANNEL_TAG + i); /* it was freed while it was active */
        }
        if (channel->is_open || !is_wanted) {
            continue;
        }
        *channel = (Channel){source, target, way == 2 && length > 3000 ? 12 : length, way, 1, NULL, NULL, 0};
        if (rank == source) {
            open_sender(channel, CHANNEL_TAG + i);
        }
        if (rank == target) {
            open_receiver(channel, CHANNEL_TAG + i);
        }
    }
}

static void free_inactive(Operation* operation)
{
    const int i = slot_of(operation);
    MPI_Request_free(&slots[i]);
    CHECK(slots[i] == MPI_REQUEST_NULL);
    note("Request_free names:%ld\n", operation->init_rid);
    forget(operation);
}

static void close_channels(int all)
{
    for (int i = 0; i < CHANNELS; ++i) {
        Channel* const channel = &channels[i];
        if (!channel->is_open || !(one_in(&plan, 3) || all)) {
            continue;
        }
        channel->is_open = 0;
        if (channel->sender != NULL) {
            free_inactive(channel->sender);
        }
        if (channel->receiver != NULL) {
            free_inactive(channel->receiver);
        }
    }
}

static void choose_channels(void)
{
    for (int i = 0; i < CHANNELS; ++i) {
        channels[i].is_started = one_in(&plan, 2) && channels[i].is_open;
    }
}

static void restart(Operation* operation)
{
    operation->rid = rid_count++;
    operation->is_active = 1;
    operation->is_moved = 0;
}

static void start_persistent(Operation* const* operations, int count)
{
    MPI_Request together[2 * CHANNELS];
    if (count > 1 && one_in(&own, 2)) {
        for (int i = 0; i < count; ++i) {
            together[i] = slots[slot_of(operations[i])];
        }
        MPI_Startall(count, together);
        for (int i = 0; i < count; ++i) {
            restart(operations[i]);
            note_handle(operations[i], together[i]);
        }
        note("Startall count=%d", count);
        for (int i = 0; i < count; ++i) {
            note(" start:%ld:%ld", operations[i]->rid, operations[i]->init_rid);
        }
        note("\n");
        return;
    }
    for (int i = 0; i < count; ++i) {
        MPI_Start(&slots[slot_of(operations[i])]);
        restart(operations[i]);
        note_handle(operations[i], slots[slot_of(operations[i])]);
        note("Start start:%ld:%ld\n", operations[i]->rid, operations[i]->init_rid);
    }
}

static void start_channels(int is_receiving)
{
    Operation* chosen[CHANNELS];
    int count = 0;
    for (int i = 0; i < CHANNELS; ++i) {
        Operation* const operation = is_receiving ? channels[i].receiver : channels[i].sender;
        if (channels[i].is_started && operation != NULL) {
            chosen[count++] = operation;
        }
    }
    start_persistent(chosen, count);
}

/* An active persistent send may be freed as well: it ends by itself. (Not in MPICH 4.0, which aborts on
 * that.) */
static void free_active_senders(void)
{
#ifndef MPICH
    for (int i = 0; i < CHANNELS; ++i) {
        Channel* const channel = &channels[i];
        const int is_chosen = one_in(&own, 6);
        if (channel->is_started && is_chosen && channel->sender != NULL) {
            MPI_Request_free(&slots[slot_of(channel->sender)]);
            note("Request_free names:%ld\n", channel->sender->init_rid);
            note(".gone %ld\n", channel->sender->rid);
            forget(channel->sender);
            channel->sender = NULL;
        }
    }
#endif
}

/* --- completing --- */

static int is_active(int i)
{
    return owners[i] != NULL && owners[i]->is_active;
}

static int count_active(int first, int count, int only_unstuck)
{
    int active = 0;
    for (int i = first; i < first + count; ++i) {
        active += is_active(i) && !(only_unstuck && owners[i]->is_stuck);
    }
    return active;
}

static int count_fragile(int first, int count)
{
    int fragile = 0;
    for (int i = first; i < first + count; ++i) {
        fragile += is_active(i) && owners[i]->is_fragile;
    }
    return fragile;
}

static void completed(int i)
{
    Operation* const operation = owners[i];
    note_completed(operation);
    operation->is_active = 0;
    if (operation->made != NULL) {
        MPI_Comm_free(operation->made);
        free(operation->made);
    }
    if (operation->init_rid == NOBODY) {
        CHECK(slots[i] == MPI_REQUEST_NULL);
        free(operation->buffer);
        forget(operation);
    }
}

static void note_pending(int first, int count)
{
    for (int i = first; i < first + count; ++i) {
        if (is_active(i)) {
            note(" pending:%ld", owners[i]->rid);
        }
    }
    note("\n");
}

static void all_completed(int first, int count)
{
    for (int i = first; i < first + count; ++i) {
        if (is_active(i)) {
            completed(i);
        }
    }
}

/* One call for the slots from `first` on. Handles are given where they are, or in a copy. */
static void complete(int first, int count)
{
    enum { WAIT, WAITALL, WAITANY, WAITSOME, TEST, TESTALL, TESTANY, TESTSOME, WAYS };
    static const char* const names[] = {"Wait", "Waitall", "Waitany", "Waitsome",
                                        "Test", "Testall", "Testany", "Testsome"};
    MPI_Request copies[SLOTS];
    MPI_Status own_statuses[SLOTS], *const statuses = one_in(&own, 2) ? own_statuses : MPI_STATUSES_IGNORE;
    MPI_Status* const status = statuses == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE : statuses;
    int indices[SLOTS], index = 0, flag = 1, outcount = 0;
    const int is_copied = one_in(&own, 4), way = below(&own, WAYS);
    if (way == WAIT || way == TEST) {
        count = 1;
    }
    const int active = count_active(first, count, 0), unstuck = count_active(first, count, 1);
    if (count > 1 && count_fragile(first, count) > 0) {
        return;
    }
    if ((way == WAIT || way == WAITALL) ? unstuck < active
                                        : (way == WAITANY || way == WAITSOME) && unstuck == 0 && active > 0) {
        return; /* it would wait for ever */
    }
    MPI_Request* const requests = is_copied ? copies : &slots[first];
    memcpy(copies, &slots[first], (size_t)count * sizeof(MPI_Request));
    note_moved(requests, first, count);
    switch (way) {
    case WAIT:
        MPI_Wait(requests, status);
        break;
    case WAITALL:
        MPI_Waitall(count, requests, statuses);
        break;
    case WAITANY:
        MPI_Waitany(count, requests, &index, status);
        break;
    case WAITSOME:
        MPI_Waitsome(count, requests, &outcount, indices, statuses);
        break;
    case TEST:
        MPI_Test(requests, &flag, status);
        break;
    case TESTALL:
        MPI_Testall(count, requests, &flag, statuses);
        break;
    case TESTANY:
        MPI_Testany(count, requests, &index, &flag, status);
        break;
    default:
        MPI_Testsome(count, requests, &outcount, indices, statuses);
    }
    if (is_copied) {
        memcpy(&slots[first], copies, (size_t)count * sizeof(MPI_Request));
    }
    note("%s", names[way]);
    if (way != WAIT && way != TEST) {
        note(" count=%d", count);
    }
    if (way == TEST || way == TESTALL || way == TESTANY) {
        note(" flag=%d", flag);
    }
    if (way == WAITANY || way == TESTANY) {
        index = flag && index != MPI_UNDEFINED ? index : -1;
        note(" index=%d", index);
        if (index >= 0) {
            completed(first + index);
        }
    } else if (way == WAITSOME || way == TESTSOME) {
        outcount = outcount == MPI_UNDEFINED ? -1 : outcount;
        note(" outcount=%d", outcount);
        for (int i = 0; i < outcount; ++i) {
            completed(first + indices[i]);
        }
    } else if (flag) {
        all_completed(first, count);
    }
    note_pending(first, count);
}

static void unstick(Operation* operation)
{
    const int i = slot_of(operation);
    operation->is_stuck = 0;
    if (operation->is_request_of_user) {
        MPI_Grequest_complete(slots[i]);
        note("Grequest_complete names:%ld\n", operation->rid);
    } else {
        MPI_Cancel(&slots[i]);
        operation->is_cancelled = 1;
        note("Cancel names:%ld\n", operation->rid);
    }
}

static int may_ask; /* whether the MPI library survives it */

static void ask(int i)
{
    int flag;
    if (may_ask && is_active(i)) {
        MPI_Request_get_status(slots[i], &flag, MPI_STATUS_IGNORE);
        note("Request_get_status flag=%d names:%ld\n", flag, owners[i]->rid);
    }
}

static void complete_everything(int may_move)
{
    while (count_active(0, slot_count, 0) > 0) {
        const int i = below(&own, slot_count);
        if (is_active(i) && owners[i]->is_stuck && one_in(&own, 2)) {
            unstick(owners[i]);
        }
        if (may_move && one_in(&own, 3)) {
            swap_slots(below(&own, slot_count), below(&own, slot_count));
        }
        if (may_move && one_in(&own, 6)) {
            move_all();
        }
        if (one_in(&own, 8)) {
            ask(below(&own, slot_count));
        }
        const int first = below(&own, slot_count);
        complete(first, 1 + below(&own, slot_count - first));
    }
}

/* --- rounds --- */

static int plan_messages(Message* messages)
{
    static const int bytes[] = {0, 12, 100, 5000, 70000, LARGEST};
    const int count = below(&plan, MESSAGES + 1);
    for (int i = 0; i < count; ++i) {
        Message* const message = &messages[i];
        *message = (Message){below(&plan, size),
                             below(&plan, size),
                             i,
                             bytes[below(&plan, LENGTH(bytes))],
                             one_in(&plan, 3),
                             0,
                             0};
        message->send_way = below(&plan, SEND_WAYS);
        message->receive_way = below(&plan, RECEIVE_WAYS);
        if (message->is_wild && message->bytes < (int)HEADER) {
            message->bytes = HEADER; /* it has to tell who it is */
        }
        if (message->bytes > 5000 && (message->send_way == IBSEND || message->send_way == FREED)) {
            message->bytes = 100;
        }
        if (message->send_way == IRSEND) {
            message->receive_way = IRECV;
            message->is_wild =
                0; /* another rank's message might take the receive that is there for this one */
        }
    }
    return count;
}

static void start_something_own(void)
{
    switch (below(&own, 6)) {
    case 0:
        start_with_nobody();
        break;
    case 1:
        start_unmatched_receive();
        break;
    case 2:
        start_request_of_user();
        break;
    case 3:
        start_file_access();
        break;
    case 4:
        start_collective(below(&own, 4), MPI_COMM_SELF);
        break;
    default:
        add_null();
    }
}

static void play_round(int round)
{
    Message messages[MESSAGES];
    const int message_count = plan_messages(messages), collectives = below(&plan, 4);
    open_channels();
    choose_channels();
    for (int i = 0; i < message_count; ++i) {
        if (messages[i].target == rank && messages[i].receive_way != IMRECV) {
            post_receive(&messages[i]);
        }
    }
    start_channels(1);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < message_count; ++i) {
        if (messages[i].source == rank) {
            start_send(&messages[i]);
        }
        if (one_in(&own, 4)) {
            start_something_own();
        }
    }
    start_channels(0);
    free_active_senders();
    for (int i = 0; i < collectives; ++i) {
        const int kind = below(&plan, 6);
        if (kind == 5) {
            start_collective_write(round);
        } else {
            start_collective(kind, one_in(&plan, 2) ? reversed : MPI_COMM_WORLD);
        }
    }
    for (int i = 0; i < message_count; ++i) {
        if (messages[i].target == rank && messages[i].receive_way == IMRECV) {
            start_matched_receive(&messages[i]);
        }
    }
    complete_everything(one_in(&own, 2));
    close_channels(0);
    drop_empty_slots();
}

static MPI_File open_file(const char* name, MPI_Comm comm)
{
    MPI_File file;
    CHECK_MPI(MPI_File_open(comm, name, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file));
    return file;
}

int main(int argc, char** argv)
{
    begin(&argc, &argv);
    CHECK(argc == 4);
    char name[40];
    const Random seed = (Random)atoi(argv[1]);
    const int rounds = atoi(argv[2]);
    may_ask = atoi(argv[3]);
    plan = seed * 1000;
    own = seed * 1000 + (Random)rank + 1;
    snprintf(name, sizeof name, "log-%d", rank);
    log_file = fopen(name, "w");
    snprintf(name, sizeof name, "own-%d.data", rank);
    own_file = open_file(name, MPI_COMM_SELF);
    /* Open MPI 4.1 never completes a non-blocking read at the end of the file. */
    CHECK_MPI(MPI_File_set_size(own_file, 1 << 20));
    common_file = open_file("common.data", MPI_COMM_WORLD);
    MPI_Comm_split(MPI_COMM_WORLD, 0, size - rank, &reversed);
    attached = malloc(1 << 20);
    MPI_Buffer_attach(attached, 1 << 20);
    for (int round = 0; round < rounds; ++round) {
        play_round(round);
    }
    close_channels(1);
    void* buffer;
    int bytes;
    MPI_Buffer_detach(&buffer, &bytes);
    MPI_Comm_free(&reversed);
    CHECK_MPI(MPI_File_close(&own_file));
    CHECK_MPI(MPI_File_close(&common_file));
    fclose(log_file);
    return finish();
}
