/* messages.c - steps that send and receive. */
#include <stdlib.h>

#include "steps.h"

/* Each process sends one message and receives one. */
typedef struct {
    int to, from; /* or MPI_PROC_NULL */
    MPI_Datatype base;
    int values;
    int seed_sent, seed_got;
    Layout sent, got; /* the latter may have room for more */
} Exchange;

static Exchange choose_exchange(Step* step, int partners, int rank)
{
    Exchange chosen;
    const int shift = below(&step->same, partners);
    const bool is_line = one_in(&step->same, 4);
    chosen.to = rank + shift;
    chosen.from = rank - shift;
    if (is_line) {
        chosen.to = chosen.to < partners ? chosen.to : MPI_PROC_NULL;
        chosen.from = chosen.from >= 0 ? chosen.from : MPI_PROC_NULL;
    } else {
        chosen.to %= partners;
        chosen.from = (chosen.from + partners) % partners;
    }
    chosen.base = choose_base(&step->same);
    chosen.values = below(&step->same, most_values);
    chosen.seed_sent = step->tag + rank;
    chosen.seed_got = step->tag + chosen.from;
    chosen.sent = make_layout(&step->own, chosen.base, chosen.values);
    chosen.got = make_layout(&step->own, chosen.base, chosen.values + below(&step->own, 3));
    fill(&chosen.sent, chosen.seed_sent);
    return chosen;
}

static void check_got(const Exchange* exchange, const Layout* got, MPI_Status* status)
{
    int values;
    const int expected = exchange->from == MPI_PROC_NULL ? 0 : exchange->values;
    MPI_Get_elements(status, got->type, &values);
    /* MPICH 4.0 does not say that an Imrecv was from nobody. */
    must(values == expected && (expected == 0 || status->MPI_SOURCE == exchange->from),
         "the status of a receive");
    compare(got, expected, exchange->seed_got, "a message");
}

static void end(Exchange* exchange, MPI_Status* status)
{
    check_got(exchange, &exchange->got, status);
    drop(&exchange->sent);
    drop(&exchange->got);
}

/* Sends in any mode that needs no receive that is there already; what is returned is to be completed. */
static MPI_Request send_somehow(Step* step, const Layout* sent, int to)
{
    MPI_Request request = MPI_REQUEST_NULL;
    const int count = sent->count, tag = step->tag;
    void* const memory = sent->memory;
    switch (below(&step->own, 4)) {
    case 0:
        MPI_Isend(memory, count, sent->type, to, tag, step->comm, &request);
        break;
    case 1:
        MPI_Issend(memory, count, sent->type, to, tag, step->comm, &request);
        break;
    case 2:
        MPI_Bsend(memory, count, sent->type, to, tag, step->comm);
        break;
    default:
        MPI_Ibsend(memory, count, sent->type, to, tag, step->comm, &request);
    }
    return request;
}

static void receive_somehow(Step* step, const Layout* got, int from, MPI_Status* status)
{
    const bool any_source = from != MPI_PROC_NULL && one_in(&step->own, 3);
    const int source = any_source ? MPI_ANY_SOURCE : from;
    const int tag = !any_source && one_in(&step->own, 3) ? MPI_ANY_TAG : step->tag;
    int found = 0;
    MPI_Message message;
    MPI_Request request;
#ifdef MPICH_VERSION /* whose 4.0 ends some processes in UCX that receive what they have probed */
    const int ways = 4;
#else
    const int ways = 6;
#endif
    switch (below(&step->own, ways)) {
    case 0:
        MPI_Probe(source, tag, step->comm, status);
        MPI_Recv(got->memory, got->count, got->type, status->MPI_SOURCE, status->MPI_TAG, step->comm, status);
        break;
    case 1:
        while (!found)
            MPI_Iprobe(source, tag, step->comm, &found, status);
        MPI_Recv(got->memory, got->count, got->type, source, tag, step->comm, status);
        break;
    case 4:
        MPI_Mprobe(source, tag, step->comm, &message, status);
        MPI_Mrecv(got->memory, got->count, got->type, &message, status);
        break;
    case 5:
        while (!found)
            MPI_Improbe(source, tag, step->comm, &found, &message, status);
        MPI_Imrecv(got->memory, got->count, got->type, &message, &request);
        MPI_Wait(&request, status);
        break;
    case 2:
        MPI_Irecv(got->memory, got->count, got->type, source, tag, step->comm, &request);
        MPI_Wait(&request, status);
        break;
    default:
        MPI_Recv(got->memory, got->count, got->type, source, tag, step->comm, status);
    }
}

static void receive_first(Step* step)
{
    Exchange exchange = choose_exchange(step, step->size, step->rank);
    const bool any_source = exchange.from != MPI_PROC_NULL && one_in(&step->own, 4);
    MPI_Request requests[3] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    MPI_Status statuses[3];
    MPI_Irecv(exchange.got.memory, exchange.got.count, exchange.got.type,
              any_source ? MPI_ANY_SOURCE : exchange.from, step->tag, step->comm, &requests[1]);
    if (one_in(&step->own, 2)) {
        if (one_in(&step->own, 2))
            MPI_Send(exchange.sent.memory, exchange.sent.count, exchange.sent.type, exchange.to, step->tag,
                     step->comm);
        else
            MPI_Ssend(exchange.sent.memory, exchange.sent.count, exchange.sent.type, exchange.to, step->tag,
                      step->comm);
    } else {
        requests[2] = send_somehow(step, &exchange.sent, exchange.to);
    }
    if (exchange.from != MPI_PROC_NULL && one_in(&step->own, 3)) {
        if (one_in(&step->own, 2))
            forget_type(&exchange.sent);
        complete_later(requests[1], exchange.got, exchange.values, exchange.seed_got, "a late message");
        if (requests[2] != MPI_REQUEST_NULL)
            complete_later(requests[2], exchange.sent, exchange.sent.is_made ? exchange.values : 0,
                           exchange.seed_sent, "a late send");
        else
            drop(&exchange.sent);
        return;
    }
    complete(&step->own, 3, requests, statuses);
    end(&exchange, &statuses[1]);
}

static void send_first(Step* step)
{
    Exchange exchange = choose_exchange(step, step->size, step->rank);
    MPI_Request request = send_somehow(step, &exchange.sent, exchange.to);
    MPI_Status status, ignored;
    if (one_in(&step->own, 3))
        forget_type(&exchange.sent);
    receive_somehow(step, &exchange.got, exchange.from, &status);
    complete(&step->own, 1, &request, &ignored);
    end(&exchange, &status);
}

static void send_and_receive(Step* step)
{
    Exchange exchange = choose_exchange(step, step->size, step->rank);
    MPI_Status status;
    if (one_in(&step->own, 2)) {
        MPI_Sendrecv(exchange.sent.memory, exchange.sent.count, exchange.sent.type, exchange.to, step->tag,
                     exchange.got.memory, exchange.got.count, exchange.got.type, exchange.from, step->tag,
                     step->comm, &status);
        end(&exchange, &status);
        return;
    }
    MPI_Sendrecv_replace(exchange.sent.memory, exchange.sent.count, exchange.sent.type, exchange.to,
                         step->tag, exchange.from, step->tag, step->comm, &status);
    if (exchange.from != MPI_PROC_NULL)
        check_got(&exchange, &exchange.sent, &status);
    drop(&exchange.sent);
    drop(&exchange.got);
}

static void send_when_ready(Step* step)
{
    Exchange exchange = choose_exchange(step, step->size, step->rank);
    MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    MPI_Status statuses[2];
    MPI_Irecv(exchange.got.memory, exchange.got.count, exchange.got.type, exchange.from, step->tag,
              step->comm, &requests[0]);
    MPI_Barrier(step->comm);
    if (one_in(&step->own, 2))
        MPI_Rsend(exchange.sent.memory, exchange.sent.count, exchange.sent.type, exchange.to, step->tag,
                  step->comm);
    else
        MPI_Irsend(exchange.sent.memory, exchange.sent.count, exchange.sent.type, exchange.to, step->tag,
                   step->comm, &requests[1]);
    complete(&step->own, 2, requests, statuses);
    end(&exchange, &statuses[0]);
}

static void persist(Step* step)
{
    Exchange exchange = choose_exchange(step, step->size, step->rank);
    const int rounds = 1 + below(&step->same, 3);
    MPI_Request requests[2];
    MPI_Status statuses[2];
    MPI_Recv_init(exchange.got.memory, exchange.got.count, exchange.got.type, exchange.from, step->tag,
                  step->comm, &requests[0]);
    if (one_in(&step->own, 2))
        MPI_Send_init(exchange.sent.memory, exchange.sent.count, exchange.sent.type, exchange.to, step->tag,
                      step->comm, &requests[1]);
    else
        MPI_Ssend_init(exchange.sent.memory, exchange.sent.count, exchange.sent.type, exchange.to, step->tag,
                       step->comm, &requests[1]);
    for (int round = 0; round < rounds; ++round) {
        if (one_in(&step->own, 2)) {
            MPI_Startall(2, requests);
        } else {
            MPI_Start(&requests[0]);
            MPI_Start(&requests[1]);
        }
        if (one_in(&step->own, 2))
            MPI_Waitall(2, requests, statuses);
        else
            for (int i = 1; i >= 0; --i)
                MPI_Wait(&requests[i], &statuses[i]);
        check_got(&exchange, &exchange.got, &statuses[0]);
    }
    if (one_in(&step->own, 3))
        MPI_Wait(&requests[0], MPI_STATUS_IGNORE); /* it is inactive */
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);
    drop(&exchange.sent);
    drop(&exchange.got);
}

static void pass_on(Step* step)
{
    int passed[2] = {0, 0};
    const int before = step->rank == 0 ? MPI_PROC_NULL : step->rank - 1;
    const int behind = step->rank == step->size - 1 ? MPI_PROC_NULL : step->rank + 1;
    MPI_Status status;
    receive_somehow(step, &(Layout){MPI_INT, 2, MPI_INT, 2, false, passed}, before, &status);
    must(passed[0] == step->rank, "what was passed on");
    ++passed[0];
    if (one_in(&step->own, 2))
        MPI_Send(passed, 2, MPI_INT, behind, step->tag, step->comm);
    else
        MPI_Ssend(passed, 1, MPI_2INT, behind, step->tag, step->comm);
}

static void send_to_all(Step* step)
{
    const int size = step->size;
    MPI_Request* const requests = malloc(sizeof *requests * 2 * (size_t)size);
    MPI_Status* const statuses = malloc(sizeof *statuses * 2 * (size_t)size);
    int* const numbers = malloc(sizeof *numbers * 2 * (size_t)size);
    for (int i = 0; i < size; ++i) {
        numbers[size + i] = 100 * step->rank + i;
        MPI_Irecv(&numbers[i], 1, MPI_INT, i, step->tag, step->comm, &requests[i]);
    }
    for (int i = 0; i < size; ++i) {
        if (one_in(&step->own, 2))
            MPI_Isend(&numbers[size + i], 1, MPI_INT, i, step->tag, step->comm, &requests[size + i]);
        else
            MPI_Issend(&numbers[size + i], 1, MPI_INT, i, step->tag, step->comm, &requests[size + i]);
    }
    complete(&step->own, 2 * size, requests, statuses);
    for (int i = 0; i < size; ++i)
        must(numbers[i] == 100 * i + step->rank && statuses[i].MPI_SOURCE == i, "a message to all");
    free(requests);
    free(statuses);
    free(numbers);
}

/* Who comes first is served first. */
static void send_to_one(Step* step)
{
    const int root = below(&step->same, step->size);
    int number = step->rank;
    if (step->rank != root) {
        MPI_Send(&number, 1, MPI_INT, root, step->tag, step->comm);
        return;
    }
    int sum = 0;
    for (int i = 1; i < step->size; ++i) {
        MPI_Status status;
        MPI_Recv(&number, 1, MPI_INT, MPI_ANY_SOURCE, step->tag, step->comm, &status);
        must(number == status.MPI_SOURCE, "who sent");
        sum += number;
    }
    must(sum == step->size * (step->size - 1) / 2 - root, "the sum of who sent");
}

static void cancel(Step* step)
{
    int never = 0, is_cancelled;
    MPI_Request request;
    MPI_Status status;
    MPI_Irecv(&never, 1, MPI_INT, step->rank, step->tag, step->comm, &request);
    MPI_Cancel(&request);
    complete(&step->own, 1, &request, &status);
    MPI_Test_cancelled(&status, &is_cancelled);
    must(is_cancelled, "a receive that was cancelled");
}

static void send_and_forget(Step* step)
{
    Exchange exchange = choose_exchange(step, step->size, step->rank);
    MPI_Request request;
    MPI_Status status;
    MPI_Isend(exchange.sent.memory, exchange.sent.count, exchange.sent.type, exchange.to, step->tag,
              step->comm, &request);
    MPI_Request_free(&request);
    receive_somehow(step, &exchange.got, exchange.from, &status);
    MPI_Sendrecv(NULL, 0, MPI_INT, exchange.from, step->tag + 1, NULL, 0, MPI_INT, exchange.to, step->tag + 1,
                 step->comm, MPI_STATUS_IGNORE); /* it has arrived */
    end(&exchange, &status);
}

void exchange_messages(Step* step)
{
    static void (*const ways[])(Step*) = {receive_first,    receive_first,   send_first, send_first,
                                          send_and_receive, send_when_ready, persist,    pass_on,
                                          send_to_all,      send_to_one,     cancel,     send_and_forget};
    ways[below(&step->same, sizeof ways / sizeof *ways)](step);
}

void exchange_with_remote_group(Step* step)
{
    const int partner = step->rank < step->remote_size ? step->rank : MPI_PROC_NULL;
    const int values = below(&step->same, most_values);
    const MPI_Datatype base = choose_base(&step->same);
    Layout sent = make_layout(&step->own, base, values), got = make_layout(&step->own, base, values);
    MPI_Request requests[2];
    MPI_Status statuses[2];
    fill(&sent, step->tag);
    MPI_Irecv(got.memory, got.count, got.type, partner, step->tag, step->comm, &requests[0]);
    MPI_Isend(sent.memory, sent.count, sent.type, partner, step->tag, step->comm, &requests[1]);
    complete(&step->own, 2, requests, statuses);
    if (partner != MPI_PROC_NULL)
        compare(&got, values, step->tag, "a message of the other group");
    drop(&sent);
    drop(&got);
}
