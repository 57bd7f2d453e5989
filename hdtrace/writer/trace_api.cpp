// The traces of the C API.
#include "hdtrace/settings/settings.h"
#include "hdtrace/writer/api_support.h"
#include "hdtrace/writer/element.h"
#include "hdtrace/writer/format.h"
#include "hdtrace/writer/trace_place.h"
#include "hdtrace/writer/xml_syntax.h"

#include <glib.h>
#include <initializer_list>
#include <unistd.h>

namespace hdtrace {

namespace {

// What a state collects until it is written; used again and again, so that the memory is asked for once.
struct State {
    TextBuffer name;
    XmlAttributes attributes;
    TextBuffer children;
    int64_t begin;
    bool is_recorded;
    bool is_region; // its beginning is marked in the file, because something else has begun inside it
};

bool is_permitted_element(const char* name)
{
    // These have a meaning of their own in a trace.
    for (const char* reserved : {"Event", "Nested", "Program"}) {
        if (strcmp(name, reserved) == 0)
            return false;
    }
    return is_xml_name(name);
}

} // namespace

} // namespace hdtrace

using namespace hdtrace;

struct hdTrace {
    InfoWriter info;
    TraceWriter writer;
    Clock clock;
    bool is_enabled = false;
    bool force_flush = false;
    int permitted_depth = HD_LOG_MAX_DEPTH;
    int open_states = 0; // those too deep to have a State included
    int64_t refused_calls = 0;
    State states[HD_LOG_MAX_DEPTH];
    TextBuffer end_line;
    TextBuffer scratch;
    XmlAttributes child_attributes; // of the child element that is being added

    int64_t whole_second() { return clock.now() / nanoseconds_per_second; }
    // Null if the innermost state is not recorded.
    State* recorded_state()
    {
        State* const state = open_states <= HD_LOG_MAX_DEPTH ? &states[open_states - 1] : nullptr;
        return state != nullptr && state->is_recorded ? state : nullptr;
    }
};

namespace hdtrace {

namespace {

int open_info(hdTrace& trace, const char* path, const hdTopoNode& node, int64_t base)
{
    TextBuffer line;
    append_process_line(line, node, base);
    int error = trace.info.open(path);
    if (error == 0)
        error = trace.info.write(line);
    return error != 0 ? error : trace.info.flush();
}

int open_writer(hdTrace& trace, const char* path, const hdTopoNode& node, int64_t base,
                const TraceSettings& settings)
{
    TextBuffer attributes;
    append_root_attributes(attributes, node);
    return trace.writer.open(path, attributes.c_string(), base, settings, &trace.info);
}

// Those that concern the tracer of MPI programs do not matter here, not even if they are wrong.
int read_environment(Settings& settings)
{
    for (const Option& option : options()) {
        if (option.is_for_library && !set_from_environment(settings, option))
            return EINVAL;
    }
    return 0;
}

int open_trace(hdTrace& trace, const hdTopoNode& node)
{
    if (has_rights_of_others())
        return EPERM;
    Settings settings;
    if (const int error = read_environment(settings))
        return error;
    if (g_mkdir_with_parents(settings.directory, 0777) != 0)
        return errno;
    TextBuffer info_path, trace_path;
    append_path(info_path, settings.directory, node, ".info");
    append_path(trace_path, settings.directory, node, ".trc");
    append_end_line_start(trace.end_line, node);
    if (info_path.bad() || trace_path.bad() || trace.end_line.bad())
        return ENOMEM;

    trace.force_flush = settings.force_flush;
    const int64_t base = trace.whole_second();
    if (const int error = open_info(trace, info_path.c_string(), node, base))
        return error;
    const int error = open_writer(trace, trace_path.c_string(), node, base, trace_settings_of(settings));
    if (error != 0)
        unlink(info_path.c_string());
    return error;
}

// What is around a new state or event becomes a region with a mark where it begins and one where it ends: so
// what is inside it stands on lines of its own and need not be kept until it ends.
void mark_beginnings(hdTrace& trace)
{
    const int recorded = trace.open_states < HD_LOG_MAX_DEPTH ? trace.open_states : HD_LOG_MAX_DEPTH;
    for (int i = 0; i < recorded; ++i) {
        State& state = trace.states[i];
        if (!state.is_recorded || state.is_region)
            continue;
        state.is_region = true;
        trace.writer.enter();
        write_element(trace.writer, [&](auto& element) {
            element.text("<Event name='").raw(state.name.data(), state.name.size()).text("' kind='begin'");
            element.end_event(state.begin);
        });
    }
}

// What the state was given stands in elements inside the mark, the state's own attributes in the first one.
void write_end_of_region(hdTrace& trace, State& state, int64_t end)
{
    TextBuffer& inside = trace.scratch;
    inside.clear();
    if (state.attributes.text().size() > 0 || state.children.size() > 0)
        inside.text("<")
            .bytes(state.name.data(), state.name.size())
            .bytes(state.attributes.text().data(), state.attributes.text().size())
            .text(" />")
            .bytes(state.children.data(), state.children.size());
    trace.writer.enter();
    write_element(trace.writer, [&](auto& element) {
        element.text("<Event name='")
            .raw(state.name.data(), state.name.size())
            .text("' kind='end'")
            .time(end);
        element.children(inside.data(), inside.bad() ? 0 : inside.size());
        element.end("Event");
    });
}

void write_state(hdTrace& trace, State& state, int64_t end)
{
    trace.writer.enter();
    write_element(trace.writer, [&](auto& element) {
        element.text("<").raw(state.name.data(), state.name.size());
        element.raw(state.attributes.text().data(), state.attributes.text().size());
        element.times(state.begin, end).children(state.children.data(), state.children.size());
        element.end_with(state.name.data(), state.name.size());
    });
}

void end_state(hdTrace& trace, int64_t now)
{
    State* const state = trace.recorded_state();
    if (state != nullptr && state->is_region)
        write_end_of_region(trace, *state, now);
    else if (state != nullptr)
        write_state(trace, *state, now);
    --trace.open_states;
}

// Fills and begins the state that is the innermost one from now on. Returns 0 or an error, and then it is not
// recorded.
int begin_state(hdTrace& trace, const char* name)
{
    const int depth = ++trace.open_states;
    const bool is_deep = depth > trace.permitted_depth;
    if (depth > HD_LOG_MAX_DEPTH)
        return trace.is_enabled ? HD_ERR_TOO_DEEP : 0;
    State& state = trace.states[depth - 1];
    state.is_recorded = false;
    state.is_region = false;
    if (!trace.is_enabled)
        return 0;
    if (is_deep)
        return HD_ERR_TOO_DEEP;
    state.name.clear();
    state.attributes.clear();
    state.children.clear();
    state.name.string(name);
    if (state.name.bad())
        return ENOMEM;
    mark_beginnings(trace);
    state.is_recorded = true;
    state.begin = trace.clock.now();
    return 0;
}

int format_scratch(hdTrace& trace, const char* format, va_list arguments)
{
    trace.scratch.clear();
    return append_format(trace.scratch, format, arguments);
}

int add_attributes(hdTrace& trace, State& state, const char* format, va_list arguments)
{
    if (const int error = format_scratch(trace, format, arguments))
        return error;
    return state.attributes.add_xml(trace.scratch.data(), trace.scratch.size());
}

int add_element(hdTrace& trace, State& state, const char* name, const char* format, va_list arguments)
{
    if (const int error = format_scratch(trace, format, arguments))
        return error;
    XmlAttributes& attributes = trace.child_attributes;
    attributes.clear();
    if (const int error = attributes.add_xml(trace.scratch.data(), trace.scratch.size()))
        return error;
    const size_t size = state.children.size();
    state.children.text("<")
        .string(name)
        .bytes(attributes.text().data(), attributes.text().size())
        .text(" />");
    if (!state.children.bad())
        return 0;
    state.children.truncate(size);
    return ENOMEM;
}

int write_info(hdTrace& trace, const char* format, va_list arguments)
{
    if (const int error = format_scratch(trace, format, arguments))
        return error;
    TextBuffer& lines = trace.scratch;
    if (lines.size() > 0 && lines.data()[lines.size() - 1] != '\n')
        lines.text("\n");
    const int error = trace.info.write(lines);
    return error == 0 && trace.force_flush ? trace.info.flush() : error;
}

int first_of(int error, int other)
{
    return error != 0 ? error : other;
}

// What cannot be written any more is counted by the writer.
bool is_refusal(const hdTrace& trace, int error)
{
    const bool is_wanted = error == HD_ERR_TOO_DEEP && trace.permitted_depth < HD_LOG_MAX_DEPTH;
    return (error >= HD_ERR_INVALID_ARGUMENT || error == ENOMEM) && !is_wanted;
}

// Of a call that records something, so that an error is not forgotten.
int recording_result(hdTrace& trace, int error)
{
    if (is_refusal(trace, error))
        ++trace.refused_calls;
    return result(error);
}

int close_trace(hdTrace& trace)
{
    const int error = trace.writer.close();
    const int64_t dropped = trace.writer.dropped_states();
    trace.end_line.text(" states=").number(trace.writer.states() - dropped);
    trace.end_line.text(" dropped=").number(dropped);
    if (trace.refused_calls > 0)
        trace.end_line.text(" refused=").number(trace.refused_calls);
    if (!trace.end_line.text("\n").bad())
        trace.info.write_ahead(trace.end_line.data(), trace.end_line.size());
    return first_of(error, trace.info.close());
}

} // namespace

} // namespace hdtrace

hdTrace* hdT_createTrace(const hdTopoNode* node)
{
    if (node == nullptr || node->labels.count() < node->topology->levels.count())
        return no_object(HD_ERR_INVALID_ARGUMENT);
    hdTrace* const trace = create<hdTrace>();
    if (trace == nullptr)
        return no_object(ENOMEM);
    const int error = open_trace(*trace, *node);
    if (error == 0)
        return trace;
    destroy(trace);
    return no_object(error);
}

int hdT_finalize(hdTrace* trace)
{
    if (trace == nullptr)
        return result(HD_ERR_INVALID_ARGUMENT);
    const int64_t now = trace->clock.now();
    const int refusal = trace->refused_calls > 0 ? HD_ERR_REFUSED : 0;
    const int doubt = trace->open_states > 0 ? HD_ERR_STATE_OPEN : refusal;
    while (trace->open_states > 0)
        end_state(*trace, now);
    const int error = close_trace(*trace);
    destroy(trace);
    return result(first_of(error, doubt));
}

int hdT_enableTrace(hdTrace* trace)
{
    if (trace == nullptr)
        return result(HD_ERR_INVALID_ARGUMENT);
    const bool was_enabled = trace->is_enabled;
    trace->is_enabled = true;
    return was_enabled ? 1 : 0;
}

int hdT_disableTrace(hdTrace* trace)
{
    if (trace == nullptr)
        return result(HD_ERR_INVALID_ARGUMENT);
    const bool was_enabled = trace->is_enabled;
    trace->is_enabled = false;
    return was_enabled ? 0 : 1;
}

int hdT_isEnabled(const hdTrace* trace)
{
    if (trace == nullptr)
        return result(HD_ERR_INVALID_ARGUMENT);
    return trace->is_enabled ? 1 : 0;
}

int hdT_setNestedDepth(hdTrace* trace, int depth)
{
    if (trace == nullptr || depth < 1 || depth > HD_LOG_MAX_DEPTH)
        return result(HD_ERR_INVALID_ARGUMENT);
    trace->permitted_depth = depth;
    return 0;
}

int hdT_setForceFlush(hdTrace* trace, int flush)
{
    if (trace == nullptr)
        return result(HD_ERR_INVALID_ARGUMENT);
    trace->force_flush = flush != 0;
    trace->writer.set_force_flush(trace->force_flush);
    return trace->force_flush ? hdT_flush(trace) : 0;
}

int hdT_flush(hdTrace* trace)
{
    if (trace == nullptr)
        return result(HD_ERR_INVALID_ARGUMENT);
    const int error = trace->info.flush();
    return result(first_of(trace->writer.flush(), error));
}

int hdT_logStateStart(hdTrace* trace, const char* name)
{
    if (trace == nullptr)
        return result(HD_ERR_INVALID_ARGUMENT);
    if (name == nullptr || !is_permitted_element(name))
        return recording_result(*trace, HD_ERR_INVALID_ARGUMENT);
    return recording_result(*trace, begin_state(*trace, name));
}

int hdT_logAttributes(hdTrace* trace, const char* format, ...)
{
    if (trace == nullptr)
        return result(HD_ERR_INVALID_ARGUMENT);
    if (format == nullptr)
        return recording_result(*trace, HD_ERR_INVALID_ARGUMENT);
    if (trace->open_states == 0)
        return recording_result(*trace, HD_ERR_NO_STATE);
    State* const state = trace->recorded_state();
    if (state == nullptr)
        return 0;
    va_list arguments;
    va_start(arguments, format);
    const int error = add_attributes(*trace, *state, format, arguments);
    va_end(arguments);
    return recording_result(*trace, error);
}

int hdT_logAttribute(hdTrace* trace, const char* name, const char* value)
{
    if (trace == nullptr)
        return result(HD_ERR_INVALID_ARGUMENT);
    if (name == nullptr || value == nullptr)
        return recording_result(*trace, HD_ERR_INVALID_ARGUMENT);
    if (trace->open_states == 0)
        return recording_result(*trace, HD_ERR_NO_STATE);
    State* const state = trace->recorded_state();
    return state == nullptr ? 0 : recording_result(*trace, state->attributes.add(name, value));
}

int hdT_logElement(hdTrace* trace, const char* name, const char* format, ...)
{
    if (trace == nullptr)
        return result(HD_ERR_INVALID_ARGUMENT);
    if (name == nullptr || format == nullptr || !is_permitted_element(name))
        return recording_result(*trace, HD_ERR_INVALID_ARGUMENT);
    if (trace->open_states == 0)
        return recording_result(*trace, HD_ERR_NO_STATE);
    State* const state = trace->recorded_state();
    if (state == nullptr)
        return 0;
    va_list arguments;
    va_start(arguments, format);
    const int error = add_element(*trace, *state, name, format, arguments);
    va_end(arguments);
    return recording_result(*trace, error);
}

int hdT_logStateEnd(hdTrace* trace)
{
    if (trace == nullptr)
        return result(HD_ERR_INVALID_ARGUMENT);
    if (trace->open_states == 0)
        return recording_result(*trace, HD_ERR_NO_STATE);
    end_state(*trace, trace->clock.now());
    return result(trace->writer.error());
}

int hdT_logEvent(hdTrace* trace, const char* name)
{
    if (trace == nullptr)
        return result(HD_ERR_INVALID_ARGUMENT);
    if (name == nullptr || *name == '\0')
        return recording_result(*trace, HD_ERR_INVALID_ARGUMENT);
    if (!trace->is_enabled)
        return 0;
    mark_beginnings(*trace);
    const int64_t now = trace->clock.now();
    trace->writer.enter();
    write_element(trace->writer, [&](auto& element) {
        element.text("<Event name='").escaped(name).text("'").end_event(now);
    });
    return result(trace->writer.error());
}

int hdT_writeInfo(hdTrace* trace, const char* format, ...)
{
    if (trace == nullptr)
        return result(HD_ERR_INVALID_ARGUMENT);
    if (format == nullptr)
        return recording_result(*trace, HD_ERR_INVALID_ARGUMENT);
    va_list arguments;
    va_start(arguments, format);
    const int error = write_info(*trace, format, arguments);
    va_end(arguments);
    return recording_result(*trace, error);
}
