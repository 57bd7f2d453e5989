#include "mpiwrapper/runtime/objects/datatypes.h"

#include "hdtrace/writer/own_memory.h"
#include "hdtrace/writer/text_buffer.h"
#include "hdtrace/writer/undisturbed.h"
#include "mpiwrapper/runtime/library/real.h"
#include "mpiwrapper/runtime/objects/lock.h"
#include "mpiwrapper/runtime/objects/object_table.h"
#include "mpiwrapper/runtime/objects/predefined_types.h"
#include "mpiwrapper/runtime/objects/type_contents.h"
#include "mpiwrapper/runtime/process/info_sink.h"

#include <new>
#include <stdlib.h>

namespace hdtrace::mpi {

constinit Generations<MPI_Datatype> type_generations;

namespace {

struct KnownType : TableEntry<KnownType> {
    Type type;
};

pthread_mutex_t mutex =
    HDTRACE_MUTEX_INITIALIZER;          // for the table and the ids; never held during a call of MPI
constinit ObjectTable<KnownType> types; // by handle
int64_t next_id = 0;
int keyval = MPI_KEYVAL_INVALID;

bool lookup(MPI_Datatype handle, Type* type)
{
    const MutexLock look(mutex);
    const KnownType* const known = types.find(handle_bits(handle));
    if (known == nullptr)
        return false;
    *type = known->type;
    return true;
}

int forget(MPI_Datatype handle, int, void* value, void*)
{
    const Lock lock(mutex);
    if (!lock.held())
        return MPI_SUCCESS;
    KnownType* const known = types.find(handle_bits(handle));
    if (known != nullptr && known == value) {
        types.remove(known);
        own_free(known);
    }
    type_generations.end(handle);
    return MPI_SUCCESS;
}

void add_name(TextBuffer& line, MPI_Datatype handle)
{
    char name[MPI_MAX_OBJECT_NAME] = "";
    int length = 0;
    real.MPI_Type_get_name(handle, name, &length);
    line.info_escaped(name);
}

// Everything of the line that does not depend on the new id: " combiner='...' ... extent=..." (the id comes
// first).
void add_description(TextBuffer& line, MPI_Datatype handle, const TypeContents& contents,
                     const int64_t* component_ids, int component_count, int64_t size)
{
    line.text("' combiner='MPI_COMBINER_").string(contents.combiner()).text("' name='");
    if (contents.is_named())
        add_name(line, handle);
    line.text("'");
    if (!contents.is_named()) {
        line.text(" integers='");
        contents.add_integers(line);
        line.text("' addresses='");
        contents.add_addresses(line);
        line.text("' types='");
        for (int i = 0; i < component_count; ++i)
            line.number(component_ids[i]).text(";");
        line.text("'");
    }
    MPI_Count lower_bound = 0, extent = 0;
    real.MPI_Type_get_extent_x(handle, &lower_bound, &extent);
    line.text(" size=")
        .number(size)
        .text(" lb=")
        .number(lower_bound)
        .text(" extent=")
        .number(extent)
        .text("\n");
}

// Puts the type into the table and its line into the .info. False if another thread was faster: its result is
// in *made then.
bool insert(MPI_Datatype handle, int64_t size, const TextBuffer& description, KnownType* made)
{
    const Lock lock(mutex);
    if (!lock.held()) {
        made->type = {-1, size};
        return false;
    }
    const KnownType* const present = types.find(handle_bits(handle));
    if (present != nullptr) {
        made->type = present->type;
        return false;
    }
    made->type = {next_id++, size};
    types.add(handle_bits(handle), made);
    TextBuffer line;
    line.text("Type id='").number(made->type.id).bytes(description.data(), description.size());
    write_info(line);
    return true;
}

// A type that is being described. What it was made of comes first, and may be of any depth: on the heap,
// since the stacks of threads may be small.
struct NewType {
    NewType(MPI_Datatype described, const MPI_Datatype* given, int given_count, NewType* around)
        : outer(around), handle(described), contents(described),
          components(given != nullptr ? given : contents.types()),
          count(given != nullptr ? given_count : contents.type_count()),
          ids(static_cast<int64_t*>(own_calloc(static_cast<size_t>(count) + 1, sizeof(int64_t))))
    {
    }
    NewType(const NewType&) = delete;
    NewType& operator=(const NewType&) = delete;
    ~NewType() { own_free(ids); }

    NewType* outer; // which is made of it
    MPI_Datatype handle;
    TypeContents contents;
    const MPI_Datatype* components;
    int count;
    int64_t* ids;        // of the components; null if memory is short
    int known_count = 0; // of them
};

// Null if memory is short.
NewType* begin_type(MPI_Datatype handle, const MPI_Datatype* components, int count, NewType* outer)
{
    void* const memory = own_malloc(sizeof(NewType));
    NewType* const type =
        memory != nullptr ? new (memory) NewType(handle, components, count, outer) : nullptr;
    if (type == nullptr || type->ids != nullptr)
        return type;
    type->~NewType();
    own_free(memory);
    return nullptr;
}

Type describe(const NewType& type, MPI_Count size)
{
    KnownType* const made = static_cast<KnownType*>(own_malloc(sizeof(KnownType)));
    if (made == nullptr)
        return {-1, size};
    TextBuffer description;
    add_description(description, type.handle, type.contents, type.ids, type.count, size);
    const bool is_new = insert(type.handle, size, description, made);
    const Type described = made->type;
    // A predefined type is never freed. For others an attribute's delete function is the one way to hear of
    // their end.
    if (!is_new)
        own_free(made);
    else if (!type.contents.is_predefined())
        real.MPI_Type_set_attr(type.handle, keyval, made);
    return described;
}

MPI_Count size_of(MPI_Datatype handle)
{
    MPI_Count size = 0;
    real.MPI_Type_size_x(handle, &size);
    return size;
}

Type add_type(MPI_Datatype handle, const MPI_Datatype* components, int component_count)
{
    NewType* current = begin_type(handle, components, component_count, nullptr);
    Type type = {-1, size_of(handle)};
    while (current != nullptr) {
        if (current->known_count < current->count) {
            const MPI_Datatype component = current->components[current->known_count];
            Type known;
            NewType* const inner = component == MPI_DATATYPE_NULL || lookup(component, &known)
                                       ? nullptr
                                       : begin_type(component, nullptr, 0, current);
            if (inner != nullptr)
                current = inner;
            else
                current->ids[current->known_count++] = known.id;
            continue;
        }
        NewType* const outer = current->outer;
        type = describe(*current, size_of(current->handle));
        current->~NewType();
        own_free(current);
        if (outer != nullptr)
            outer->ids[outer->known_count++] = type.id;
        current = outer;
    }
    return type;
}

} // namespace

void start_datatypes()
{
    real.MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, forget, &keyval, nullptr);
}

Type find_type(MPI_Datatype handle, bool may_ask)
{
    Type type;
    if (handle == MPI_DATATYPE_NULL || lookup(handle, &type) || !(may_ask || is_predefined_type(handle)))
        return type;
    return add_type(handle, nullptr, 0);
}

Type find_type_made_of(MPI_Datatype handle, const MPI_Datatype* components, int count)
{
    Type type;
    if (handle == MPI_DATATYPE_NULL || lookup(handle, &type))
        return type;
    return add_type(handle, components, count);
}

void name_type(const Type& type, const char* name)
{
    if (type.id < 0 || name == nullptr)
        return;
    TextBuffer line;
    write_info(line.text("TypeName id='").number(type.id).text("' name='").info_escaped(name).text("'\n"));
}

} // namespace hdtrace::mpi
