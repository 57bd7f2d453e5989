set(export_libraries hdtrace_merger) # its XmlWriter
