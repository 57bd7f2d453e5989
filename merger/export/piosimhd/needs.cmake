set(needed_libraries hdtrace_merger) # its XmlWriter
