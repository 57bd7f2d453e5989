#include "merger/shared_object.h"

namespace hdtrace::merger {

void SharedObject::take_name(const std::string& what, Topic several_names, std::int64_t rank,
                             const SharedRecord& record, Report& report)
{
    if (!record.named_by_program)
        return;
    if (!named_by) {
        named_by = rank;
        name = record.name;
    } else if (name != record.name)
        report.warn(several_names, record.place,
                    "rank " + std::to_string(rank) + " names the " + what + " '" + record.name +
                        "', but rank " + std::to_string(*named_by) + " names it '" + name +
                        "', which is used");
}

} // namespace hdtrace::merger
