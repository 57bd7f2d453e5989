#include "merger/serialization.h"

#include "hdtrace/format/bytes.h"
#include "hdtrace/format/errors.h"
#include "merger/warning_collector.h"

#include <array>
#include <map>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>

namespace hdtrace::merger {

namespace {

/// Why a file could not be read.
struct Failure {
    int error_number = 0; ///< of an OpenError; 0 for a ReadError
    std::int64_t line = 0;
    std::int64_t column = 0;
    std::string reason;
};

template <typename T, typename Record>
concept Is = std::is_same_v<std::remove_const_t<T>, Record>;

// What records consist of. The names in brackets are all members: a new one does not compile before it is
// here.
auto fields(Is<KeptWarning> auto& r)
{
    auto& [topic, file, line, text] = r;
    return std::tie(topic, file, line, text);
}
auto fields(Is<Failure> auto& r)
{
    auto& [error_number, line, column, reason] = r;
    return std::tie(error_number, line, column, reason);
}
auto fields(Is<Levels> auto& r)
{
    auto& [names, has_ranks] = r;
    return std::tie(names, has_ranks);
}
auto fields(Is<ProcessLine> auto& r)
{
    auto& [place, base, host, rank, size, world, run, levels, time_adjustment] = r;
    return std::tie(place, base, host, rank, size, world, run, levels, time_adjustment);
}
auto fields(Is<FileRecord> auto& r)
{
    auto& [place, name, size, time, inode, host] = r;
    return std::tie(place, name, size, time, inode, host);
}
auto fields(Is<SharedRecord> auto& r)
{
    auto& [place, name, named_by_program, uid] = r;
    return std::tie(place, name, named_by_program, uid);
}
template <typename T> auto& shared(T& record)
{
    return static_cast<std::conditional_t<std::is_const_v<T>, const SharedRecord, SharedRecord>&>(record);
}
auto fields(Is<CommunicatorRecord> auto& r)
{
    return std::tuple_cat(fields(shared(r)),
                          std::tie(r.map, r.is_inter, r.remote, r.side, r.meeting, r.is_world));
}
auto fields(Is<Meeting> auto& r)
{
    auto& [kind, where] = r;
    return std::tie(kind, where);
}
auto fields(Is<WindowRecord> auto& r)
{
    return std::tuple_cat(fields(shared(r)), std::tie(r.communicator, r.size, r.displacement_unit));
}
auto fields(Is<ContentValues> auto& r)
{
    auto& [entries, ends] = r;
    return std::tie(entries, ends);
}
auto fields(Is<DescribedDatatype> auto& r)
{
    auto& [id, combiner, name, integers, addresses, types, size, lb, extent] = r;
    return std::tie(id, combiner, name, integers, addresses, types, size, lb, extent);
}
auto fields(Is<DatatypeRecord> auto& r)
{
    auto& [place, datatype] = r;
    return std::tie(place, datatype);
}
auto fields(Is<ObjectFileRecord> auto& r)
{
    auto& [place, path, build_id] = r;
    return std::tie(place, path, build_id);
}
auto fields(Is<SourcePlace> auto& r)
{
    auto& [function, file, line] = r;
    return std::tie(function, file, line);
}
auto fields(Is<SourceLineRecord> auto& r)
{
    auto& [place, where] = r;
    return std::tie(place, where);
}
auto fields(Is<CallSiteRecord> auto& r)
{
    auto& [place, frames] = r;
    return std::tie(place, frames);
}
auto fields(Is<TraceEnd> auto& r)
{
    auto& [place, thread, states, lost, refused] = r;
    return std::tie(place, thread, states, lost, refused);
}
auto fields(Is<RunFact> auto& r)
{
    auto& [kind, values] = r;
    return std::tie(kind, values);
}
auto fields(Is<ThreadLife> auto& r)
{
    auto& [number, tid, begin, end, name] = r;
    return std::tie(number, tid, begin, end, name);
}
auto fields(Is<CpuTime> auto& r)
{
    auto& [time, user, system, waited] = r;
    return std::tie(time, user, system, waited);
}
auto fields(Is<FatalSignal> auto& r)
{
    auto& [name, time, thread] = r;
    return std::tie(name, time, thread);
}
auto fields(Is<ProcessRun> auto& r)
{
    auto& [checksum, pid, began, facts, cpu_times, signals, threads] = r;
    return std::tie(checksum, pid, began, facts, cpu_times, signals, threads);
}
auto fields(Is<ProcessInfo> auto& r)
{
    auto& [paths, process, threads, files, communicators, order, windows, datatypes, objects, lines, sites,
           ends, lost_lines, run] = r;
    return std::tie(paths, process, threads, files, communicators, order, windows, datatypes, objects, lines,
                    sites, ends, lost_lines, run);
}
auto fields(Is<TraceJob> auto& r)
{
    auto& [path, has_objects, may_close, only_end, written_states, known_ids] = r;
    return std::tie(path, has_objects, may_close, only_end, written_states, known_ids);
}

template <typename T>
concept Plain = std::is_arithmetic_v<T> || std::is_enum_v<T> || std::is_same_v<T, RankRun> ||
    std::is_same_v<T, SiteFrame>;
template <typename T>
concept Compound = requires(T& value)
{
    fields(value);
};

/// Appends values to bytes.
class Encoder {
  public:
    template <typename... T> Encoder& operator()(const T&... values)
    {
        (put(values), ...);
        return *this;
    }
    std::string take() { return m_bytes.take(); }

  private:
    template <Plain T> void put(const T& value) { m_bytes.put(value); }
    template <Compound T> void put(const T& value) { std::apply(*this, fields(value)); }
    void put(const std::string& text) { m_bytes.put_text(text); }
    void put(const Place& place) { put(place.line); }
    void put(const RankMap& map) { (*this)(map.runs(), map.foreign()); }
    template <typename T> void put(const std::vector<T>& values)
    {
        put(values.size());
        for (const T& value : values)
            put(value);
    }
    template <typename T, std::size_t size> void put(const std::array<T, size>& values)
    {
        for (const T& value : values)
            put(value);
    }
    template <typename T> void put(const std::optional<T>& value)
    {
        put(value.has_value());
        if (value)
            put(*value);
    }
    template <typename T> void put(const std::map<std::int64_t, T>& values)
    {
        put(values.size());
        for (const auto& [id, value] : values)
            (*this)(id, value);
    }

    detail::ByteWriter m_bytes;
};

/// Takes values from bytes. All places are in one file.
class Decoder {
  public:
    explicit Decoder(std::string_view bytes, std::string_view file = {}) : m_bytes(bytes), m_file(file) {}

    template <typename... T> void operator()(T&... values) { (get(values), ...); }
    template <typename T> T take()
    {
        T value{};
        get(value);
        return value;
    }

  private:
    template <Plain T> void get(T& value) { value = m_bytes.take<T>(); }
    template <Compound T> void get(T& value) { std::apply(*this, fields(value)); }
    void get(std::string& text) { text = m_bytes.take_text(); }
    void get(Place& place) { place = {m_file, take<std::uint64_t>()}; }
    void get(RankMap& map)
    {
        auto runs = take<std::vector<RankRun>>();
        map = RankMap(std::move(runs), take<std::vector<RankRun>>());
    }
    template <typename T> void get(std::vector<T>& values)
    {
        values.clear();
        for (auto count = take<std::size_t>(); count > 0; --count)
            get(values.emplace_back());
    }
    template <typename T, std::size_t size> void get(std::array<T, size>& values)
    {
        for (T& value : values)
            get(value);
    }
    template <typename T> void get(std::optional<T>& value)
    {
        if (take<bool>())
            get(value.emplace());
    }
    template <typename T> void get(std::map<std::int64_t, T>& values)
    {
        values.clear();
        for (auto count = take<std::size_t>(); count > 0; --count) {
            const auto id = take<std::int64_t>();
            get(values.emplace_hint(values.end(), id, T())->second);
        }
    }

    detail::ByteReader m_bytes;
    std::string_view m_file;
};

[[noreturn]] void raise(const Failure& failure, std::string_view path)
{
    if (failure.error_number != 0)
        throw OpenError(std::string(path), failure.error_number);
    throw ReadError(std::string(path), failure.line, failure.column, failure.reason);
}

} // namespace

std::string encode(const std::vector<std::string>& texts)
{
    return Encoder()(texts).take();
}

std::vector<std::string> decode_texts(std::string_view bytes)
{
    return Decoder(bytes).take<std::vector<std::string>>();
}

std::string encode(const TraceJob& job)
{
    return Encoder()(job).take();
}

TraceJob decode_trace_job(std::string_view bytes)
{
    return Decoder(bytes).take<TraceJob>();
}

std::string read_info_encoded(const std::string& path)
{
    ProcessInfo info;
    WarningCollector recorder;
    std::optional<Failure> failure;
    try {
        read_info(path, info, recorder);
    } catch (const ReadError& error) {
        failure = {0, error.line(), error.column(), error.reason()};
    } catch (const OpenError& error) {
        failure = {error.code().value(), 0, 0, {}};
    }
    return Encoder()(recorder.warnings(), failure, info).take();
}

void apply_read_info(std::string_view bytes, std::string_view path, ProcessInfo& info, Report& report)
{
    Decoder decoder(bytes, path);
    repeat(decoder.take<std::vector<KeptWarning>>(), report);
    if (const auto failure = decoder.take<std::optional<Failure>>())
        raise(*failure, path);
    info = decoder.take<ProcessInfo>();
}

std::string audit_trace_encoded(const TraceJob& job)
{
    WarningCollector recorder;
    audit_trace(job, recorder);
    return Encoder()(recorder.warnings()).take();
}

void apply_audit_trace(std::string_view bytes, Report& report)
{
    repeat(Decoder(bytes).take<std::vector<KeptWarning>>(), report);
}

} // namespace hdtrace::merger
