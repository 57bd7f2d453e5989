"""The generator: mpiwrapper/api -> C++ and documentation.

    python3 mpiwrapper/generate --api DIR --output DIR --compiler CC [--flag FLAG]... [--library FILE]  # the wrappers
    python3 mpiwrapper/generate --api DIR --output DIR --facts                      # what the readers know about calls

Compares the tables with the mpi.h that the compiler finds, and emits the functions that it declares or the library exports:
mpi.h hides some from new programs, but old ones and Fortran's bindings call them. What the readers know is that of all
functions, because traces come from other machines. Files that would not change are not touched.
"""

import argparse
import sys
from pathlib import Path

if __package__:
    from . import documentation, facts, header, tables, wrappers
else:  # run by its path
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
    from generate import documentation, facts, header, tables, wrappers


def main(arguments=None):
    options = parse(arguments)
    try:
        api = tables.load(options.api)
        if options.list:
            print("\n".join(f"wrappers_{chapter.name}.cpp" for chapter in api.chapters))
            return 0
        if options.facts:
            write(options.output, {"facts.h": facts.emit_header(api.vocabularies), "facts.inc": facts.emit_rows(api),
                                   "functions.md": documentation.emit(api),
                                   "wrapped_functions.inc": wrappers.emit_wrapped_functions(tables.with_large_forms(api).functions),
                                   "absent_functions.inc": wrappers.emit_absent_functions(())})
            return 0
        declared = header.prototypes(header.preprocess(options.compiler, options.flag))
        exported = header.exported(options.library) if options.library else set()
        forms = header.fit(tables.with_all_forms(api), declared)
        problems = header.check(forms, declared)
        if problems:
            print("\n".join(problems), file=sys.stderr)
            return 1
        write(options.output, emit(forms, declared, header.constants(options.compiler, options.flag), exported))
    except (tables.TableError, OSError) as error:
        print(f"generate: {error}", file=sys.stderr)
        return 1
    return 0


def parse(arguments):
    parser = argparse.ArgumentParser(prog="generate", description="Generates the MPI wrappers from their tables.")
    parser.add_argument("--api", type=Path, required=True, help="the folder with the tables")
    parser.add_argument("--output", type=Path, help="the folder for the generated files")
    parser.add_argument("--compiler", default="cc", help="the C compiler that finds mpi.h")
    parser.add_argument("--flag", action="append", default=[], help="a flag for the compiler")
    parser.add_argument("--library", type=Path, help="the MPI library, whose functions are wrapped even if mpi.h hides them")
    parser.add_argument("--facts", action="store_true", help="emit the facts for readers and the documentation instead")
    parser.add_argument("--list", action="store_true", help="only print the names of the C++ files")
    options = parser.parse_args(arguments)
    if not options.list and options.output is None:
        parser.error("--output is required")
    return options


def emit(api, declared, constants, exported=frozenset()):
    """The C++ files of the functions that are declared or exported, and of the constants that are declared: name -> text."""
    present = tables.only(api, {*declared, *exported})
    hidden = [function for function in present.functions if function.name not in declared]
    files = {f"wrappers_{chapter.name}.cpp": wrappers.emit_chapter(chapter) for chapter in present.chapters}
    called = {f.name for f in present.functions} | set(api.own) | set(api.optional) & set(declared)
    files["real_functions.inc"] = wrappers.emit_real_functions(called)
    files["available_functions.inc"] = wrappers.emit_available_functions(called)
    files["hidden_functions.inc"] = wrappers.emit_hidden_functions(hidden)
    files["named_values.inc"] = wrappers.emit_named_values(api.kinds, constants.__contains__)
    files["wrapped_functions.inc"] = wrappers.emit_wrapped_functions(present.functions)
    files["absent_functions.inc"] = wrappers.emit_absent_functions(
        {f.standard_name for f in api.functions} - {f.standard_name for f in present.functions})
    return files


def write(folder, files):
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        path = folder / name
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
