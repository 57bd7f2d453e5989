#include "mpiwrapper/runtime/objects/datatypes.h"

#include "hdtrace/writer/text_buffer.h"
#include "mpiwrapper/runtime/library/real.h"
#include "mpiwrapper/runtime/objects/lock.h"
#include "mpiwrapper/runtime/objects/object_table.h"
#include "mpiwrapper/runtime/recording/life_cycle.h"

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

struct Combiner {
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
        free(known);
    }
    type_generations.end(handle);
    return MPI_SUCCESS;
}

// What MPI_Type_get_envelope and MPI_Type_get_contents tell. Frees what it was given.
class Contents {
  public:
    explicit Contents(MPI_Datatype handle)
    {
        m_combiner = m_sizes.read(handle);
        if (is_named())
            return;
        m_integers = allocate<int>(m_sizes.integers);
        m_addresses = allocate<MPI_Aint>(m_sizes.addresses);
        m_large_counts = allocate<MPI_Count>(m_sizes.large_counts);
        m_types = allocate<MPI_Datatype>(m_sizes.types);
        m_is_complete = m_integers != nullptr && m_addresses != nullptr && m_large_counts != nullptr &&
                        m_types != nullptr && read(handle) == MPI_SUCCESS;
    }
    Contents(const Contents&) = delete;
    Contents& operator=(const Contents&) = delete;
    ~Contents()
    {
        for (int i = 0; i < type_count(); ++i)
            free_unless_predefined(m_types[i]);
        free(m_integers);
        free(m_addresses);
        free(m_large_counts);
        free(m_types);
    }

    bool is_named() const { return m_combiner == MPI_COMBINER_NAMED; }
    bool is_predefined() const { return is_predefined(m_combiner); }
    const char* combiner() const { return combiner_name(m_combiner); }
    int type_count() const { return m_is_complete ? static_cast<int>(m_sizes.types) : 0; }
    const MPI_Datatype* types() const { return m_types; }

    void add_integers(TextBuffer& line) const
    {
        for (MPI_Count i = 0; m_is_complete && i < integer_count(); ++i) {
            add_integer(line, i);
            line.text(";");
        }
    }
    void add_addresses(TextBuffer& line) const
    {
        for (MPI_Count i = 0; m_is_complete && i < m_sizes.addresses; ++i)
            line.number(m_addresses[i]).text(";");
        for (MPI_Count i = large_integer_count(); m_is_complete && i < m_sizes.large_counts; ++i)
            line.number(m_large_counts[i]).text(";");
    }

  private:
    template <typename T> static T* allocate(MPI_Count count)
    {
        return static_cast<T*>(calloc(static_cast<size_t>(count) + 1, sizeof(T)));
    }

    static bool is_predefined(int combiner)
    {
        return combiner == MPI_COMBINER_NAMED || combiner == MPI_COMBINER_F90_REAL ||
               combiner == MPI_COMBINER_F90_COMPLEX || combiner == MPI_COMBINER_F90_INTEGER;
    }

    static void free_unless_predefined(MPI_Datatype handle)
    {
        Sizes ignored;
        if (!is_predefined(ignored.read(handle)))
            real.MPI_Type_free(&handle);
    }

#if MPI_VERSION >= 4
    // The older functions refuse what the large-count constructors made.
    struct Sizes {
        MPI_Count integers = 0, addresses = 0, large_counts = 0, types = 0;
        int read(MPI_Datatype handle)
        {
            int combiner = MPI_COMBINER_NAMED;
            real.MPI_Type_get_envelope_c(handle, &integers, &addresses, &large_counts, &types, &combiner);
            return combiner;
        }
    };
    int read(MPI_Datatype handle)
    {
        return real.MPI_Type_get_contents_c(handle, m_sizes.integers, m_sizes.addresses, m_sizes.large_counts,
                                            m_sizes.types, m_integers, m_addresses, m_large_counts, m_types);
    }
#else
    struct Sizes {
        int integers = 0, addresses = 0, large_counts = 0, types = 0;
        int read(MPI_Datatype handle)
        {
            int combiner = MPI_COMBINER_NAMED;
            real.MPI_Type_get_envelope(handle, &integers, &addresses, &types, &combiner);
            return combiner;
        }
    };
    int read(MPI_Datatype handle)
    {
        return real.MPI_Type_get_contents(handle, m_sizes.integers, m_sizes.addresses, m_sizes.types,
                                          m_integers, m_addresses, m_types);
    }
#endif

    bool is_darray() const
    {
        return m_combiner == MPI_COMBINER_DARRAY;
    }
    bool has_order() const
    {
        return is_darray() || m_combiner == MPI_COMBINER_SUBARRAY;
    }

    // How many of the large counts are integers in the older form; the others are displacements in bytes.
    MPI_Count large_integer_count() const
    {
        if (m_sizes.large_counts == 0 || m_combiner == MPI_COMBINER_RESIZED)
            return 0;
        if (m_combiner == MPI_COMBINER_HVECTOR || m_combiner == MPI_COMBINER_HINDEXED_BLOCK)
            return 2;
        if (m_combiner == MPI_COMBINER_HINDEXED || m_combiner == MPI_COMBINER_STRUCT)
            return 1 + m_large_counts[0];
        return m_sizes.large_counts;
    }

    // The integers in the order of the older form (MPI 4.0, 5.1.13): large counts stand behind the first
    // ones.
    MPI_Count integer_count() const
    {
        return m_sizes.integers + large_integer_count();
    }
    MPI_Count integer(MPI_Count index) const
    {
        const MPI_Count first_large = is_darray() ? 3 : has_order() ? 1 : 0;
        if (index < first_large || large_integer_count() == 0)
            return m_integers[index];
        const MPI_Count in_large = index - first_large;
        return in_large < large_integer_count() ? m_large_counts[in_large]
                                                : m_integers[index - large_integer_count()];
    }

    // Constants stand in the .info by name, since every MPI library has its own numbers.
    void add_integer(TextBuffer& line, MPI_Count index) const
    {
        const MPI_Count value = integer(index);
        // size, rank, ndims, then for each dimension: sizes, distributions, their arguments, processes; then
        // the order.
        const MPI_Count block = is_darray() && index >= 3 ? (index - 3) / integer(2) : -1;
        if (has_order() && index == integer_count() - 1)
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

    Sizes m_sizes;
    int m_combiner = MPI_COMBINER_NAMED;
    int* m_integers = nullptr;
    MPI_Aint* m_addresses = nullptr;
    MPI_Count* m_large_counts = nullptr;
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

// Everything of the line that does not depend on the new id: " combiner='...' ... extent=..." (the id comes
// first).
void add_description(TextBuffer& line, MPI_Datatype handle, const Contents& contents,
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
    const Contents contents(handle);
    if (components == nullptr) {
        components = contents.types();
        component_count = contents.type_count();
    }
    int64_t* const ids =
        static_cast<int64_t*>(calloc(static_cast<size_t>(component_count) + 1, sizeof(int64_t)));
    KnownType* const made = static_cast<KnownType*>(malloc(sizeof(KnownType)));
    MPI_Count size = 0;
    real.MPI_Type_size_x(handle, &size);
    if (ids == nullptr || made == nullptr) {
        free(ids);
        free(made);
        return {-1, size};
    }
    for (int i = 0; i < component_count; ++i)
        ids[i] = find_type(components[i], true).id;
    TextBuffer description;
    add_description(description, handle, contents, ids, component_count, size);
    free(ids);
    const bool is_new = insert(handle, size, description, made);
    const Type type = made->type;
    if (!is_new) {
        free(made);
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
