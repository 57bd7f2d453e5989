#include "hdtrace/format/blocks.h"

#include <algorithm>
#include <limits>
#include <string_view>

#include "hdtrace/format/number_runs.h"

namespace hdtrace {
namespace {

/// Blocks of one type that are visited one by one although the project has a run of them: it may say
/// anything.
constexpr std::int64_t most_expanded = 1 << 24;

using Visit = std::function<bool(const Blocks&)>;

/// A list of numbers, or one number again and again.
class Numbers {
  public:
    explicit Numbers(std::string_view list) : m_list(list) { next(); }
    explicit Numbers(std::int64_t always)
        : m_run{always, 0, std::numeric_limits<std::int64_t>::max()}, m_is_endless(true)
    {
    }

    /// The next ones; its count is 0 at the end and where something else follows.
    const NumberRun& run() const { return m_run; }
    bool is_read() const { return m_is_endless || (m_run.count == 0 && m_list.empty()); }

    /// So many of run().
    void take(std::int64_t count)
    {
        if (m_is_endless)
            return;
        if (count == m_run.count)
            next();
        else
            m_run = m_run.part(count, m_run.count - count);
    }

  private:
    void next() { m_run = take_run(m_list).value_or(NumberRun{0, 0, 0}); }

    std::string_view m_list;
    NumberRun m_run;
    bool m_is_endless = false;
};

/// A row with as many lengths as displacements. @p expanded: how many were visited one by one, in all rows.
bool visit_lists(Numbers lengths, Numbers places, const Visit& visit, std::int64_t& expanded)
{
    while (lengths.run().count > 0 && places.run().count > 0) {
        const NumberRun& length = lengths.run();
        const NumberRun& place = places.run();
        const std::int64_t count = length.step == 0 ? std::min(length.count, place.count) : 1;
        expanded += length.step != 0 ? 1 : 0;
        if (expanded > most_expanded || !visit({count, length.first, place.first, place.step}))
            return false;
        lengths.take(count);
        places.take(count);
    }
    return lengths.is_read() && places.is_read();
}

} // namespace

bool is_indexed(const Datatype& datatype)
{
    const std::string_view combiner = datatype.combiner;
    return combiner.starts_with("INDEXED") || combiner.starts_with("HINDEXED");
}

bool for_each_blocks(const Datatype& datatype, const Visit& visit)
{
    const bool has_lengths = !datatype.combiner.ends_with("_BLOCK");
    const AttributeName place_name = has_lengths ? "index" : "displacement";
    const auto all = datatype.attributes.integer("blockLength");
    if (!has_lengths && !all)
        return datatype.rows.empty();
    std::int64_t expanded = 0;
    return std::ranges::all_of(datatype.rows, [&](const Element& row) {
        if (row.name == "Blocks") {
            const Numbers lengths = has_lengths ? Numbers(row.find("len").value_or("")) : Numbers(*all);
            return visit_lists(lengths, Numbers(row.find(place_name).value_or("")), visit, expanded);
        }
        const auto length = has_lengths ? row.integer("len") : all, place = row.integer(place_name);
        return length && place && visit({1, *length, *place, 0});
    });
}

} // namespace hdtrace
