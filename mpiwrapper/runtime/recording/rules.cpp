#include "mpiwrapper/runtime/recording/rules.h"

#include "hdtrace/writer/own_memory.h"
#include "mpiwrapper/runtime/process/config_file.h"
#include "mpiwrapper/runtime/process/identity.h"
#include "mpiwrapper/runtime/process/settings.h"

#include <errno.h>
#include <new>
#include <stdlib.h>
#include <unistd.h>

namespace hdtrace::mpi {

namespace {

// What a rule's file is there for may come as late as that.
constexpr int64_t file_delay = 100'000'000;

/// A rule that is for this process.
struct ActiveRule {
    const Rule* rule = nullptr;
    FunctionSet about;
    FunctionSet counted_from, counted_until; ///< the functions whose calls begin and end it
    int64_t from_calls = 0;                  ///< how many of these there were
    int64_t until_calls = 0;
    int64_t next_look = 0; ///< for its file
    bool is_file_there = false;
};

ActiveRule* rules = nullptr;
size_t rule_count = 0;
int64_t calls_of[function_count]; // of undecided functions
Recording usual = Recording::plain;

FunctionSet functions_of(const Rule& rule)
{
    FunctionSet set;
    for (size_t i = 0; i < function_count; ++i) {
        if (rule.is_about(ruled_functions()[i]))
            set.add(static_cast<Function>(i));
    }
    return set;
}

FunctionSet functions_of(Word pattern)
{
    FunctionSet set;
    for (size_t i = 0; pattern.length > 0 && i < function_count; ++i) {
        if (fits_function(pattern, ruled_functions()[i].name))
            set.add(static_cast<Function>(i));
    }
    return set;
}

bool make_active_rules()
{
    const std::span<const Rule> all = rules_of_file();
    void* const memory = own_calloc(all.size(), sizeof(ActiveRule));
    if (memory == nullptr)
        return false;
    rules = static_cast<ActiveRule*>(memory);
    for (const Rule& rule : all) {
        if (!rule.is_for_process(this_process().rank, this_process().host))
            continue;
        ActiveRule* const active = new (&rules[rule_count++]) ActiveRule;
        active->rule = &rule;
        active->about = functions_of(rule);
        active->counted_from = functions_of(rule.from.function);
        active->counted_until = functions_of(rule.until.function);
    }
    return true;
}

Recording recording_of(Record record)
{
    switch (record) {
    case Record::all:
        return without(usual, Recording::successes);
    case Record::success:
        return usual | Recording::successes;
    case Record::count:
        return Recording::timed;
    case Record::none:
        break;
    }
    return Recording::none;
}

Recording without_rules(Function function)
{
    return level_of(function) <= settings.all_functions ? usual : Recording::none;
}

bool is_counted(Function function)
{
    for (size_t i = 0; i < rule_count; ++i) {
        if (rules[i].counted_from.has(function) || rules[i].counted_until.has(function))
            return true;
    }
    return false;
}

// The last rule that holds counts.
Recording decide_once(Function function)
{
    if (is_counted(function))
        return Recording::undecided;
    for (size_t i = rule_count; i-- > 0;) {
        if (!rules[i].about.has(function))
            continue;
        return rules[i].rule->depends_on_moment() ? Recording::undecided
                                                  : recording_of(rules[i].rule->record);
    }
    return without_rules(function);
}

int64_t count(int64_t& calls)
{
    return __atomic_add_fetch(&calls, 1, __ATOMIC_RELAXED);
}

// ---- does a rule hold now? ----

bool is_file_there(ActiveRule& active, int64_t now)
{
    if (now >= __atomic_load_n(&active.next_look, __ATOMIC_RELAXED)) {
        __atomic_store_n(&active.next_look, now + file_delay, __ATOMIC_RELAXED);
        const int saved_errno = errno;
        const bool is_there = access(active.rule->text(Condition::file), F_OK) == 0;
        errno = saved_errno;
        __atomic_store_n(&active.is_file_there, is_there, __ATOMIC_RELAXED);
    }
    return __atomic_load_n(&active.is_file_there, __ATOMIC_RELAXED);
}

bool has_begun(const ActiveRule& active)
{
    return !active.rule->has(Condition::from) ||
           __atomic_load_n(&active.from_calls, __ATOMIC_RELAXED) >= active.rule->from.number;
}

// The call that ends it is the last one that it is about.
bool has_ended(const ActiveRule& active, Function function)
{
    const int64_t before =
        __atomic_load_n(&active.until_calls, __ATOMIC_RELAXED) - (active.counted_until.has(function) ? 1 : 0);
    return active.rule->has(Condition::until) && before >= active.rule->until.number;
}

bool holds(ActiveRule& active, Thread& thread, Function function)
{
    const Rule& rule = *active.rule;
    if (!active.about.has(function) || !has_begun(active) || has_ended(active, function))
        return false;
    if (rule.has(Condition::occurrence) && !rule.occurrences.contains(thread.call_number))
        return false;
    if (rule.has(Condition::region) && !thread.regions.has_one_of(rule.text(Condition::region)))
        return false;
    if (!rule.has(Condition::time) && !rule.has(Condition::file))
        return true;
    const int64_t now = thread.clock.now();
    return (!rule.has(Condition::time) || rule.times.contains(now - time_base())) &&
           (!rule.has(Condition::file) || is_file_there(active, now));
}

// ---- the arguments of a call ----

constexpr const char* sizes[] = {" size='", " recvSize='"};
constexpr const char* peers[] = {" toRank='", " fromRank='", " root='", " rootRank='", " source='"};

// Calls found(value) for each argument that stands behind one of these, until it returns true.
template <size_t Size, typename Found>
bool find_argument(const OpenState& state, const char* const (&starts)[Size], Found found)
{
    const std::span<const Argument> arguments = state.form()->arguments;
    for (size_t i = 0; i < arguments.size(); ++i) {
        if (arguments[i].kind != Argument::Kind::number || !state.has(static_cast<int>(i)))
            continue;
        for (const char* const start : starts) {
            if (strcmp(arguments[i].start, start) == 0 && found(state.value(arguments[i].value)))
                return true;
        }
    }
    return false;
}

// A blocking receive says later how much has come; this is what it has room for. -1: the call has no size.
int64_t room_of(const Thread& thread, const OpenState& state)
{
    static constexpr const char* count_start[] = {" count='"};
    static constexpr const char* type_start[] = {" tid='"};
    int64_t count = -1;
    const Type* type = nullptr;
    find_argument(state, count_start, [&](int64_t value) {
        count = value;
        return true;
    });
    find_argument(state, type_start, [&](int64_t id) {
        type = thread.types.find_value([id](const Type& known) { return known.id == id; });
        return true;
    });
    return type != nullptr && count >= 0 ? count * type->size : -1;
}

bool has_size(const Rule& rule, const Thread& thread, const OpenState& state)
{
    bool is_said = false;
    const bool is_wanted = find_argument(state, sizes, [&](int64_t size) {
        is_said = true;
        return rule.sizes.contains(size);
    });
    if (is_said)
        return is_wanted;
    const int64_t room = room_of(thread, state);
    return room >= 0 && rule.sizes.contains(room);
}

bool has_arguments(const Rule& rule, const Thread& thread, const OpenState& state)
{
    return (!rule.has(Condition::size) || has_size(rule, thread, state)) &&
           (!rule.has(Condition::peer) ||
            find_argument(state, peers, [&](int64_t rank) { return rule.peers.contains(rank); }));
}

// The last rule that holds; null if none does. hold_arguments(rule) is about those that ask for arguments.
template <typename HoldArguments>
const Rule* find_rule(Thread& thread, Function function, HoldArguments hold_arguments)
{
    for (size_t i = rule_count; i-- > 0;) {
        const Rule& rule = *rules[i].rule;
        if (holds(rules[i], thread, function) && (!rule.depends_on_arguments() || hold_arguments(rule)))
            return &rule;
    }
    return nullptr;
}

} // namespace

void apply_rules(Recording recorded)
{
    usual = recorded;
    if (rules_of_file().empty() || !make_active_rules())
        return;
    for (size_t i = 0; i < function_count; ++i) {
        const auto function = static_cast<Function>(i);
        set_recording(function, decide_once(function));
    }
}

int64_t count_for_rules(Function function)
{
    for (size_t i = 0; i < rule_count; ++i) {
        if (rules[i].counted_from.has(function))
            count(rules[i].from_calls);
        if (rules[i].counted_until.has(function))
            count(rules[i].until_calls);
    }
    return count(calls_of[static_cast<size_t>(function)]);
}

Recording decide(Thread& thread, Function function)
{
    thread.call_number = count_for_rules(function);
    const Rule* const rule = find_rule(thread, function, [](const Rule&) { return true; });
    if (rule == nullptr)
        return without_rules(function);
    return rule->depends_on_arguments() ? usual | Recording::late : recording_of(rule->record);
}

Recording decide_late(Thread& thread, Function function, const OpenState& state)
{
    if (state.is_unsure())
        return usual; // nobody can tell what the call is about
    const Rule* const rule =
        find_rule(thread, function, [&](const Rule& asking) { return has_arguments(asking, thread, state); });
    return rule != nullptr ? recording_of(rule->record) : without_rules(function);
}

} // namespace hdtrace::mpi
