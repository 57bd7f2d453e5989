#include "merger/datatypes.h"

#include "hdtrace/format/number_runs.h"
#include "merger/trace_name.h"

#include <algorithm>
#include <set>
#include <stdexcept>

namespace hdtrace::merger {

namespace {

/// Null for types.
const ContentValues* values_of(const DescribedDatatype& datatype, Array array)
{
    switch (array) {
    case Array::integers:
        return &datatype.integers;
    case Array::addresses:
        return &datatype.addresses;
    case Array::types:
        break;
    }
    return nullptr;
}

std::size_t array_size(const DescribedDatatype& datatype, Array array)
{
    const ContentValues* const values = values_of(datatype, array);
    return values ? values->size() : datatype.types.size();
}

std::size_t place_of(const Position& position, std::size_t repeats, std::size_t k)
{
    return position.start + position.factor * repeats + k;
}

NumberRun run_of(std::string_view entry)
{
    const std::string list = std::string(entry) + ';';
    std::string_view rest = list;
    return take_run(rest).value();
}

std::size_t count_repeats(const Combiner& combiner, const DescribedDatatype& datatype)
{
    if (combiner.repeat_at == Combiner::no_repeat)
        return 0;
    const auto at = static_cast<std::size_t>(combiner.repeat_at);
    const auto repeats = at < datatype.integers.size() ? label_number(datatype.integers[at]) : std::nullopt;
    const std::size_t all = datatype.integers.size() + datatype.addresses.size() + datatype.types.size();
    if (!repeats || static_cast<std::size_t>(*repeats) > all)
        throw std::invalid_argument(std::string(combiner.name) + " needs a count at integer " +
                                    std::to_string(at));
    return static_cast<std::size_t>(*repeats);
}

/// How many values a combiner takes from an array.
std::size_t needed_size(const Combiner& combiner, Array array, std::size_t repeats)
{
    std::size_t size = 0;
    const auto extend = [&](const ContentAttribute& attribute, std::size_t length) {
        if (attribute.position.array == array)
            size = std::max(size, attribute.position.start + attribute.position.factor * repeats + length);
    };
    for (const ContentAttribute& attribute : combiner.attributes)
        extend(attribute, 1);
    for (const ContentAttribute& attribute : combiner.child_attributes)
        extend(attribute, repeats);
    return size;
}

/// Puts components before their users, otherwise in the order of the ids. Depth first, without recursion
/// because the depth comes from the input.
class ComponentOrder {
  public:
    ComponentOrder(const DatatypeTable& table, Report& report) : m_table(table), m_report(report) {}

    std::vector<const DatatypeRecord*> sort()
    {
        for (const auto& [id, ignored] : m_table)
            visit(id);
        return std::move(m_sorted);
    }

  private:
    struct Open {
        const DatatypeRecord* record;
        std::size_t next_component;
    };

    void visit(std::int64_t id)
    {
        open(id, nullptr);
        while (!m_open.empty()) {
            Open& top = m_open.back();
            const auto& components = top.record->datatype.types;
            if (top.next_component < components.size()) {
                open(components[top.next_component++], top.record);
                continue;
            }
            m_sorted.push_back(top.record);
            m_in_progress.erase(top.record->datatype.id);
            m_open.pop_back();
        }
    }

    void open(std::int64_t id, const DatatypeRecord* user)
    {
        if (id == null_id)
            return;
        const auto found = m_table.find(id);
        if (found == m_table.end()) {
            m_report.error(user->place, "datatype " + std::to_string(user->datatype.id) +
                                            " consists of datatype " + std::to_string(id) +
                                            ", which is not described");
            return;
        }
        if (m_in_progress.contains(id)) {
            m_report.error(user->place, "datatype " + std::to_string(id) + " consists of itself");
            return;
        }
        if (m_seen.insert(id).second) {
            m_in_progress.insert(id);
            m_open.push_back({&found->second, 0});
        }
    }

    const DatatypeTable& m_table;
    Report& m_report;
    std::set<std::int64_t> m_seen;
    std::set<std::int64_t> m_in_progress;
    std::vector<Open> m_open;
    std::vector<const DatatypeRecord*> m_sorted;
};

bool is_number(std::string_view text)
{
    text.remove_prefix(text.starts_with('-') ? 1 : 0);
    return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

bool is_distribution(std::string_view value)
{
    return value == "MPI_DISTRIBUTE_BLOCK" || value == "MPI_DISTRIBUTE_CYCLIC" ||
           value == "MPI_DISTRIBUTE_NONE" || value == "MPI_DISTRIBUTE_DFLT_DARG" ||
           value == "UNKNOWN"; // the last for numbers, in older traces
}

/// MPI has constants for some values.
bool is_value_of(std::string_view attribute, std::string_view value)
{
    if (attribute == "order")
        return value == "MPI_ORDER_C" || value == "MPI_ORDER_FORTRAN";
    if (attribute == "distrib")
        return is_distribution(value);
    return is_number(value) || (attribute == "darg" && is_distribution(value));
}

void check_values(const Combiner& combiner, const DescribedDatatype& datatype, std::size_t repeats)
{
    const auto check = [&](const ContentAttribute& attribute, std::size_t k) {
        const std::string value = content(datatype, attribute.position, repeats, k);
        if (!is_value_of(attribute.name, value))
            throw std::invalid_argument("'" + value + "' is not a value of " + std::string(attribute.name));
    };
    for (const ContentAttribute& attribute : combiner.attributes)
        check(attribute, 0);
    for (const ContentAttribute& attribute : combiner.child_attributes) {
        for (std::size_t k = 0; k < repeats; k = content_end(datatype, attribute.position, repeats, k, 1))
            check(attribute, k);
    }
}

void check(const DatatypeRecord& record, Report& report)
{
    const Combiner* combiner = find_combiner(record.datatype.combiner);
    if (!combiner)
        return;
    if (!record.datatype.has_contents()) {
        report.warn(Topic::datatypes_without_contents, record.place,
                    "the contents of datatype " + std::to_string(record.datatype.id) + " are not known");
        return;
    }
    try {
        check_values(*combiner, record.datatype, check_contents(*combiner, record.datatype));
    } catch (const std::invalid_argument& error) {
        report.error(record.place, "datatype " + std::to_string(record.datatype.id) + ": " + error.what());
    }
}

} // namespace

std::size_t ContentValues::entry_at(std::size_t position) const
{
    return ends.empty() ? position
                        : static_cast<std::size_t>(std::ranges::upper_bound(ends, position) - ends.begin());
}

std::size_t ContentValues::begin_of(std::size_t entry) const
{
    return ends.empty() || entry == 0 ? entry : ends[entry - 1];
}

std::string ContentValues::part(std::size_t entry, std::size_t begin, std::size_t end) const
{
    const std::size_t first = begin_of(entry);
    if (begin_of(entry + 1) - first == 1)
        return entries[entry] + ';';
    std::string part;
    append_run(part,
               run_of(entries[entry])
                   .part(static_cast<std::int64_t>(begin - first), static_cast<std::int64_t>(end - begin)));
    return part;
}

std::string ContentValues::operator[](std::size_t position) const
{
    std::string value = part(entry_at(position), position, position + 1);
    value.pop_back(); // the semicolon
    return value;
}

std::string ContentValues::list(std::size_t begin, std::size_t count) const
{
    std::string list;
    const std::size_t end = begin + count;
    for (std::size_t entry = entry_at(begin); begin < end; ++entry) {
        const std::size_t next = std::min(end, begin_of(entry + 1));
        list += part(entry, begin, next);
        begin = next;
    }
    return list;
}

std::size_t check_contents(const Combiner& combiner, const DescribedDatatype& datatype)
{
    struct Named {
        Array array;
        const char* name;
    };
    const std::size_t repeats = count_repeats(combiner, datatype);
    for (const auto& [array, name] : {Named{Array::integers, "integers"},
                                      Named{Array::addresses, "addresses"}, Named{Array::types, "types"}}) {
        const std::size_t needed = needed_size(combiner, array, repeats);
        const std::size_t found = array_size(datatype, array);
        if (found != needed)
            throw std::invalid_argument(std::string(combiner.name) + " needs " + std::to_string(needed) +
                                        " " + name + ", but there are " + std::to_string(found));
    }
    return repeats;
}

std::string content(const DescribedDatatype& datatype, const Position& position, std::size_t repeats,
                    std::size_t k)
{
    const std::size_t place = place_of(position, repeats, k);
    const ContentValues* const values = values_of(datatype, position.array);
    return values ? (*values)[place] : std::to_string(datatype.types[place]);
}

std::string content_list(const DescribedDatatype& datatype, const Position& position, std::size_t repeats,
                         std::size_t first, std::size_t count)
{
    return values_of(datatype, position.array)->list(place_of(position, repeats, first), count);
}

std::size_t content_end(const DescribedDatatype& datatype, const Position& position, std::size_t repeats,
                        std::size_t first, std::size_t entries)
{
    const std::size_t begin = place_of(position, repeats, first);
    const ContentValues* const values = values_of(datatype, position.array);
    return first + (values ? values->end_of_entries(begin, entries) - begin : entries);
}

ProcessDatatypes DatatypePool::add(const DatatypeTable& table, Report& report)
{
    ProcessDatatypes datatypes;
    datatypes.reserve(table.size());
    for (const DatatypeRecord* record : ComponentOrder(table, report).sort()) {
        check(*record, report);
        datatypes.push_back(&*m_datatypes.insert(record->datatype).first);
    }
    return datatypes;
}

std::size_t DatatypePool::Hash::operator()(const DescribedDatatype& datatype) const
{
    std::size_t hash = 0;
    const auto mix = [&hash](const auto& value) {
        hash = hash * 1'000'003 + std::hash<std::decay_t<decltype(value)>>()(value);
    };
    mix(datatype.id);
    mix(datatype.combiner);
    mix(datatype.name);
    std::ranges::for_each(datatype.integers.entries, mix);
    std::ranges::for_each(datatype.addresses.entries, mix);
    std::ranges::for_each(datatype.types, mix);
    return hash;
}

} // namespace hdtrace::merger
