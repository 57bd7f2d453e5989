#include "merger/export/tit/actions.h"

#include <algorithm>
#include <cstdlib>
#include <string>

#include "merger/export/format.h"

namespace hdtrace::exporter {

namespace {

// No memory holds one; it would take many lines.
constexpr std::int64_t largest_message = std::int64_t{1} << 50;

/// Gives send(size) the sizes of the messages that one message becomes.
void split(std::int64_t size, auto&& send)
{
    if (size > largest_message)
        throw ConvertError("a message of " + std::to_string(size) + " bytes is larger than 2^50 bytes");
    do {
        const std::int64_t part = std::min(size, ReplayActions::most_bytes);
        send(part);
        size -= part;
    } while (size > 0);
}

} // namespace

std::int64_t ReplayTags::of(const Communicator* communicator, std::int64_t tag)
{
    if (communicator == m_world && tag >= 0 && tag < first_new)
        return tag;
    const auto next = first_new + static_cast<std::int64_t>(m_new.size());
    const auto [place, is_new] = m_new.try_emplace({communicator, tag}, next);
    if (is_new)
        m_numbered.push_back(place->first);
    return place->second;
}

bool TagNumbers::are_all_the_same() const
{
    for (std::size_t i = 0; i < m_common.size(); ++i)
        if (m_common[i] != first + static_cast<std::int64_t>(i))
            return false;
    return true;
}

TagNumbers CommonTags::numbers_for(const ReplayTags& tags)
{
    std::vector<std::int64_t> common;
    for (const ReplayTags::Key& key : tags.numbered()) {
        const auto next = ReplayTags::first_new + static_cast<std::int64_t>(m_new.size());
        common.push_back(m_new.try_emplace(key, next).first->second);
    }
    return TagNumbers(std::move(common));
}

void MessageBalance::add(const MessageBalance& of_process, const TagNumbers& numbers)
{
    for (const auto& [message, count] : of_process.m_unequal) {
        const auto& [source, destination, tag] = message;
        add(source, destination, numbers.common(tag), count);
    }
}

void MessageBalance::add(std::int64_t source, std::int64_t destination, std::int64_t tag, std::int64_t count)
{
    const auto place = m_unequal.try_emplace({source, destination, tag}, 0).first;
    place->second += count;
    if (place->second == 0)
        m_unequal.erase(place);
}

void ReplayActions::begin(std::string_view action)
{
    if (m_operations > 0)
        m_output.number(m_rank).text(" compute ").number(m_operations).text("\n");
    m_operations = 0;
    m_output.number(m_rank).text(" ").text(action);
}

void ReplayActions::add(std::string_view action, std::initializer_list<std::int64_t> arguments)
{
    add(action, std::span(arguments.begin(), arguments.size()));
}

void ReplayActions::add(std::string_view action, std::span<const std::int64_t> arguments)
{
    begin(action);
    for (const std::int64_t argument : arguments)
        m_output.text(" ").number(argument);
    m_output.text("\n");
}

void ReplayActions::sleep(std::int64_t nanoseconds)
{
    if (nanoseconds <= 0)
        return;
    begin("sleep");
    m_output.text(" ").seconds(nanoseconds).text("\n");
}

void ReplayActions::send(std::int64_t destination, std::int64_t tag, std::int64_t size)
{
    split(size, [&](std::int64_t part) {
        m_balance.add(m_rank, destination, tag, 1);
        add("send", {destination, tag, part, bytes});
    });
}

void ReplayActions::receive(std::int64_t source, std::int64_t tag, std::int64_t size)
{
    split(size, [&](std::int64_t part) {
        m_balance.add(source, m_rank, tag, -1);
        add("recv", {source, tag, part, bytes});
    });
}

void ReplayActions::start_send(std::int64_t destination, std::int64_t tag, std::int64_t size,
                               std::vector<ReplayWait>& waits)
{
    split(size, [&](std::int64_t part) {
        m_balance.add(m_rank, destination, tag, 1);
        add("isend", {destination, tag, part, bytes});
        waits.push_back({m_rank, destination, tag, m_started[{destination, tag}].count++});
    });
}

void ReplayActions::start_receive(std::int64_t source, std::int64_t tag, std::int64_t size,
                                  std::vector<ReplayWait>& waits)
{
    split(size, [&](std::int64_t part) {
        m_balance.add(source, m_rank, tag, -1);
        add("irecv", {source, tag, part, bytes});
        const bool is_to_itself = source == m_rank;
        waits.push_back({source, m_rank, tag, is_to_itself ? m_started[{m_rank, tag}].count++ : -1});
    });
}

void ReplayActions::wait(const std::vector<ReplayWait>& waits)
{
    for (const ReplayWait& message : waits) {
        if (message.number < 0)
            wait(message);
        else
            wait_in_order(message);
    }
}

void ReplayActions::wait(const ReplayWait& message)
{
    add("wait", {message.source, message.destination, message.tag});
}

void ReplayActions::wait_in_order(const ReplayWait& message)
{
    const auto found = m_started.find({message.destination, message.tag});
    Started& started = found->second;
    if (started.is_left_alone)
        return;
    started.put_off.insert(message.number);
    for (; started.put_off.erase(started.waited) > 0; ++started.waited)
        wait(message);
    if (started.waited == started.count)
        m_started.erase(found);
}

void ReplayActions::leave_alone(const std::vector<ReplayWait>& waits)
{
    for (const ReplayWait& message : waits)
        if (message.number >= 0)
            m_started[{message.destination, message.tag}].is_left_alone = true;
}

void ReplayActions::wait_for_rest()
{
    for (auto& [message, started] : std::exchange(m_started, {}))
        for (; started.waited < started.count; ++started.waited)
            wait({m_rank, message.first, message.second});
}

} // namespace hdtrace::exporter
