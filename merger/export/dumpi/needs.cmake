set(export_libraries hdtrace_dumpi)
