"""The command `hdtrace`: a table of commands (table.py), and a module for each."""
