// What is refused because it would harm something.
#pragma once

#include <stdexcept>

namespace hdtrace::merger {

/// what() says with which file. Nothing was lost.
class UpkeepError : public std::runtime_error {
    using std::runtime_error::runtime_error;
};

} // namespace hdtrace::merger
