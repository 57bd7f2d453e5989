#include "mpiwrapper/runtime/datatypes.h"

#include "hdtrace/writer/text_buffer.h"
#include "mpiwrapper/runtime/handle.h"
#include "mpiwrapper/runtime/lock.h"
#include "mpiwrapper/runtime/process.h"
#include "mpiwrapper/runtime/real.h"

#include <glib.h>
#include <stdlib.h>

namespace hdtrace::mpi {

uint64_t type_generation = 1;

namespace {

pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER; // for the table and the ids; never held during a call of MPI
GHashTable* types = nullptr;                       // handle -> Type
int64_t next_id = 0;
int keyval = MPI_KEYVAL_INVALID;

struct Combiner
{
    int value;
    const char* name;
};

const Combiner combiners[] = {
    {MPI_COMBINER_NAMED, "NAMED"},
    {MPI_COMBINER_DUP, "DUP"},
    {MPI_COMBINER_CONTIGUOUS, "CONTIGUOUS"},
    {MPI_COMBINER_VECTOR, "VECTOR"},
    {MPI_COMBINER_HVECTOR, "HVECTOR"},
    {MPI_COMBINER_INDEXED, "INDEXED"},
    {MPI_COMBINER_HINDEXED, "HINDEXED"},
    {MPI_COMBINER_INDEXED_BLOCK, "INDEXED_BLOCK"},
    {MPI_COMBINER_HINDEXED_BLOCK, "HINDEXED_BLOCK"},
    {MPI_COMBINER_STRUCT, "STRUCT"},
    {MPI_COMBINER_SUBARRAY, "SUBARRAY"},
    {MPI_COMBINER_DARRAY, "DARRAY"},
    {MPI_COMBINER_F90_REAL, "F90_REAL"},
    {MPI_COMBINER_F90_COMPLEX, "F90_COMPLEX"},
    {MPI_COMBINER_F90_INTEGER, "F90_INTEGER"},
    {MPI_COMBINER_RESIZED, "RESIZED"},
#if MPI_VERSION < 3
    // Later headers have the names only as traps.
    {MPI_COMBINER_HVECTOR_INTEGER, "HVECTOR_INTEGER"},
    {MPI_COMBINER_HINDEXED_INTEGER, "HINDEXED_INTEGER"},
    {MPI_COMBINER_STRUCT_INTEGER, "STRUCT_INTEGER"},
#endif
};

const char* combiner_name(int combiner)
{
    for (const Combiner& candidate : combiners)
        if (candidate.value == combiner)
            return candidate.name;
    return "UNKNOWN";
}

gpointer key_of(MPI_Datatype handle)
{
    return reinterpret_cast<gpointer>(handle_bits(handle));
}

bool lookup(MPI_Datatype handle, Type* type)
{
    const MutexLock lock(mutex);
    const Type* const known = static_cast<const Type*>(g_hash_table_lookup(types, key_of(handle)));
    if (known == nullptr)
        return false;
    *type = *known;
    return true;
}

int forget(MPI_Datatype handle, int, void* value, void*)
{
    const MutexLock lock(mutex);
    if (g_hash_table_lookup(types, key_of(handle)) == value)
        g_hash_table_remove(types, key_of(handle));
    __atomic_add_fetch(&type_generation, 1, __ATOMIC_RELEASE);
    return MPI_SUCCESS;
}

// What MPI_Type_get_envelope and MPI_Type_get_contents tell. Frees what it was given.
class Contents
{
  public:
    explicit Contents(MPI_Datatype handle)
    {
        real.MPI_Type_get_envelope(handle, &m_integer_count, &m_address_count, &m_type_count, &m_combiner);
        if (is_named())
            return;
        m_integers = allocate<int>(m_integer_count);
        m_addresses = allocate<MPI_Aint>(m_address_count);
        m_types = allocate<MPI_Datatype>(m_type_count);
        m_is_complete = m_integers != nullptr && m_addresses != nullptr && m_types != nullptr
                        && real.MPI_Type_get_contents(handle, m_integer_count, m_address_count, m_type_count, m_integers,
                                                      m_addresses, m_types) == MPI_SUCCESS;
    }
    Contents(const Contents&) = delete;
    Contents& operator=(const Contents&) = delete;
    ~Contents()
    {
        for (int i = 0; m_is_complete && i < m_type_count; ++i)
            free_unless_predefined(m_types[i]);
        free(m_integers);
        free(m_addresses);
        free(m_types);
    }

    bool is_named() const { return m_combiner == MPI_COMBINER_NAMED; }
    bool is_predefined() const
    {
        return is_named() || m_combiner == MPI_COMBINER_F90_REAL || m_combiner == MPI_COMBINER_F90_COMPLEX
               || m_combiner == MPI_COMBINER_F90_INTEGER;
    }
    const char* combiner() const { return combiner_name(m_combiner); }
    int type_count() const { return m_is_complete ? m_type_count : 0; }
    const MPI_Datatype* types() const { return m_types; }

    void add_integers(TextBuffer& line) const
    {
        for (int i = 0; m_is_complete && i < m_integer_count; ++i) {
            add_integer(line, i);
            line.text(";");
        }
    }
    void add_addresses(TextBuffer& line) const
    {
        for (int i = 0; m_is_complete && i < m_address_count; ++i)
            line.number(m_addresses[i]).text(";");
    }

  private:
    template <typename T> static T* allocate(int count)
    {
        return static_cast<T*>(calloc(static_cast<size_t>(count) + 1, sizeof(T)));
    }

    static void free_unless_predefined(MPI_Datatype handle)
    {
        int integers = 0, addresses = 0, types = 0, combiner = MPI_COMBINER_NAMED;
        real.MPI_Type_get_envelope(handle, &integers, &addresses, &types, &combiner);
        const bool is_predefined = combiner == MPI_COMBINER_NAMED || combiner == MPI_COMBINER_F90_REAL
                                   || combiner == MPI_COMBINER_F90_COMPLEX || combiner == MPI_COMBINER_F90_INTEGER;
        if (!is_predefined)
            real.MPI_Type_free(&handle);
    }

    // Constants stand in the .info by name, since every MPI library has its own numbers.
    void add_integer(TextBuffer& line, int index) const
    {
        const int value = m_integers[index];
        const bool is_darray = m_combiner == MPI_COMBINER_DARRAY;
        const bool has_order = is_darray || m_combiner == MPI_COMBINER_SUBARRAY;
        // size, rank, ndims, then for each dimension: sizes, distributions, their arguments, processes; then the order.
        const int block = is_darray && index >= 3 ? (index - 3) / m_integers[2] : -1;
        if (has_order && index == m_integer_count - 1)
            line.string(value == MPI_ORDER_C ? "MPI_ORDER_C" : "MPI_ORDER_FORTRAN");
        else if (block == 1)
            line.string(value == MPI_DISTRIBUTE_BLOCK    ? "MPI_DISTRIBUTE_BLOCK"
                        : value == MPI_DISTRIBUTE_CYCLIC ? "MPI_DISTRIBUTE_CYCLIC"
                                                         : "MPI_DISTRIBUTE_NONE");
        else if (block == 2 && value == MPI_DISTRIBUTE_DFLT_DARG)
            line.text("MPI_DISTRIBUTE_DFLT_DARG");
        else
            line.number(value);
    }

    int m_integer_count = 0;
    int m_address_count = 0;
    int m_type_count = 0;
    int m_combiner = MPI_COMBINER_NAMED;
    int* m_integers = nullptr;
    MPI_Aint* m_addresses = nullptr;
    MPI_Datatype* m_types = nullptr;
    bool m_is_complete = false;
};

void add_name(TextBuffer& line, MPI_Datatype handle)
{
    char name[MPI_MAX_OBJECT_NAME] = "";
    int length = 0;
    real.MPI_Type_get_name(handle, name, &length);
    line.info_escaped(name);
}

// Everything of the line that does not depend on the new id: " combiner='...' ... extent=..." (the id comes first).
void add_description(TextBuffer& line, MPI_Datatype handle, const Contents& contents, const int64_t* component_ids,
                     int component_count, int64_t size)
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
    line.text(" size=").number(size).text(" lb=").number(lower_bound).text(" extent=").number(extent).text("\n");
}

// Puts the type into the table and its line into the .info, unless another thread was faster.
Type insert(MPI_Datatype handle, int64_t size, const TextBuffer& description, Type* node)
{
    const MutexLock lock(mutex);
    const Type* const present = static_cast<const Type*>(g_hash_table_lookup(types, key_of(handle)));
    if (present != nullptr) {
        const Type found = *present;
        free(node);
        return found;
    }
    *node = {next_id++, size};
    g_hash_table_insert(types, key_of(handle), node);
    TextBuffer line;
    line.text("Type id='").number(node->id).bytes(description.data(), description.size());
    write_info(line);
    return *node;
}

Type add_type(MPI_Datatype handle, const MPI_Datatype* components, int component_count)
{
    const Contents contents(handle);
    if (components == nullptr) {
        components = contents.types();
        component_count = contents.type_count();
    }
    int64_t* const ids = static_cast<int64_t*>(calloc(static_cast<size_t>(component_count) + 1, sizeof(int64_t)));
    Type* const node = static_cast<Type*>(calloc(1, sizeof(Type)));
    MPI_Count size = 0;
    real.MPI_Type_size_x(handle, &size);
    if (ids == nullptr || node == nullptr) {
        free(ids);
        free(node);
        return {-1, size};
    }
    for (int i = 0; i < component_count; ++i)
        ids[i] = find_type(components[i], true).id;
    TextBuffer description;
    add_description(description, handle, contents, ids, component_count, size);
    free(ids);
    const Type type = insert(handle, size, description, node);
    // A predefined type is never freed. For others an attribute's delete function is the one way to hear of their end.
    if (!contents.is_predefined())
        real.MPI_Type_set_attr(handle, keyval, node);
    return type;
}

} // namespace

void start_datatypes()
{
    types = g_hash_table_new_full(g_direct_hash, g_direct_equal, nullptr, free);
    real.MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, forget, &keyval, nullptr);
}

Type find_type(MPI_Datatype handle, bool may_ask)
{
    Type type;
    if (handle == MPI_DATATYPE_NULL || lookup(handle, &type) || !may_ask)
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
