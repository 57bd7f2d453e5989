#include "mpiwrapper/runtime/objects/datatypes.h"

#include "hdtrace/writer/own_memory.h"
#include "hdtrace/writer/text_buffer.h"
#include "mpiwrapper/runtime/library/real.h"
#include "mpiwrapper/runtime/objects/lock.h"
#include "mpiwrapper/runtime/objects/object_table.h"
#include "mpiwrapper/runtime/objects/predefined_types.h"
#include "mpiwrapper/runtime/objects/type_contents.h"
#include "mpiwrapper/runtime/process/info_sink.h"

#include <stdlib.h>

namespace hdtrace::mpi {

constinit Generations<MPI_Datatype> type_generations;

namespace {

struct KnownType : TableEntry<KnownType> {
    Type type;
};

pthread_mutex_t mutex =
    PTHREAD_MUTEX_INITIALIZER;          // for the table and the ids; never held during a call of MPI
constinit ObjectTable<KnownType> types; // by handle
int64_t next_id = 0;
int keyval = MPI_KEYVAL_INVALID;

bool lookup(MPI_Datatype handle, Type* type)
{
    const MutexLock lock(mutex);
    const KnownType* const known = types.find(handle_bits(handle));
    if (known == nullptr)
        return false;
    *type = known->type;
    return true;
}

int forget(MPI_Datatype handle, int, void* value, void*)
{
    const MutexLock lock(mutex);
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
    const MutexLock lock(mutex);
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

Type add_type(MPI_Datatype handle, const MPI_Datatype* components, int component_count)
{
    const TypeContents contents(handle);
    if (components == nullptr) {
        components = contents.types();
        component_count = contents.type_count();
    }
    int64_t* const ids =
        static_cast<int64_t*>(own_calloc(static_cast<size_t>(component_count) + 1, sizeof(int64_t)));
    KnownType* const made = static_cast<KnownType*>(own_malloc(sizeof(KnownType)));
    MPI_Count size = 0;
    real.MPI_Type_size_x(handle, &size);
    if (ids == nullptr || made == nullptr) {
        own_free(ids);
        own_free(made);
        return {-1, size};
    }
    for (int i = 0; i < component_count; ++i)
        ids[i] = find_type(components[i], true).id;
    TextBuffer description;
    add_description(description, handle, contents, ids, component_count, size);
    own_free(ids);
    const bool is_new = insert(handle, size, description, made);
    const Type type = made->type;
    if (!is_new) {
        own_free(made);
        return type;
    }
    // A predefined type is never freed. For others an attribute's delete function is the one way to hear of
    // their end.
    if (!contents.is_predefined())
        real.MPI_Type_set_attr(handle, keyval, made);
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
