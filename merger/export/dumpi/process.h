// What is known of a process while its file is written.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "hdtrace/format/objects.h"
#include "merger/dumpi/constants.h"
#include "merger/export/dumpi/communicators.h"
#include "merger/export/dumpi/object_numbers.h"

namespace hdtrace::exporter::dumpi {

struct Process {
    const ObjectTable& objects;
    const Communicators& communicators;
    std::int64_t rank; ///< in the project
    hdtrace::dumpi::NativeConstants native;
    std::vector<std::string> argv; ///< of the program
    ObjectNumbers numbers;

    /// The communicator that a call names.
    const Communicator* communicator(const Element& call, const AttributeName& attribute = "cid") const
    {
        return objects.communicator(rank, call, attribute);
    }
};

} // namespace hdtrace::exporter::dumpi
