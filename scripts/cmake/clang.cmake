# The toolchain of the preset fuzz.
include("${CMAKE_CURRENT_LIST_DIR}/find_clang.cmake")
if(NOT HDTRACE_CLANG)
    message(FATAL_ERROR "There is no Clang (16 to 22): scripts/setup --test installs one")
endif()
set(CMAKE_C_COMPILER "${HDTRACE_CLANG}")
string(REGEX REPLACE "clang(-[0-9]+)$" "clang++\\1" CMAKE_CXX_COMPILER "${HDTRACE_CLANG}")
