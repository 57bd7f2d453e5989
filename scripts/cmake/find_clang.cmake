# HDTRACE_CLANG: one of those that scripts/setup installs, if there is one.
find_program(HDTRACE_CLANG NAMES clang-16 clang-17 clang-18 clang-19 clang-20 clang-21 clang-22)
