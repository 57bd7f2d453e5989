#include "mpiwrapper/runtime/objects/type_contents.h"

#include "hdtrace/writer/own_memory.h"
#include "mpiwrapper/runtime/library/named_values.h"
#include "mpiwrapper/runtime/library/real.h"

#include <stdlib.h>
#include <string_view>

namespace hdtrace::mpi {

namespace {

const char* name_of_combiner(int combiner)
{
    for (const NamedValue& candidate : combiner_names)
        if (candidate.value == combiner)
            return candidate.name;
    return "UNKNOWN";
}

constexpr int no_combiner = -1;

// Not every mpi.h has all of them. no_combiner if this one does not.
constexpr int find_combiner(std::string_view name)
{
    for (const NamedValue& candidate : combiner_names)
        if (name == candidate.name)
            return candidate.value;
    return no_combiner;
}
constexpr int value_index = find_combiner("VALUE_INDEX"); // MPI 4.1
constexpr int indexed[] = {find_combiner("INDEXED"), find_combiner("HINDEXED"),
                           find_combiner("INDEXED_BLOCK"), find_combiner("HINDEXED_BLOCK"),
                           find_combiner("HINDEXED_INTEGER")};

// Lists of an indexed type that are longer have runs.
constexpr MPI_Count most_single_values = 1000;
// As text, shorter ones are hardly shorter than the numbers themselves.
constexpr MPI_Count shortest_run = 4;

// How many values from the first one on, one at least, have the distance that the next two have.
template <typename Value> MPI_Count run_length(MPI_Count first, MPI_Count end, const Value& value)
{
    int64_t step = 0;
    MPI_Count length = 1;
    for (MPI_Count i = first + 1; i < end; ++i, ++length) {
        int64_t distance = 0;
        if (__builtin_sub_overflow(value(i), value(i - 1), &distance) || (length > 1 && distance != step))
            break;
        step = distance;
    }
    return length;
}

// "4;0+8*1000;": numbers at equal distances are written once, with the distance and how many there are.
template <typename Value> void add_runs(TextBuffer& line, MPI_Count count, const Value& value)
{
    for (MPI_Count i = 0; i < count;) {
        const MPI_Count length = run_length(i, count, value);
        line.number(value(i));
        if (length < shortest_run) {
            line.text(";");
            ++i;
            continue;
        }
        const int64_t step = value(i + 1) - value(i);
        line.bytes("+", step < 0 ? 0 : 1).number(step).text("*").number(length).text(";");
        i += length;
    }
}

template <typename Value> void add_values(TextBuffer& line, MPI_Count count, const Value& value)
{
    for (MPI_Count i = 0; i < count; ++i)
        line.number(value(i)).text(";");
}

template <typename T> T* allocate(MPI_Count count)
{
    return static_cast<T*>(own_calloc(static_cast<size_t>(count) + 1, sizeof(T)));
}

} // namespace

TypeContents::TypeContents(MPI_Datatype handle)
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

TypeContents::~TypeContents()
{
    for (int i = 0; i < type_count(); ++i)
        free_unless_predefined(m_types[i]);
    own_free(m_integers);
    own_free(m_addresses);
    own_free(m_large_counts);
    own_free(m_types);
}

const char* TypeContents::combiner() const
{
    return name_of_combiner(m_combiner);
}

void TypeContents::add_integers(TextBuffer& line) const
{
    if (!m_is_complete)
        return;
    if (is_indexed() && integer_count() > most_single_values)
        return add_runs(line, integer_count(), [&](MPI_Count i) { return static_cast<int64_t>(integer(i)); });
    for (MPI_Count i = 0; i < integer_count(); ++i) {
        add_integer(line, i);
        line.text(";");
    }
}

void TypeContents::add_addresses(TextBuffer& line) const
{
    if (!m_is_complete)
        return;
    const MPI_Count first_large = large_integer_count();
    const MPI_Count count = m_sizes.addresses + m_sizes.large_counts - first_large;
    const auto value = [&](MPI_Count i) {
        return static_cast<int64_t>(
            i < m_sizes.addresses ? m_addresses[i] : m_large_counts[first_large + i - m_sizes.addresses]);
    };
    if (is_indexed() && count > most_single_values)
        add_runs(line, count, value);
    else
        add_values(line, count, value);
}

bool TypeContents::is_indexed() const
{
    for (const int combiner : indexed)
        if (m_combiner == combiner)
            return true;
    return false;
}

bool TypeContents::is_predefined(int combiner)
{
    return combiner == MPI_COMBINER_NAMED || combiner == MPI_COMBINER_F90_REAL ||
           combiner == MPI_COMBINER_F90_COMPLEX || combiner == MPI_COMBINER_F90_INTEGER ||
           combiner == value_index;
}

void TypeContents::free_unless_predefined(MPI_Datatype handle)
{
    Sizes ignored;
    if (!is_predefined(ignored.read(handle)))
        real.MPI_Type_free(&handle);
}

#ifdef HDT_HAS_MPI_Type_get_contents_c
// The older functions refuse what the large-count constructors made.
int TypeContents::Sizes::read(MPI_Datatype handle)
{
    int combiner = MPI_COMBINER_NAMED;
    real.MPI_Type_get_envelope_c(handle, &integers, &addresses, &large_counts, &types, &combiner);
    return combiner;
}

int TypeContents::read(MPI_Datatype handle)
{
    return real.MPI_Type_get_contents_c(handle, m_sizes.integers, m_sizes.addresses, m_sizes.large_counts,
                                        m_sizes.types, m_integers, m_addresses, m_large_counts, m_types);
}
#else
int TypeContents::Sizes::read(MPI_Datatype handle)
{
    int combiner = MPI_COMBINER_NAMED;
    real.MPI_Type_get_envelope(handle, &integers, &addresses, &types, &combiner);
    return combiner;
}

int TypeContents::read(MPI_Datatype handle)
{
    return real.MPI_Type_get_contents(handle, m_sizes.integers, m_sizes.addresses, m_sizes.types, m_integers,
                                      m_addresses, m_types);
}
#endif

// How many of the large counts are integers in the older form; the others are displacements in bytes.
MPI_Count TypeContents::large_integer_count() const
{
    if (m_sizes.large_counts == 0 || m_combiner == MPI_COMBINER_RESIZED)
        return 0;
    if (m_combiner == MPI_COMBINER_HVECTOR || m_combiner == MPI_COMBINER_HINDEXED_BLOCK)
        return 2;
    if (m_combiner == MPI_COMBINER_HINDEXED || m_combiner == MPI_COMBINER_STRUCT)
        return 1 + m_large_counts[0];
    return m_sizes.large_counts;
}

// In the order of the older form (MPI 4.0, 5.1.13): large counts stand behind the first integers.
MPI_Count TypeContents::integer(MPI_Count index) const
{
    const MPI_Count first_large = is_darray() ? 3 : has_order() ? 1 : 0;
    if (index < first_large || large_integer_count() == 0)
        return m_integers[index];
    const MPI_Count in_large = index - first_large;
    return in_large < large_integer_count() ? m_large_counts[in_large]
                                            : m_integers[index - large_integer_count()];
}

// Constants stand in the .info by name, since every MPI library has its own numbers.
void TypeContents::add_integer(TextBuffer& line, MPI_Count index) const
{
    const MPI_Count value = integer(index);
    // size, rank, ndims, then for each dimension: sizes, distributions, their arguments, processes; then the
    // order.
    const MPI_Count block = is_darray() && index >= 3 && integer(2) > 0 ? (index - 3) / integer(2) : -1;
    if (has_order() && index == integer_count() - 1)
        line.string(value == MPI_ORDER_C ? "MPI_ORDER_C" : "MPI_ORDER_FORTRAN");
    else if (block == 1)
        line.string(value == MPI_DISTRIBUTE_BLOCK    ? "MPI_DISTRIBUTE_BLOCK"
                    : value == MPI_DISTRIBUTE_CYCLIC ? "MPI_DISTRIBUTE_CYCLIC"
                                                     : "MPI_DISTRIBUTE_NONE");
    else if (block == 2 && value == MPI_DISTRIBUTE_DFLT_DARG)
        line.text("MPI_DISTRIBUTE_DFLT_DARG");
    else if (is_predefined() && value == MPI_UNDEFINED)
        line.number(-1); // a precision or a range that the program left to MPI
    else
        line.number(value);
}

} // namespace hdtrace::mpi
