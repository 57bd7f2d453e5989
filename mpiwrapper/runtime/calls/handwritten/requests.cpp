// Calls that start, cancel or free requests.
#include "mpiwrapper/runtime/objects/requests.h"
#include "mpiwrapper/runtime/buffers/buffers.h"
#include "mpiwrapper/runtime/objects/request_view.h"

using namespace hdtrace;
using namespace hdtrace::mpi;

namespace {

MPI_Request handle_in(const MPI_Request* request)
{
    return request != nullptr ? *request : MPI_REQUEST_NULL;
}

// The handles that MPI_Startall was given, which it may replace.
class HandlesBefore {
  public:
    HandlesBefore(Call& call, int count, const MPI_Request* requests) : m_call(call), m_count(count)
    {
        if (requests == nullptr || count < 0)
            m_count = 0;
        const size_t bytes = static_cast<size_t>(m_count) * sizeof(MPI_Request);
        m_handles = static_cast<MPI_Request*>(call.thread().handles.take(bytes));
        if (m_handles == nullptr)
            m_count = 0; // memory is short: the call is recorded without its requests
        if (m_count > 0)
            memcpy(m_handles, requests, bytes);
    }
    ~HandlesBefore() { m_call.first_thread().handles.give_back(m_handles); }
    HandlesBefore(const HandlesBefore&) = delete;
    HandlesBefore& operator=(const HandlesBefore&) = delete;

    int count() const { return m_count; }
    const MPI_Request* data() const { return m_handles; }
    MPI_Request operator[](int index) const { return m_handles[index]; }

  private:
    Call& m_call;
    int m_count;
    MPI_Request* m_handles;
};

// An attribute for a request.
constexpr Argument request_argument(const char* start, decltype(Argument::find) find)
{
    return {.kind = Argument::Kind::found,
            .value = 0,
            .start = start,
            .item_size = sizeof(MPI_Request),
            .find = find};
}

void set_request(OpenState& state, MPI_Request handle, const MPI_Request* variable)
{
    state.set(0, static_cast<int64_t>(handle_bits(handle)));
    state.set(1, variable);
}

// Adds up what a call starts.
void add_started(Figures& figures, Function function, const char* name, const Request& started)
{
    const PreparedTransfer transfer = find_prepared(started.init_rid);
    if (!transfer.volume)
        return;
    figures.volume = figures.volume.value_or(Volume());
    *figures.volume += *transfer.volume;
    if (transfer.receiver && *transfer.receiver != no_process)
        current_thread->sums->add_message(function, name, *transfer.receiver, transfer.volume->sent);
}

} // namespace

extern "C" HDT_EXPORT int MPI_Start(MPI_Request* request)
{
    static constexpr Argument arguments[] = {request_argument(" initRid='", find_init_rid)};
    static constexpr StateForm form = {"Start", arguments};
    Call call(Function::MPI_Start, Tracks::operations);
    if (call.passes())
        return real.MPI_Start(request);
    const MPI_Request before = handle_in(request);
    call.begin(form, [&](OpenState& state) {
        state.start(&form, 1);
        set_request(state, before, request);
    });
    const int rc = call.end(real.MPI_Start(request));
    const Request started = call.succeeded() ? start_request(before, *request, request) : Request();
    const auto get_figures = [&] {
        Figures figures;
        if (call.succeeded())
            add_started(figures, Function::MPI_Start, form.name, started);
        return figures;
    };
    if (call.is_to_be_written(get_figures)) {
        call.write([&](auto& element) {
            element.text("<Start rid='").number(started.rid);
            element.text("' initRid='").number(started.init_rid).text("'");
            call.finish_describing(element, [&](Buffers& buffers) { buffers.started(started); }).end("Start");
        });
    }
    return rc;
}
HDT_WRAPS(MPI_Start);

extern "C" HDT_EXPORT int MPI_Startall(int count, MPI_Request requests[])
{
    static constexpr Argument arguments[] = {{.kind = Argument::Kind::children,
                                              .value = 0,
                                              .start = "<Start initRid='",
                                              .item_size = sizeof(MPI_Request),
                                              .stride = sizeof(MPI_Request),
                                              .find = find_init_rid},
                                             {Argument::Kind::number, 3, " count='"}};
    static constexpr StateForm form = {"Startall", arguments};
    Call call(Function::MPI_Startall, Tracks::operations);
    if (call.passes())
        return real.MPI_Startall(count, requests);
    const HandlesBefore before(call, count, requests);
    call.begin(form, [&](OpenState& state) {
        state.start(&form, 0b11);
        state.set(0, before.data());
        state.set(1, requests);
        state.set(2, before.count());
        state.set(3, count);
    });
    const int rc = call.end(real.MPI_Startall(count, requests));
    const int started_count = call.succeeded() ? before.count() : 0;
    Figures figures;
    if (!call.is_plain() && (!call.is_recorded() || !keeps_states)) {
        const bool is_summed = call.is_recorded() && call.is_summed();
        for (int i = 0; i < started_count; ++i) {
            const Request started = start_request(before[i], requests[i], &requests[i]);
            if (is_summed)
                add_started(figures, Function::MPI_Startall, form.name, started);
        }
        if (is_summed)
            call.sum(figures);
        return rc;
    }
    call.write([&](auto& element) {
        element.text("<Startall count='").number(count).text("'");
        call.finish_attributes(element);
        for (int i = 0; i < started_count; ++i) {
            const Request started = start_request(before[i], requests[i], &requests[i]);
            if (!call.is_plain()) {
                call.follow_started(started);
                if (call.is_summed())
                    add_started(figures, Function::MPI_Startall, form.name, started);
            }
            element.child("<Start rid='").number(started.rid);
            element.text("' initRid='").number(started.init_rid).text("'").end_child();
        }
        if (!call.is_plain() && call.is_summed())
            call.sum(figures);
        element.end("Startall");
    });
    return rc;
}
HDT_WRAPS(MPI_Startall);

extern "C" HDT_EXPORT int MPI_Request_free(MPI_Request* request)
{
    static constexpr Argument arguments[] = {request_argument(" rid='", find_own_rid)};
    static constexpr StateForm form = {"Request_free", arguments};
    Call call(Function::MPI_Request_free, Tracks::operations);
    if (call.passes())
        return real.MPI_Request_free(request);
    const MPI_Request handle = handle_in(request);
    call.begin(form, [&](OpenState& state) {
        state.start(&form, 1);
        set_request(state, handle, request);
    });
    const int rc = call.end(real.MPI_Request_free(request));
    Request freed;
    if (call.succeeded())
        remove_request(handle, request, &freed);
    if (!call.is_plain() && keeps_sums)
        forget_prepared(freed.is_persistent ? freed.init_rid : freed.rid);
    if (call.is_to_be_written()) {
        call.write([&](auto& element) {
            element.text("<Request_free rid='").number(freed.is_persistent ? freed.init_rid : freed.rid);
            element.text("'");
            call.finish_describing(element, [&](Buffers& buffers) { buffers.freed(freed); })
                .end("Request_free");
        });
    }
    if (freed.comm != nullptr)
        drop_reference(*freed.comm);
    return rc;
}
HDT_WRAPS(MPI_Request_free);

extern "C" HDT_EXPORT int MPI_Cancel(MPI_Request* request)
{
    static constexpr Argument arguments[] = {request_argument(" rid='", find_active_rid)};
    static constexpr StateForm form = {"Cancel", arguments};
    Call call(Function::MPI_Cancel, Tracks::operations);
    if (call.passes())
        return real.MPI_Cancel(request);
    call.begin(form, [&](OpenState& state) {
        state.start(&form, 1);
        set_request(state, handle_in(request), request);
    });
    const int rc = call.end(real.MPI_Cancel(request));
    Request cancelled;
    if (call.succeeded() && find_request(*request, request, &cancelled))
        mark_cancelled(*request, request);
    if (call.is_to_be_written()) {
        call.write([&](auto& element) {
            element.text("<Cancel rid='").number(cancelled.rid).text("'");
            call.finish_attributes(element).end("Cancel");
        });
    }
    return rc;
}
HDT_WRAPS(MPI_Cancel);
