set(needed_libraries hdtrace_dumpi)
