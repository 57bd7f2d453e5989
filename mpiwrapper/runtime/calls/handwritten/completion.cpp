// Calls that wait or test for the end of operations.
#include "mpiwrapper/runtime/buffers/buffers.h"
#include "mpiwrapper/runtime/calls/values.h"
#include "mpiwrapper/runtime/process/settings.h"

#include <algorithm>

using namespace hdtrace;
using namespace hdtrace::mpi;

namespace {

// MPICH does since it has this function.
bool takes_all_handles()
{
#ifdef HDT_HAS_MPI_Request_get_status_all
    char version[MPI_MAX_LIBRARY_VERSION_STRING];
    int length = 0;
    return real.MPI_Get_library_version(version, &length) == MPI_SUCCESS && strncmp(version, "MPICH", 5) == 0;
#else
    return false;
#endif
}

// The requests that a completion call was given, as they were before it: MPI overwrites those that it
// completes.
class Offered {
  public:
    Offered(Call& call, int count, MPI_Request* requests)
        : m_call(call), m_count(requests != nullptr && count > 0 ? count : 0), m_requests(requests)
    {
        m_offers =
            static_cast<Offer*>(call.thread().handles.take(static_cast<size_t>(m_count) * sizeof(Offer)));
        if (m_offers == nullptr)
            m_count = 0; // memory is short: the call is recorded without its requests
        for (int i = 0; i < m_count; ++i) {
            m_offers[i].handle = requests[i];
            m_offers[i].has_ended = false;
        }
    }
    ~Offered()
    {
        Thread& thread = m_call.first_thread();
        thread.handles.give_back(m_offers);
        thread.statuses.give_back(m_own_statuses);
    }
    Offered(const Offered&) = delete;
    Offered& operator=(const Offered&) = delete;

    /// Tells which operations are waited for.
    void set_arguments(OpenState& state) const
    {
        state.set(0, m_count > 0 ? &m_offers[0].handle : nullptr);
        state.set(1, m_requests);
        state.set(2, m_count);
    }

    /// Statuses to read; the program's own where it has some.
    MPI_Status* statuses(MPI_Status* given)
    {
        if (given != MPI_STATUSES_IGNORE || m_count == 0)
            return m_statuses = given;
        const size_t bytes = static_cast<size_t>(m_count) * sizeof(MPI_Status);
        m_statuses = m_own_statuses = static_cast<MPI_Status*>(m_call.thread().statuses.take(bytes));
        for (int i = 0; m_statuses != nullptr && i < m_count; ++i)
            m_statuses[i].MPI_SOURCE = no_source_yet;
        return m_statuses != nullptr ? m_statuses : given;
    }

    /// Once MPI_Waitall has failed with statuses that the program does not want: MPICH takes the handles of
    /// all requests if there are none, and leaves those behind the failed one if there are.
    void take_as_if_ignored(int rc)
    {
        if (HDT_LIKELY(rc == MPI_SUCCESS) || m_own_statuses == nullptr || !takes_all_handles() ||
            error_class_of(rc) != MPI_ERR_IN_STATUS)
            return;
        for (int i = 0; i < m_count; ++i) {
            Request request;
            if (m_requests[i] != MPI_REQUEST_NULL &&
                find_request(m_offers[i].handle, &m_requests[i], &request) && !request.is_persistent)
                real.MPI_Request_free(&m_requests[i]);
        }
    }

    /// Request indices[k] has completed with status k; without indices, request k.
    void completed(int count, const int* indices)
    {
        if (!HDT_LIKELY(m_call.succeeded())) {
            failed(count, indices);
            return;
        }
        m_ended_count = m_statuses != nullptr && count > 0 && m_count > 0 ? count : 0;
        m_indices = indices;
        for (int k = 0; k < m_ended_count; ++k)
            m_offers[index_of(k)].has_ended = true;
    }

    /// The operations that are complete now; before finish().
    void end_buffers(Buffers& buffers) const
    {
        for (int k = 0; k < m_ended_count; ++k) {
            const int i = index_of(k);
            Request request;
            if (m_offers[i].has_ended &&
                find_request(m_offers[i].handle, &m_requests[i], &request, frame_for_check()) &&
                request.is_active && !request.is_doubtful)
                buffers.ended(request.rid);
        }
    }

    /// Writes `<For>` and `<Pending>`, and forgets what has completed.
    template <typename Element> void finish(Element& element)
    {
        settle_requests(m_offers, m_requests, m_count, frame_for_check());
        for (int k = 0; k < m_ended_count; ++k) {
            Offer& offer = m_offers[index_of(k)];
            if (!has_ended_now(offer))
                continue;
            put_ended(element, offer.request, m_statuses + k);
            forget(offer);
        }
        for (int i = 0; i < m_count; ++i)
            put_pending(element, m_offers[i]);
    }
    /// The same where nothing is recorded.
    void finish()
    {
        if (m_ended_count == 0)
            return;
        settle_requests(m_offers, m_requests, m_count, frame_for_check());
        for (int k = 0; k < m_ended_count; ++k) {
            Offer& offer = m_offers[index_of(k)];
            if (has_ended_now(offer))
                forget(offer);
        }
    }

  private:
    int index_of(int k) const { return m_indices != nullptr ? m_indices[k] : k; }

    // The same for a call that failed.
    void failed(int count, const int* indices)
    {
        m_tells_errors = m_count > 0 && m_statuses != nullptr && m_call.failed_in_status();
        m_indices = m_tells_errors ? indices : nullptr;
        m_ended_count = m_indices != nullptr ? count : m_count;
        for (int k = 0; k < m_ended_count; ++k)
            m_offers[index_of(k)].has_ended =
                m_indices != nullptr || has_ended_in_failed_call(k, indices, count);
    }

    // Persistent requests keep their handles. Whether such a one was completed the statuses tell, if there
    // are any: MPI_ERR_PENDING is of one that a later call completes, though its operation may have ended
    // already (MPI 4.1, 3.7.5). A call that chooses names what it chose. Else MPI is asked; only about those
    // that are known to be requests.
    bool has_ended_in_failed_call(int index, const int* chosen, int chosen_count) const
    {
        if (m_requests[index] == MPI_REQUEST_NULL)
            return true;
        Request request;
        const bool is_running =
            find_request(m_offers[index].handle, &m_requests[index], &request) && request.is_active;
        if (!is_running || !request.is_persistent)
            return false;
        if (m_tells_errors)
            return error_class_of(value_of(&m_statuses[index]).MPI_ERROR) != MPI_ERR_PENDING;
        if (chosen != nullptr)
            return std::find(chosen, chosen + chosen_count, index) != chosen + chosen_count;
        int has_ended = 0;
        return real.MPI_Request_get_status(m_requests[index], &has_ended, MPI_STATUS_IGNORE) == MPI_SUCCESS &&
               has_ended;
    }

    // Only whose buffers are looked at has to know where two handles may have been exchanged.
    const void* frame_for_check() const { return settings.for_check ? m_call.frame() : nullptr; }

    static bool has_ended_now(const Offer& offer)
    {
        const bool was_inactive = offer.is_known && !offer.request.is_active;
        return offer.handle != MPI_REQUEST_NULL && offer.has_ended && !was_inactive;
    }

    static void forget(const Offer& offer)
    {
        if (offer.request.comm != nullptr && !offer.request.is_persistent)
            drop_reference(*offer.request.comm);
        if (settings.for_check && offer.request.is_doubtful)
            forget_buffers(offer.request.rid); // they may have been the program's for long
    }

    template <typename Element>
    void put_ended(Element& element, const Request& request, const MPI_Status* told) const
    {
        if (HDT_LIKELY(m_call.succeeded())) {
            put_completed(element, request, told);
            return;
        }
        // Nothing is known of how a persistent request has ended that MPI was asked about.
        const int error = m_tells_errors ? value_of(told).MPI_ERROR : MPI_ERR_PENDING;
        const int error_class = error_class_of(error);
        if (error_class == MPI_SUCCESS)
            put_completed(element, request, told);
        else if (error_class == MPI_ERR_PENDING)
            put_completed(element, without_status(request), told);
        else
            put_failed(element, request, error);
    }

    template <typename Element> static void put_pending(Element& element, const Offer& offer)
    {
        if (offer.handle != MPI_REQUEST_NULL && offer.is_known && !offer.has_ended && offer.request.is_active)
            element.child("<Pending rid='").number(offer.request.rid).text("'").end_child();
    }

    Call& m_call;
    int m_count;
    MPI_Request* m_requests;
    Offer* m_offers;
    MPI_Status* m_statuses = nullptr;
    MPI_Status* m_own_statuses = nullptr;
    bool m_tells_errors = false; // the call failed, and the statuses say for which requests
    int m_ended_count = 0;
    const int* m_indices = nullptr;
};

// Indices and counts may be MPI_UNDEFINED.
int defined(int value)
{
    return value == MPI_UNDEFINED ? -1 : value;
}

// Where a call tells which one of several requests it has completed. Also if that one has failed; a call
// whose arguments are wrong may tell nothing, and the program's variable holds an old answer then.
class IndexArgument {
  public:
    explicit IndexArgument(int* given) : m_given(given) {}
    IndexArgument(const IndexArgument&) = delete;
    IndexArgument& operator=(const IndexArgument&) = delete;

    int* get() { return m_given != nullptr ? &m_told : nullptr; }
    /// Once MPI has answered.
    int hand_on(int rc)
    {
        if (m_told != nothing_told)
            *m_given = m_told;
        return rc;
    }
    const int* place() const { return &m_told; }
    int count() const { return m_told >= 0 ? 1 : 0; }

  private:
    static constexpr int nothing_told = INT_MIN;

    int* m_given;
    int m_told = nothing_told;
};

// What a completion call says of the requests that it was given.
struct Ended {
    int count;
    const int* indices = nullptr; // null: the first ones
    bool is_nothing = false;      // it asked, and was told that it is too early
};

constexpr Argument pending = {.kind = Argument::Kind::children,
                              .value = 0,
                              .start = "<Pending rid='",
                              .item_size = sizeof(MPI_Request),
                              .stride = sizeof(Offer),
                              .find = find_active_rid};
// What is known when a call begins: of one request which operation it is, of several also how many.
constexpr Argument arguments[] = {pending, {Argument::Kind::number, 3, " count='"}};
constexpr uint64_t all_arguments = 0b11;

constexpr StateForm form_for_one(const char* name)
{
    return {name, std::span(arguments).first(1)};
}

constexpr StateForm form_for_several(const char* name)
{
    return {name, arguments};
}

// All completion calls. make(statuses) calls MPI, get_ended(has_answered) reads what it answered,
// put_attributes(element) writes that. Inside the wrapper: a frame of its own would be one more to leave at
// each call.
template <typename Make, typename GetEnded, typename PutAttributes>
__attribute__((always_inline)) inline int complete(Function function, const StateForm& form, int count,
                                                   MPI_Request* requests, MPI_Status* statuses, Make make,
                                                   GetEnded get_ended, PutAttributes put_attributes)
{
    Call call(function, Tracks::operations);
    if (call.passes())
        return make(statuses);
    Offered offered(call, count, requests);
    MPI_Status* const used = offered.statuses(statuses);
    call.begin(form, [&](OpenState& state) {
        state.start(&form, all_arguments);
        offered.set_arguments(state);
        state.set(3, count);
    });
    const int rc = make(used);
    if (function == Function::MPI_Waitall)
        offered.take_as_if_ignored(rc);
    call.end(rc);
    const Ended ended = get_ended(call.succeeded() || call.failed_in_status());
    offered.completed(ended.count, ended.indices);
    if (!call.is_plain() && (!call.is_recorded() || call.is_empty_poll([&] {
            return call.succeeded() && ended.is_nothing;
        }) || (call.is_summed() && call.sum(Figures())))) {
        offered.finish();
        return rc;
    }
    call.write([&](auto& element) {
        element.text("<").name(form.name);
        put_attributes(element);
        call.finish_describing(element, [&](Buffers& buffers) { offered.end_buffers(buffers); });
        offered.finish(element);
        element.end(form.name);
    });
    return rc;
}

} // namespace

extern "C" HDT_EXPORT int MPI_Wait(MPI_Request* request, MPI_Status* status)
{
    static constexpr StateForm form = form_for_one("Wait");
    return complete(
        Function::MPI_Wait, form, 1, request, status,
        [&](MPI_Status* used) { return real.MPI_Wait(request, used); }, [](bool) { return Ended{1}; },
        [](auto&) {});
}
HDT_WRAPS(MPI_Wait);

extern "C" HDT_EXPORT int MPI_Waitall(int count, MPI_Request requests[], MPI_Status statuses[])
{
    static constexpr StateForm form = form_for_several("Waitall");
    return complete(
        Function::MPI_Waitall, form, count, requests, statuses,
        [&](MPI_Status* used) { return real.MPI_Waitall(count, requests, used); },
        [&](bool) { return Ended{count}; },
        [&](auto& element) { element.add(" count='"_xml, count, "'"_xml); });
}
HDT_WRAPS(MPI_Waitall);

extern "C" HDT_EXPORT int MPI_Waitany(int count, MPI_Request requests[], int* index, MPI_Status* status)
{
    static constexpr StateForm form = form_for_several("Waitany");
    IndexArgument told(index);
    int found = -1;
    return complete(
        Function::MPI_Waitany, form, count, requests, status,
        [&](MPI_Status* used) { return told.hand_on(real.MPI_Waitany(count, requests, told.get(), used)); },
        [&](bool has_answered) {
            found = has_answered ? defined(*index) : -1;
            return Ended{told.count(), told.place()};
        },
        [&](auto& element) { element.add(" count='"_xml, count, "' index='"_xml, found, "'"_xml); });
}
HDT_WRAPS(MPI_Waitany);

extern "C" HDT_EXPORT int MPI_Waitsome(int incount, MPI_Request requests[], int* outcount, int indices[],
                                       MPI_Status statuses[])
{
    static constexpr StateForm form = form_for_several("Waitsome");
    int found = 0;
    return complete(
        Function::MPI_Waitsome, form, incount, requests, statuses,
        [&](MPI_Status* used) { return real.MPI_Waitsome(incount, requests, outcount, indices, used); },
        [&](bool has_answered) {
            found = has_answered ? defined(*outcount) : 0;
            return Ended{found, indices};
        },
        [&](auto& element) { element.add(" count='"_xml, incount, "' outcount='"_xml, found, "'"_xml); });
}
HDT_WRAPS(MPI_Waitsome);

extern "C" HDT_EXPORT int MPI_Test(MPI_Request* request, int* flag, MPI_Status* status)
{
    int is_complete = 0;
    static constexpr StateForm form = form_for_one("Test");
    return complete(
        Function::MPI_Test, form, 1, request, status,
        [&](MPI_Status* used) { return real.MPI_Test(request, flag, used); },
        [&](bool has_answered) {
            is_complete = has_answered && *flag;
            return Ended{is_complete, nullptr, !is_complete};
        },
        [&](auto& element) { element.add(" flag='"_xml, is_complete, "'"_xml); });
}
HDT_WRAPS(MPI_Test);

extern "C" HDT_EXPORT int MPI_Testall(int count, MPI_Request requests[], int* flag, MPI_Status statuses[])
{
    static constexpr StateForm form = form_for_several("Testall");
    int is_complete = 0;
    return complete(
        Function::MPI_Testall, form, count, requests, statuses,
        [&](MPI_Status* used) { return real.MPI_Testall(count, requests, flag, used); },
        [&](bool has_answered) {
            is_complete = has_answered && *flag;
            return Ended{is_complete ? count : 0, nullptr, !is_complete};
        },
        [&](auto& element) { element.add(" count='"_xml, count, "' flag='"_xml, is_complete, "'"_xml); });
}
HDT_WRAPS(MPI_Testall);

extern "C" HDT_EXPORT int MPI_Testany(int count, MPI_Request requests[], int* index, int* flag,
                                      MPI_Status* status)
{
    static constexpr StateForm form = form_for_several("Testany");
    IndexArgument told(index);
    int is_complete = 0, found = -1;
    return complete(
        Function::MPI_Testany, form, count, requests, status,
        [&](MPI_Status* used) {
            return told.hand_on(real.MPI_Testany(count, requests, told.get(), flag, used));
        },
        [&](bool has_answered) {
            is_complete = has_answered && *flag;
            found = is_complete ? defined(*index) : -1;
            return Ended{is_complete || !has_answered ? told.count() : 0, told.place(), !is_complete};
        },
        [&](auto& element) {
            element.add(" count='"_xml, count, "' flag='"_xml, is_complete, "' index='"_xml, found, "'"_xml);
        });
}
HDT_WRAPS(MPI_Testany);

extern "C" HDT_EXPORT int MPI_Testsome(int incount, MPI_Request requests[], int* outcount, int indices[],
                                       MPI_Status statuses[])
{
    static constexpr StateForm form = form_for_several("Testsome");
    int found = 0;
    return complete(
        Function::MPI_Testsome, form, incount, requests, statuses,
        [&](MPI_Status* used) { return real.MPI_Testsome(incount, requests, outcount, indices, used); },
        [&](bool has_answered) {
            found = has_answered ? defined(*outcount) : 0;
            return Ended{found, indices, found == 0};
        },
        [&](auto& element) { element.add(" count='"_xml, incount, "' outcount='"_xml, found, "'"_xml); });
}
HDT_WRAPS(MPI_Testsome);
