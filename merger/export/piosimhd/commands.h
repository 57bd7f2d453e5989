// What the original simulator does, and for which calls.
#pragma once

#include <string_view>

namespace hdtrace::exporter::piosimhd {

struct Command {
    enum class Kind {
        synchronization,
        send,
        receive,
        exchange,
        collective,
        rooted,
        wait,
        open,
        close,
        view,
        access,
        access_by_all
    };

    std::string_view call; ///< without "_c"
    std::string_view name; ///< what it has to be called; its own name, or that of a call that is done alike
    Kind kind;
};

/// Null if the simulator takes the call for computation.
const Command* find_command(std::string_view call);

/// Whether the simulator takes a state of this name for a command.
bool is_command(std::string_view name);

} // namespace hdtrace::exporter::piosimhd
