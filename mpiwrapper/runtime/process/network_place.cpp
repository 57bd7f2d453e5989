#include "mpiwrapper/runtime/process/network_place.h"

#include "mpiwrapper/launcher/small_file.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

namespace hdtrace::mpi {

namespace {

constexpr size_t longest_value = 1024;

TextBuffer& append_value(TextBuffer& out, const char* value)
{
    return out.info_escaped(value, strnlen(value, longest_value)).text("'");
}

TextBuffer& begin_place(TextBuffer& out, const char* host, const char* source)
{
    append_value(out.text("Place host='"), host).text(" by='").string(source).text("' address='");
    return out;
}

// The first line of a file; empty if it cannot be read.
struct FirstLine {
    char text[256];

    FirstLine(const char* directory, const char* name)
    {
        char path[PATH_MAX];
        text[0] = '\0';
        if (snprintf(path, sizeof path, "%s/%s", directory, name) < static_cast<int>(sizeof path))
            read_begin(path, text);
        text[strcspn(text, "\n")] = '\0';
    }
};

// The entries of a directory but those with a point at their beginning.
template <typename Handle> void for_each_entry(const char* path, Handle handle)
{
    DIR* const directory = opendir(path);
    while (const dirent* const entry = directory != nullptr ? readdir(directory) : nullptr) {
        if (entry->d_name[0] != '.')
            handle(entry->d_name);
    }
    if (directory != nullptr)
        closedir(directory);
}

// The switches on the way to the host, where Slurm knows the network's topology: switch.switch.node.
void append_slurm(TextBuffer& out, const char* host)
{
    const char* const address = getenv("SLURM_TOPOLOGY_ADDR");
    const char* const pattern = getenv("SLURM_TOPOLOGY_ADDR_PATTERN");
    if (address == nullptr || pattern == nullptr || strcmp(pattern, "node") == 0)
        return;
    append_value(begin_place(out, host, "slurm"), address);
    append_value(out.text(" pattern='"), pattern).text("\n");
}

// Cabinet, chassis, slot and node.
void append_cray(TextBuffer& out, const char* host, const char* root)
{
    char directory[PATH_MAX];
    snprintf(directory, sizeof directory, "%s/proc/cray_xt", root);
    const FirstLine name(directory, "cname");
    if (name.text[0] != '\0')
        append_value(begin_place(out, host, "cray"), name.text).text("\n");
}

// The addresses of InfiniBand's and Omni-Path's ports. Those of Ethernet have none (0).
void append_infiniband(TextBuffer& out, const char* host, const char* root)
{
    char devices[PATH_MAX / 2];
    snprintf(devices, sizeof devices, "%s/sys/class/infiniband", root);
    for_each_entry(devices, [&](const char* device) {
        char ports[PATH_MAX], path[PATH_MAX];
        snprintf(path, sizeof path, "%s/%s", devices, device);
        const FirstLine guid(path, "node_guid");
        snprintf(ports, sizeof ports, "%s/%s/ports", devices, device);
        for_each_entry(ports, [&](const char* port) {
            char port_directory[PATH_MAX + 1 + NAME_MAX];
            snprintf(port_directory, sizeof port_directory, "%s/%s", ports, port);
            const FirstLine address(port_directory, "lid");
            if (strtol(address.text, nullptr, 0) == 0)
                return;
            append_value(begin_place(out, host, "infiniband"), address.text);
            append_value(out.text(" device='"), device);
            append_value(out.text(" port='"), port);
            append_value(out.text(" guid='"), guid.text).text("\n");
        });
    });
}

} // namespace

void append_network_place(TextBuffer& out, const char* host, const char* root)
{
    append_slurm(out, host);
    append_cray(out, host, root);
    append_infiniband(out, host, root);
}

} // namespace hdtrace::mpi
