"""A library that lies under the tracer and looks, inside every MPI call, at what the tracer tells of it before it ends."""
import re
import subprocess
from functools import cache
from pathlib import Path

from .runs import SETTINGS, SOURCE

GENERATED = Path(SETTINGS["wrappers"])
HANDWRITTEN = SOURCE / "mpiwrapper/runtime/calls/handwritten"
WRAPPER = re.compile(r'extern "C" HDT_EXPORT int (MPI_\w+)\(([^{]*?)\)\s*\{', re.DOTALL)
# They begin or end the trace, or have arguments that a function cannot hand on.
NOT_LOOKED_INTO = {"MPI_Init", "MPI_Init_thread", "MPI_Session_init", "MPI_Finalize", "MPI_Abort", "MPI_Pcontrol"}

BEGINNING = r"""
#define _GNU_SOURCE
#include <mpi.h>
#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* To NAME.trc.seen goes the name of the function and then the end of each trace of the process. */
static void look(const char* function, int* looks)
{
    enum { most_looks = 3 };
    char* const nothing[] = {NULL};
    if (__atomic_fetch_add(looks, 1, __ATOMIC_RELAXED) >= most_looks)
        return;
    execv("/nonexistent", nothing); /* the tracer writes what it has, for it may be the end */
    DIR* const files = opendir("/proc/self/fd");
    for (struct dirent* entry; files != NULL && (entry = readdir(files)) != NULL;) {
        char name[PATH_MAX] = "", place[300], end[1 << 17];
        snprintf(place, sizeof place, "/proc/self/fd/%s", entry->d_name);
        const ssize_t length = readlink(place, name, sizeof name - 10);
        if (length < 4 || strcmp(name + length - 4, ".trc") != 0)
            continue;
        const int trace = open(name, O_RDONLY);
        const off_t size = lseek(trace, 0, SEEK_END);
        const off_t from = size > (off_t)sizeof end ? size - (off_t)sizeof end : 0;
        const ssize_t got = pread(trace, end, sizeof end, from);
        close(trace);
        strcat(name, ".seen");
        const int seen = open(name, O_WRONLY | O_CREAT | O_APPEND, 0600);
        const char* begin = end;
        for (const char* at = end; at < end + got - strlen("\n</Program>\n"); ++at)
            if (*at == '\n')
                begin = at + 1;
        dprintf(seen, "%s\n%.*s", function, (int)(end + got - begin), begin);
        close(seen);
    }
    if (files != NULL)
        closedir(files);
}
"""

FUNCTION = """
int P{name}({parameters})
{{
    static int looks;
    static int (*next)({parameters});
    if (next == NULL)
        next = (int (*)({parameters}))dlsym(RTLD_NEXT, "P{name}");
    look("{name}", &looks);
    return next({names});
}}
"""


def name_of(parameter):
    """'const int (*ranges)[3]' -> 'ranges'"""
    return re.search(r"(\w+)\s*(?:\)\s*\[\d*\]|\[\d*\])*$", parameter.strip())[1]


def functions():
    """(name, parameters) of what is wrapped."""
    for path in [*sorted(GENERATED.glob("wrappers_*.cpp")), *sorted(HANDWRITTEN.glob("*.cpp"))]:
        for name, parameters in WRAPPER.findall(path.read_text()):
            if name not in NOT_LOOKED_INTO:
                yield name, parameters


@cache
def library(directory):
    """Builds it; -> its path."""
    source = directory / "look_inside.c"
    text = [FUNCTION.format(name=name, parameters=parameters or "void",
                            names=", ".join(name_of(p) for p in parameters.split(",")) if parameters.strip() else "")
            for name, parameters in functions()]
    source.write_text(BEGINNING + "".join(text))
    path = directory / "look_inside.so"
    subprocess.run([SETTINGS["compiler"], "-shared", "-fPIC", "-w", "-o", path, source, "-ldl"], check=True)
    return path
