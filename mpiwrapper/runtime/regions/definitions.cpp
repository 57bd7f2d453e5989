#include "mpiwrapper/runtime/regions/definitions.h"

#include "hdtrace/writer/floating_point.h"
#include "hdtrace/writer/own_memory.h"
#include "hdtrace/writer/text_buffer.h"
#include "hdtrace/writer/undisturbed.h"
#include "mpiwrapper/runtime/process/info_sink.h"
#include "mpiwrapper/runtime/regions/float_text.h"

#include <new>
#include <stdlib.h>

namespace hdtrace::mpi {

namespace {

constexpr size_t bucket_count = 4096;
constexpr int most_definitions = 1'000'000; // beyond it a program makes them

// Found without a lock: definitions are only added, each at the front of its bucket and when it is whole.
const Definition* buckets[bucket_count];
pthread_mutex_t mutex = HDTRACE_MUTEX_INITIALIZER; // of those who add
int definition_count = 0;

using Kind = Definition::Kind;

/// "group:name".
struct FullName {
    char text[2 * HD_LONGEST_NAME + 2];
    size_t length = 0;
    uint64_t hash = 0xcbf29ce484222325u;

    int add(const char* part)
    {
        const size_t part_length = strnlen(part, HD_LONGEST_NAME + 1);
        if (part_length > HD_LONGEST_NAME)
            return HD_ERR_LONG;
        for (size_t i = 0; i < part_length; ++i)
            hash = (hash ^ static_cast<uint8_t>(part[i])) * 0x100000001b3u;
        memcpy(text + length, part, part_length);
        length += part_length;
        return 0;
    }
    /// Returns 0 or an error.
    int set(const char* group, const char* name)
    {
        if (name == nullptr || *name == '\0')
            return HD_ERR_NAME;
        if (group != nullptr && *group != '\0') {
            if (const int error = add(group))
                return error;
            add(":");
        }
        return add(name);
    }
};

const Definition*& bucket_of(const FullName& name)
{
    return buckets[name.hash % bucket_count];
}

const Definition* find(const FullName& name, Kind kind)
{
    const Definition* found = __atomic_load_n(&bucket_of(name), __ATOMIC_ACQUIRE);
    while (found != nullptr &&
           (found->hash != name.hash || found->kind != kind || found->name_length != name.length ||
            memcmp(found->name(), name.text, name.length) != 0))
        found = found->next;
    return found;
}

Definition* make(const FullName& name, Kind kind, hdType type)
{
    char xml[sizeof name.text * max_escape_length];
    const auto xml_length = static_cast<size_t>(put_xml_escaped(xml, name.text, name.length) - xml);
    void* const memory = own_malloc(sizeof(Definition) + xml_length + name.length);
    if (memory == nullptr)
        return nullptr;
    auto* const made = new (memory) Definition{nullptr, name.hash, kind, type, xml_length, name.length};
    memcpy(made->xml, xml, xml_length);
    memcpy(made->xml + xml_length, name.text, name.length);
    return made;
}

void put_text(TextBuffer& line, const char* key, const char* value)
{
    if (value != nullptr && *value != '\0')
        line.text(" ").string(key).text("='").info_escaped(value).text("'");
}

void put_name(TextBuffer& line, const char* kind, const FullName& name, const char* group)
{
    char text[sizeof name.text];
    memcpy(text, name.text, name.length);
    text[name.length] = '\0';
    line.string(kind).text(" name='").info_escaped(text).text("'");
    put_text(line, "class", group);
}

void put_bound(TextBuffer& line, const char* key, double value)
{
    char text[float_room];
    *put_float(text, value) = '\0';
    put_text(line, key, text);
}

void describe(const FullName& name, const hdRegion& region)
{
    TextBuffer line;
    put_name(line, "Region", name, region.group);
    put_text(line, "file", region.file);
    if (region.file != nullptr)
        line.text(" line=").number(region.line);
    write_info(line.text("\n"));
}

void describe(const FullName& name, const hdCounter& counter, const char* description = nullptr)
{
    static constexpr const char* scopes[] = {"process", "thread", "node", "all"};
    static constexpr const char* times[] = {"after", "before", "point", "sample"};
    TextBuffer line;
    put_name(line, "Counter", name, counter.group);
    put_text(line, "type", counter.type == HD_FLOAT ? "float" : "integer");
    put_text(line, "unit", counter.unit);
    if (with_own_floating_point([&] { return counter.lower != 0 || counter.upper != 0; })) {
        put_bound(line, "lower", counter.lower);
        put_bound(line, "upper", counter.upper);
    }
    const bool is_of_group = counter.of != nullptr && *counter.of != '\0';
    put_text(line, "scope", is_of_group ? "group" : scopes[counter.meaning & 3]);
    put_text(line, "of", counter.of);
    put_text(line, "valid", times[counter.meaning >> 2 & 3]);
    if ((counter.meaning & HD_RATE) != 0)
        put_text(line, "display", "rate");
    put_text(line, "description", description);
    write_info(line.text("\n"));
}

template <typename Object>
const Definition* find_or_make(const Object& object, Kind kind, hdType type, int& error)
{
    FullName name;
    error = name.set(object.group, object.name);
    if (error != 0)
        return nullptr;
    if (const Definition* const found = find(name, kind))
        return found;
    const Lock lock(mutex);
    if (!lock.held()) {
        error = HD_ERR_BUSY;
        return nullptr;
    }
    if (const Definition* const found = find(name, kind)) // another thread was faster
        return found;
    Definition* const made = definition_count < most_definitions ? make(name, kind, type) : nullptr;
    if (made == nullptr) {
        error = definition_count < most_definitions ? HD_ERR_MEMORY : HD_ERR_MANY;
        return nullptr;
    }
    ++definition_count;
    describe(name, object);
    made->next = bucket_of(name);
    __atomic_store_n(&bucket_of(name), made, __ATOMIC_RELEASE);
    return made;
}

template <typename Object> const Definition* known(const Object& object)
{
    return static_cast<const Definition*>(__atomic_load_n(&object.known, __ATOMIC_ACQUIRE));
}

template <typename Object> const Definition* remember(Object& object, const Definition* definition)
{
    __atomic_store_n(&object.known, const_cast<Definition*>(definition), __ATOMIC_RELEASE);
    return definition;
}

} // namespace

const Definition* define(hdRegion& region, int& error)
{
    if (const Definition* const definition = known(region))
        return definition;
    return remember(region, find_or_make(region, Kind::region, HD_INTEGER, error));
}

const Definition* define(hdCounter& counter, int& error)
{
    if (const Definition* const definition = known(counter))
        return definition;
    if (counter.type != HD_INTEGER && counter.type != HD_FLOAT) {
        error = HD_ERR_TYPE;
        return nullptr;
    }
    return remember(counter, find_or_make(counter, Kind::counter, counter.type, error));
}

const Definition* find_defined(const hdRegion& region)
{
    if (const Definition* const definition = known(region))
        return definition;
    FullName name;
    return name.set(region.group, region.name) == 0 ? find(name, Kind::region) : nullptr;
}

void describe_counter(const hdCounter& counter, const char* description)
{
    FullName name;
    if (name.set(counter.group, counter.name) == 0)
        describe(name, counter, description);
}

int define_group(const char* name, const char* members)
{
    if (name == nullptr || *name == '\0' || members == nullptr)
        return HD_ERR_NAME;
    TextBuffer line;
    line.text("Group name='").info_escaped(name).text("' members='").info_escaped(members).text("'\n");
    if (line.bad())
        return HD_ERR_MEMORY;
    write_info(line);
    return 0;
}

} // namespace hdtrace::mpi
