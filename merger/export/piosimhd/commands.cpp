#include "merger/export/piosimhd/commands.h"

#include <algorithm>
#include <iterator>

namespace hdtrace::exporter::piosimhd {

namespace {

using enum Command::Kind;

constexpr Command commands[] = {
    {"Init", "Init", synchronization},
    {"Init_thread", "Init", synchronization},
    {"Finalize", "Finalize", synchronization},
    {"Send", "Send", send},
    {"Ssend", "Send", send},
    {"Rsend", "Send", send},
    {"Recv", "Recv", receive},
    {"Sendrecv", "Sendrecv", exchange},
    {"Sendrecv_replace", "Sendrecv", exchange},
    {"Barrier", "Barrier", collective},
    {"Allreduce", "Allreduce", collective},
    {"Allgather", "Allgather", collective},
    {"Bcast", "Bcast", rooted},
    {"Reduce", "Reduce", rooted},
    {"Gather", "Gather", rooted},
    {"Scatter", "Scatter", rooted},
    {"Wait", "Wait", wait},
    {"File_open", "File_open", open},
    {"File_close", "File_close", close},
    {"File_set_view", "File_set_view", view},
    {"File_read", "File_read", access},
    {"File_read_at", "File_read_at", access},
    {"File_write", "File_write", access},
    {"File_write_at", "File_write_at", access},
    {"File_read_all", "File_read_all", access_by_all},
    {"File_read_at_all", "File_read_all", access_by_all},
    {"File_write_all", "File_write_all", access_by_all},
    {"File_write_at_all", "File_write_all", access_by_all},
};

} // namespace

const Command* find_command(std::string_view call)
{
    if (call.ends_with("_c")) // with large counts
        call.remove_suffix(2);
    const auto found = std::ranges::find(commands, call, &Command::call);
    return found == std::end(commands) ? nullptr : found;
}

bool is_command(std::string_view name)
{
    return std::ranges::find(commands, name, &Command::name) != std::end(commands);
}

} // namespace hdtrace::exporter::piosimhd
