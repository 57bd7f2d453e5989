#include "hdtrace/analysis/call_columns.h"

#include <algorithm>
#include <atomic>
#include <functional>
#include <iterator>
#include <queue>
#include <thread>
#include <utility>

namespace hdtrace {
namespace {

std::vector<std::string> all_class_names()
{
    std::vector<std::string> names;
    for (int i = 0; i <= static_cast<int>(CallClass::other); ++i)
        names.emplace_back(class_name(static_cast<CallClass>(i)));
    return names;
}

/// Of each row of the table, the process that it is of; each process has its rows in their order.
using Order = std::vector<std::uint32_t>;

// The order of MergedTraces.
Order order_of(std::vector<CallRows>& processes)
{
    Order order;
    std::size_t rows = 0;
    for (const CallRows& process : processes)
        rows += process.start.size();
    order.reserve(rows);
    using Head = std::pair<std::int64_t, std::uint32_t>;
    std::priority_queue<Head, std::vector<Head>, std::greater<>> heads;
    std::vector<std::size_t> next(processes.size());
    for (std::uint32_t i = 0; i < processes.size(); ++i)
        if (!processes[i].times.empty())
            heads.emplace(processes[i].times.front(), i);
    while (!heads.empty()) {
        const std::uint32_t i = heads.top().second;
        heads.pop();
        const CallRows& process = processes[i];
        const std::size_t states = process.times.size();
        std::size_t& state = next[i];
        do
            order.insert(order.end(), process.counts[state++], i);
        while (state < states && (heads.empty() || Head(process.times[state], i) < heads.top()));
        if (state < states)
            heads.emplace(process.times[state], i);
    }
    for (CallRows& process : processes) {
        process.times = {};
        process.counts = {};
    }
    return order;
}

/// Goes through the rows of all processes, and gives their memory back at the end.
template <class Item> class Cursors {
  public:
    template <class Member> Cursors(std::vector<CallRows>& processes, Member member)
    {
        for (CallRows& process : processes) {
            m_taken.push_back(std::exchange(member(process), {}));
            m_next.push_back(m_taken.back().data());
        }
    }
    const Item& next(std::uint32_t process) { return *m_next[process]++; }

  private:
    std::vector<std::vector<Item>> m_taken;
    std::vector<const Item*> m_next;
};

/// Puts the rows of all processes into columns, each by itself.
class Gathering {
  public:
    Gathering(std::vector<CallRows>& processes, const OpenedProject& project)
        : m_processes(processes), m_project(project), m_order(order_of(processes))
    {
    }

    CallColumns columns();

  private:
    template <class Number, class Item> void add(Numbers<Number>& column, std::vector<Item> CallRows::*rows)
    {
        m_work.emplace_back([this, &column, rows] {
            Cursors<Item> cursors(
                m_processes, [rows](CallRows & process) -> auto& { return process.*rows; });
            column.values.resize(m_order.size());
            for (std::size_t i = 0; i < m_order.size(); ++i)
                column.values[i] = cursors.next(m_order[i]);
        });
    }
    void add(OptionalNumbers& column, SparseNumbers CallRows::*rows);
    /// @p texts: of the process, in which the rows name theirs.
    void add(ShortTexts& column, std::vector<std::int32_t> CallRows::*rows,
             std::vector<std::string> CallRows::*texts);
    /// @p texts: of the project.
    template <class Code>
    void add(ShortTexts& column, std::vector<Code> CallRows::*rows, std::vector<std::string> texts);
    void add_ranks(Numbers<std::int32_t>& column);
    void add_sites(CallColumns& columns);
    void work();

    std::vector<CallRows>& m_processes;
    const OpenedProject& m_project;
    Order m_order;
    std::vector<std::function<void()>> m_work; ///< for each column
};

/// Makes a column of codes, which are small as long as they can be.
class CodeWriter {
  public:
    CodeWriter(ShortTexts& column, std::size_t rows) : m_column(column) { column.short_codes.reserve(rows); }

    void push(std::int32_t code)
    {
        if (m_column.codes.empty() && code <= std::numeric_limits<std::int8_t>::max())
            return m_column.short_codes.push_back(static_cast<std::int8_t>(code));
        if (m_column.codes.empty()) {
            m_column.codes.reserve(m_column.short_codes.capacity());
            m_column.codes.assign(m_column.short_codes.begin(), m_column.short_codes.end());
            m_column.short_codes = {};
        }
        m_column.codes.push_back(code);
    }

  private:
    ShortTexts& m_column;
};

/// Numbers texts in the order in which rows have them.
class TextNumbers {
  public:
    /// The number of the text that has a code where the rows come from.
    template <class Text> std::int32_t of(std::vector<std::int32_t>& known, std::int32_t code, Text text)
    {
        constexpr std::int32_t unknown = -2;
        if (code < 0)
            return -1;
        const auto place = static_cast<std::size_t>(code);
        if (place >= known.size())
            known.resize(place + 1, unknown);
        if (known[place] == unknown) {
            const std::string* const found = text(place);
            known[place] = found && !found->empty() ? m_texts.code_of(*found) : -1;
        }
        return known[place];
    }
    const std::vector<std::string>& texts() const { return m_texts.texts(); }

  private:
    TextIndex m_texts;
};

void Gathering::add(OptionalNumbers& column, SparseNumbers CallRows::*rows)
{
    m_work.emplace_back([this, &column, rows] {
        Cursors<std::uint8_t> missing(
            m_processes, [rows](CallRows & process) -> auto& { return (process.*rows).missing; });
        Cursors<std::int64_t> values(
            m_processes, [rows](CallRows & process) -> auto& { return (process.*rows).values; });
        column.values.resize(m_order.size());
        column.missing.resize(m_order.size());
        for (std::size_t i = 0; i < m_order.size(); ++i) {
            column.missing[i] = missing.next(m_order[i]);
            if (!column.missing[i])
                column.values[i] = values.next(m_order[i]);
        }
    });
}

void Gathering::add(ShortTexts& column, std::vector<std::int32_t> CallRows::*rows,
                    std::vector<std::string> CallRows::*texts)
{
    m_work.emplace_back([this, &column, rows, texts] {
        Cursors<std::int32_t> cursors(
            m_processes, [rows](CallRows & process) -> auto& { return process.*rows; });
        CodeWriter codes(column, m_order.size());
        TextNumbers numbers;
        std::vector<std::vector<std::int32_t>> known(m_processes.size());
        for (const std::uint32_t process : m_order)
            codes.push(numbers.of(known[process], cursors.next(process),
                                  [&](std::size_t text) { return &(m_processes[process].*texts)[text]; }));
        column.categories = numbers.texts();
    });
}

template <class Code>
void Gathering::add(ShortTexts& column, std::vector<Code> CallRows::*rows, std::vector<std::string> texts)
{
    column.categories = std::move(texts);
    m_work.emplace_back([this, &column, rows] {
        Cursors<Code> cursors(
            m_processes, [rows](CallRows & process) -> auto& { return process.*rows; });
        CodeWriter codes(column, m_order.size());
        for (const std::uint32_t process : m_order)
            codes.push(cursors.next(process));
    });
}

void Gathering::add_ranks(Numbers<std::int32_t>& column)
{
    m_work.emplace_back([this, &column] {
        column.values.reserve(m_order.size());
        for (const std::uint32_t process : m_order)
            column.values.push_back(m_processes[process].rank);
    });
}

void Gathering::add_sites(CallColumns& columns)
{
    m_work.emplace_back([this, &columns] {
        const std::vector<CallSite>& sites = m_project.project.call_sites;
        const auto function_of = [&](std::size_t site) { return sites[site].function(); };
        Cursors<std::int32_t> cursors(
            m_processes, [](CallRows & process) -> auto& { return process.site; });
        CodeWriter functions(columns.function, m_order.size()), files(columns.source_file, m_order.size());
        TextNumbers function_numbers, file_numbers;
        std::vector<std::int32_t> known_functions, known_files;
        for (OptionalNumbers* const column : {&columns.site, &columns.source_line}) {
            column->values.resize(m_order.size());
            column->missing.resize(m_order.size());
        }
        const auto put = [](OptionalNumbers& column, std::size_t row, std::optional<std::int64_t> value) {
            column.missing[row] = !value;
            if (value)
                column.values[row] = *value;
        };
        for (std::size_t i = 0; i < m_order.size(); ++i) {
            const std::int32_t site = cursors.next(m_order[i]);
            const SourceFunction* const function = site < 0 ? nullptr : function_of(site);
            put(columns.site, i, site < 0 ? std::nullopt : std::optional<std::int64_t>(site));
            put(columns.source_line, i, function ? function->line : std::nullopt);
            functions.push(function_numbers.of(known_functions, site, [&](std::size_t of) {
                return function_of(of) ? &function_of(of)->name : nullptr;
            }));
            files.push(file_numbers.of(known_files, site, [&](std::size_t of) {
                return function_of(of) ? &function_of(of)->file : nullptr;
            }));
        }
        columns.function.categories = function_numbers.texts();
        columns.source_file.categories = file_numbers.texts();
    });
}

void Gathering::work()
{
    std::atomic<std::size_t> next = 0;
    const auto work_on_columns = [&] {
        for (std::size_t i = next++; i < m_work.size(); i = next++)
            m_work[i]();
    };
    std::vector<std::jthread> helpers;
    for (unsigned i = 1; i < std::thread::hardware_concurrency(); ++i)
        helpers.emplace_back(work_on_columns);
    work_on_columns();
}

CallColumns Gathering::columns()
{
    CallColumns columns;
    add_ranks(columns.rank);
    add(columns.thread, &CallRows::thread);
    add(columns.name, &CallRows::name, &CallRows::names);
    add(columns.call_class, &CallRows::call_class, all_class_names());
    add(columns.start, &CallRows::start);
    add(columns.end, &CallRows::end);
    add(columns.bytes, &CallRows::bytes);
    add(columns.sent_bytes, &CallRows::sent_bytes);
    add(columns.recv_bytes, &CallRows::recv_bytes);
    add(columns.peer, &CallRows::peer);
    add(columns.tag, &CallRows::tag);
    add(columns.recv_peer, &CallRows::recv_peer);
    add(columns.recv_tag, &CallRows::recv_tag);
    add(columns.root, &CallRows::root);
    add(columns.communicator, &CallRows::communicator, m_project.communicator_labels);
    add(columns.file, &CallRows::file, m_project.file_labels);
    add(columns.window, &CallRows::window, m_project.window_labels);
    add(columns.offset, &CallRows::offset);
    add(columns.request, &CallRows::request);
    add(columns.error, &CallRows::error, &CallRows::errors);
    add(columns.depth, &CallRows::depth);
    add(columns.line, &CallRows::line);
    add(columns.unfinished, &CallRows::unfinished);
    add(columns.nested, &CallRows::nested);
    add_sites(columns);
    add(columns.region, &CallRows::region, &CallRows::regions);
    work();
    return columns;
}

} // namespace

CallTable::CallTable(std::shared_ptr<const OpenedProject> project, Selection selection)
    : m_project(std::move(project)), m_wanted(selection),
      m_read(with_regions(m_project->project, with_completions(std::move(selection)))),
      m_rows(m_project->traces.size()),
      m_reading(
          traces_by_process(m_project->existing_traces(), m_read),
          [this](const ProcessTraces& traces) {
              return std::make_unique<CallRowReader>(m_project, m_wanted, m_read, traces);
          },
          [this](std::size_t process, std::unique_ptr<CallRowReader> reader) {
              m_rows[process] = reader->take();
          })
{
}

CallColumns CallTable::take()
{
    return Gathering(m_rows, *m_project).columns();
}

std::vector<MissingEnd> CallTable::missing() const
{
    std::vector<MissingEnd> all;
    for (const CallRows& process : m_rows)
        std::ranges::copy(process.missing, std::back_inserter(all));
    return all;
}

} // namespace hdtrace
