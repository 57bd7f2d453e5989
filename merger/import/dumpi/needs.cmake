set(import_libraries hdtrace_dumpi)
