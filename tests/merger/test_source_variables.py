"""Variables around call sites and in object files: small programs say themselves where theirs are."""

import random
import re
import shutil
import subprocess

import pytest

from compiled import C, CLANG, Library, tool
from conftest import Run

FOR_CHECK = "Setting name='HDTRACE_FOR_CHECK' value='1' from='environment'\n"

# Says of each call of wanted() which variable it got, where it returns to, and where that, and what points to it, is from
# the caller's frame. The CFA of a frame is what the unwinder has for the frame outside of it.
TRUTH = """\
#include <stdio.h>
#include <unwind.h>
struct frames { int count; long address; char* cfa; };
static _Unwind_Reason_Code visit(struct _Unwind_Context* context, void* data)
{
    struct frames* frames = data;
    if (frames->count == 1)
        frames->address = (long)_Unwind_GetIP(context);
    if (frames->count++ < 2)
        return _URC_NO_REASON;
    frames->cfa = (char*)_Unwind_GetCFA(context);
    return _URC_NORMAL_STOP;
}
static void tell(int length, const char* name, const void* buffer, long size, const struct frames* frames)
{
    printf("%.*s %ld %ld %ld", length, name, frames->address, size, (long)((const char*)buffer - frames->cfa));
    for (long at = -800; at < 200; at += 8)
        if (*(const void* volatile*)(frames->cfa + at) == buffer)
            printf(",%ld", at);
    printf("\\n");
}
__attribute__((noinline)) void wanted(const char* name, const void* buffer, long size)
{
    struct frames frames = {0};
    _Unwind_Backtrace(visit, &frames);
    tell(100, name, buffer, size, &frames);
}
void note_(const char* name, const void* buffer, const int* size, long length)
{
    struct frames frames = {0};
    _Unwind_Backtrace(visit, &frames);
    tell((int)length, name, buffer, *size, &frames);
}
"""
WANTED = """\
#ifdef __cplusplus
extern "C"
#endif
void wanted(const char*, const void*, long);
#define WANTED(variable) wanted(#variable, &variable, sizeof variable)
"""
PROGRAM = WANTED + """\
#include <stdio.h>
struct particle { double x[3]; int id; };
static inline __attribute__((always_inline)) void into_others(long number, int depth)
{
    float inlined[4] = {0};
    WANTED(inlined);
    WANTED(number);
    {
        unsigned char deeper[9] = {0};
        WANTED(deeper);
    }
}
__attribute__((noinline)) void work(int count, const char* name, double seven, double eight)
{
    struct particle cloud[8] = {0};
    volatile double* pointers[2] = {0};
    if (count) {
        int first[3] = {1, 2, 3};
        WANTED(first);
        __asm__ volatile("# first"); // else both branches share their call
    } else {
        char second[40] = {1};
        WANTED(second);
    }
    WANTED(cloud);
    WANTED(count);
    WANTED(name);
    WANTED(pointers);
    WANTED(seven);
    into_others(count, 1);
}
__attribute__((noinline)) void pushes(long a, long b, long c, long d, long e, long f, struct particle on_stack)
{
    int local[3] = {0};
    WANTED(on_stack);
    WANTED(local);
    printf("# %d %ld%ld%ld%ld%ld%ld %d %d %d %d\\n", local[0], a, b, c, d, e, f, 1, 2, 3, 4);
    WANTED(local);
}
int main(void)
{
    struct particle one = {0};
    work(1, "x", 7, 8);
    work(0, "x", 7, 8);
    pushes(1, 2, 3, 4, 5, 6, one);
    WANTED(one);
    return 0;
}
"""
COMPILERS = [
    *(("gcc", options) for options in (("-O0",), ("-O2",), ("-O2", "-gdwarf-4"), ("-O1", "-fno-omit-frame-pointer"), ("-Os",))),
    *((name, options) for name in CLANG for options in (("-O0",), ("-O2",), ("-O2", "-gdwarf-4"), ("-O2", "-fno-omit-frame-pointer"))),
]


def variables(element):
    return {variable.get("name"): variable.attrib for variable in element.findall("Variable")}


def merged(run, lines, *arguments):
    run.process(0, FOR_CHECK + lines, size=1)
    return run.merge_cleanly("app", *arguments).project.find("CallSiteList")


def told_places(folder, source, suffix, compiler, options):
    """Runs the program: [(variable, size, places, the variables that the project has there), ...]

    The first place is, as the program tells it, the variable's, the others are those of what points to it.
    """
    truth, program = folder / "truth.c", folder / "program"
    truth.write_text(TRUTH)
    tool("gcc", "-O1", "-c", truth, "-o", folder / "truth.o")
    (folder / f"program.{suffix}").write_text(source)
    tool(compiler, "-g", *options, "-w", "-no-pie", "-Wl,--build-id", folder / f"program.{suffix}", folder / "truth.o", "-o", program)
    told = [line.split() for line in tool(program).splitlines() if not line.startswith("#")]
    build_id = re.search(r"Build ID: (\w+)", tool("readelf", "-n", program)).group(1)
    addresses = sorted({int(address) for _, address, *_ in told})
    lines = f"Object id=0 path='{program}' buildId='{build_id}'\n"
    lines += "".join(f"Site id={i} frames='0+{address};'\n" for i, address in enumerate(addresses))
    found = {int(place.get("offset")): variables(place) for place in merged(Run(folder), lines).findall("Place")}
    assert sorted(found) == addresses
    return [(name, int(size), list(map(int, places.split(","))), found[int(address)]) for name, address, size, places in told]


def check(told, *, may_lack=(), elsewhere=()):
    """Of variables that are elsewhere the frames have the addresses."""
    lacking = {name for name, _, _, found in told if name not in found}
    assert lacking <= set(may_lack)
    for name, size, (at, *pointers), found in told:
        if name not in found:
            continue
        if name in elsewhere:
            assert int(found[name]["at"]) in pointers
            assert (found[name]["size"], found[name]["pointer"]) == ("8", "1")
        else:
            assert (name, int(found[name]["at"]), int(found[name]["size"])) == (name, at, size)


@pytest.mark.parametrize("compiler, options", COMPILERS)
def test_stack_variables(tmp_path, compiler, options):
    told = told_places(tmp_path, PROGRAM, "c", compiler, options)
    names = [name for name, _, _, _ in told]
    assert {"first", "second", "cloud", "count", "name", "pointers", "seven", "inlined", "number", "deeper", "on_stack", "local", "one"} == set(names)
    check(told, may_lack=() if "-O0" in options else ("count", "name", "number", "seven"))  # GCC does not say where they are after a call
    for name, _, _, found in told:
        assert ("first" in found) == (name == "first")  # the others are outside of its block
        assert ("second" in found) == (name == "second")
        assert ("inlined" in found) == (name in ("inlined", "number", "deeper"))
        assert name == "deeper" or "deeper" not in found
    types = types_of(told)
    assert types["first"] == ("int[3]", "integer", "4")
    assert types["second"] == ("char[40]", "character", "1")
    assert types["deeper"] == ("unsigned char[9]", "character", "1")
    assert types["cloud"] == ("struct particle[8]", PARTICLE, "32")
    assert types["pointers"] == ("double *[2]", None, None)
    assert types.get("seven", ("double",))[0] == "double"


PARTICLE = "floating point number:8:0:3;integer:4:24:1;"


def type_of(variable):
    """(type, of or members, each)"""
    return variable.get("type"), variable.get("of", variable.get("members")), variable.get("each")


def types_of(told):
    return {name: type_of(found[name]) for name, _, _, found in told if name in found}


REALIGNED = WANTED + """\
int main(int count, char** names)
{
    _Alignas(128) int aligned[8] = {0};
    int other[3] = {0};
    int variable[count + 1];
    variable[0] = 0;
    WANTED(aligned);
    WANTED(other);
    wanted("variable", variable, 4);
    return 0;
}
"""


@pytest.mark.parametrize("compiler, options", COMPILERS)
def test_what_is_at_no_fixed_place(tmp_path, compiler, options):
    """Where frames are aligned, nobody knows how far the CFA is from the variables."""
    told = told_places(tmp_path, REALIGNED, "c", compiler, options)
    check(told, may_lack=("aligned", "other", "variable"), elsewhere=("variable",))
    assert types_of(told).get("variable", ("int[]", "integer", "4")) == ("int[]", "integer", "4")


CPP = WANTED + """\
#include <cstddef>
namespace flow {
struct particle { double x; };
enum class kind : short { a };
template <class T> struct solver {
    T field[4];
    static int count[2];
    __attribute__((noinline)) void step(T& reference)
    {
        auto function = [&](int add) { std::byte bytes[4] = {}; reference += add; WANTED(bytes); asm volatile(""); };
        particle cloud[2] = {};
        kind kinds[3] = {};
        WANTED(cloud);
        WANTED(kinds);
        function(3);
        WANTED(count);
        asm volatile("");
    }
};
template <class T> int solver<T>::count[2];
inline long shared[3];
}
int main()
{
    double x = 0;
    flow::solver<double> solver = {};
    solver.step(x);
    WANTED(solver);
    WANTED(flow::shared);
    auto [a, b] = flow::solver<int[2]>{}.field[0];
    WANTED(b);
    static bool flags[2];
    WANTED(flags);
}
"""


@pytest.mark.parametrize("compiler, options", COMPILERS)
def test_cpp(tmp_path, compiler, options):
    told = told_places(tmp_path, CPP, "cpp", {"gcc": "g++"}.get(compiler, compiler.replace("clang", "clang++")), options)
    check(told, may_lack=("count", "flow::shared", "flags", "b"))
    types = types_of(told)
    assert types["cloud"] == ("particle[2]", "floating point number:8:0:1;", "8")
    assert types["kinds"] == ("kind[3]", "enumeration", "2")
    assert types["bytes"] == ("byte[4]", "character", "1")
    assert types["solver"] == ("solver<double>", "floating point number:8:0:4;", "32")
    assert not any(name in ("this", "") for _, _, _, found in told for name in found)


FORTRAN = """\
module state
  implicit none
  real(8) :: grid(3,4)
  character(len=20) :: title
  logical :: flag
  complex(8) :: z(2)
  real, allocatable :: heap(:)
  type particle
    real(8) :: x(3)
    integer :: id
  end type
  type(particle) :: cloud(8)
contains
  subroutine work(n, dummy, unbounded, shaped, clouds, word, text)
    integer :: n
    real :: dummy(n), automatic(n), fixed(-1:3,5)
    real :: unbounded(*), shaped(:)
    type(particle) :: clouds(2, *)
    character(len=4) :: word
    character(len=*) :: text
    real, allocatable :: mine(:)
    real :: shared1(10)
    integer :: shared2(5)
    equivalence (shared1(3), shared2(1))
    real, save :: saved1(10)
    integer, save :: saved2(5)
    equivalence (saved1(8), saved2(1))
    real :: a, b, c(3), bb
    common /block/ a, b, c
    common // bb
    type(particle) :: one
    fixed = 1; automatic = 2; shared1 = 1; c = 1; bb = 1; saved1 = 2; one%id = 3
    allocate(mine(n), heap(n))
    call note('fixed', fixed, 100)
    call note('shared1', shared1, 40)
    call note('one', one, 32)
    call note('automatic', automatic, 4)
    call note('mine', mine, 4)
    call note('dummy', dummy, 4)
    call note('n', n, 4)
    call note('unbounded', unbounded, 4)
    call note('shaped', shaped, 4)
    call note('clouds', clouds, 64)
    call note('word', word, 4)
    call note('text', text, 4)
    call note('#', saved2, 4)
  end subroutine
end module
program it
  use state
  implicit none
  integer :: n = 3
  real :: dummy(3) = 1
  call work(n, dummy, dummy, dummy, cloud, 'word', 'text')
end program
"""


@pytest.mark.parametrize("options", [("-O0",), ("-O2",)])
def test_fortran(tmp_path, options):
    told = told_places(tmp_path, FORTRAN, "f90", "gfortran", ("-fallow-argument-mismatch", f"-J{tmp_path}", *options))
    elsewhere = ("automatic", "dummy", "n", "unbounded", "clouds", "word")
    check(told, may_lack=("mine", "shaped", "text", *(elsewhere if "-O2" in options else ())), elsewhere=elsewhere)
    expected = {
        "automatic": ("real(kind=4)[]", FLOAT, "4"), "dummy": ("real(kind=4)[]", FLOAT, "4"), "n": ("integer(kind=4)", INTEGER, "4"),
        "unbounded": ("real(kind=4)[]", FLOAT, "4"), "clouds": ("particle[2][]", PARTICLE, "32"), "word": ("character(len=4)", "character", "1"),
    }
    types = types_of(told)
    assert {name: types[name] for name in elsewhere if name in types} == {name: expected[name] for name in elsewhere if name in types}
    for _, _, _, found in told:
        assert {"mine", "shaped", "text", "shared2"}.isdisjoint(found)
        assert (found["fixed"]["type"], found["fixed"]["of"], found["fixed"]["each"]) == ("real(kind=4)[5][5]", "floating point number", "4")
        assert set(found["shared1"]) == {"name", "at", "size"}  # it may also be integers
        assert type_of(found["one"]) == ("particle", PARTICLE, "32")


BLOCK = """\
program it
  type particle
    integer :: n
    real(kind=8) :: x(3)
  end type
  type(particle) :: cloud(8)
  cloud(:)%n = 1
  call note('numbers', cloud(:)%n, 32)
  block
    real :: inside(4)
    inside = 0
    call note('inside', inside, 16)
  end block
end program
"""


@pytest.mark.parametrize("options", [("-O0",), ("-O2",)])
def test_a_block_has_its_variables_from_their_lines_on(tmp_path, options):
    """gfortran says that it begins with the function: what the compiler has made for a call before it may be in the same memory."""
    told = told_places(tmp_path, BLOCK, "f90", "gfortran", ("-fallow-argument-mismatch", *options))
    assert [(name, "inside" in found) for name, _, _, found in told] == [("numbers", False), ("inside", True)]


def static(run, library, *arguments):
    """{name: (size, type, of or members, each)} of its object file, whose places are those of the symbols."""
    call_sites = merged(run, library.described(), *arguments)
    found = list(call_sites.find("Object"))
    places = [(int(variable.get("at")), int(variable.get("size"))) for variable in found]
    assert all(at + size <= next_at for (at, size), (next_at, _) in zip(places, places[1:]))
    return {name: (int(variable["size"]), *type_of(variable)) for name, variable in variables(call_sites.find("Object")).items()}


def symbols(path):
    """{name: address}"""
    return {name: int(address, 16) for address, name in re.findall(r"^(\w+) \w (\S+)$", tool("nm", path), re.M)}


STATIC = C + """\
struct particle { double x[3]; int id; };
typedef double matrix[3][3];
typedef unsigned long int size_type;
typedef struct { int a; } unnamed;
enum color { red, green };
double table[500];
static char names[4][10];
struct flexible { int n; double x[]; } flexible = {2, {1, 2}};
_Thread_local int of_thread[10];
const int constants[3] = {1, 2, 3};
extern const int other_name[3] __attribute__((alias("constants")));
union { int a; float b; } unions[3];
unnamed with_typedef[2];
void *voids[3];
void (*function)(int);
int (*to_arrays)[3];
const char *texts[2];
const volatile size_type sizes[2];
matrix matrices[2];
enum color color;
_Bool flags[4];
double _Complex z[3];
int nothing[0];
extern int elsewhere[10];
struct particle cloud[8];
int *user(void)
{
    static short counter[2];
    { static long deeper; deeper++; }
    of_thread[0] = counter[0]++ + names[0][0]++;
    return elsewhere;
}
"""
INTEGER, FLOAT = "integer", "floating point number"


@pytest.mark.parametrize("compiler", ["gcc", *CLANG])
def test_static_variables(run, tmp_path, compiler):
    library = Library(tmp_path, STATIC, compiler=compiler, options=("-g", "-O0", "-std=gnu17"))  # later ones say bool instead of _Bool
    found = static(run, library)
    clang = compiler != "gcc"
    assert found.pop("constants" if "constants" in found else "other_name") == (12, "int[3]", INTEGER, "4")
    assert found == {
        "table": (4000, "double[500]", FLOAT, "8"),
        "names": (40, "char[4][10]", "character", "1"),
        "flexible": (24, None, None, None),
        "unions": (12, None, None, None),
        "with_typedef": (8, "unnamed[2]", "integer:4:0:1;", "4"),
        "voids": (24, "pointer[3]", None, None),
        "function": (8, "pointer", None, None),
        "to_arrays": (8, "pointer", None, None),
        "texts": (16, "char *[2]", None, None),
        "sizes": (16, "size_type[2]", "unsigned integer", "8"),
        "matrices": (144, "matrix[2]" if clang else "double[2][3][3]", FLOAT, "8"),
        "color": (4, "enum color", "enumeration", "4"),
        "flags": (4, "_Bool[4]", "logical value", "1"),
        "z": (48, "complex[3]" if clang else "complex double[3]", "complex number", "16"),
        "cloud": (256, "struct particle[8]", PARTICLE, "32"),
        "counter": (4, "short[2]" if clang else "short int[2]", INTEGER, "2"),
        "deeper": (8, "long" if clang else "long int", INTEGER, "8"),
    }
    (objects,) = Run(tmp_path).merge_cleanly("app", "--overwrite").project.findall("CallSiteList/Object")
    addresses = symbols(library.path)
    for name, variable in variables(objects).items():
        if name in addresses:
            assert int(variable["at"]) == addresses[name]


def test_fortran_static_variables(run, tmp_path):
    library = Library(tmp_path, FORTRAN.replace("call note(", "call wanted("), "f90", "gfortran",
                      ("-g", "-O1", "-fno-underscoring", "-fallow-argument-mismatch", f"-J{tmp_path}"))
    found = static(run, library)
    assert "heap" not in found
    expected = {
        "grid": (96, "real(kind=8)[3][4]", FLOAT, "8"), "title": (20, "character(len=20)", "character", "1"),
        "flag": (4, "logical(kind=4)", "logical value", "4"), "z": (32, "complex(kind=8)[2]", "complex number", "16"),
        "cloud": (256, "particle[8]", PARTICLE, "32"), "saved1": (48, None, None, None), "block": (20, None, None, None),
        "__BLNK__": (4, None, None, None),
    }
    assert {name: found.get(name) for name in expected} == expected
    assert {"a", "b", "c", "saved2", "bb"}.isdisjoint(found)


STRUCTS = C + """\
enum color { red, green };
struct padded { int a; char b; double c[3]; } padded;
struct nested { int n; struct { int a, b; } in[3]; struct padded p; } nested[2][3];
typedef struct nested other_name;
struct mixed { int a; union { int i; float f; } u; void *p; void (*f)(int); int bits : 3; int more : 7; short s; } mixed;
struct { char c; int narrow : 3; unsigned wide : 9; int next : 20; long l; } bits;
struct { union { int i; float f; }; struct { short s; const short t; }; void *p[2]; } unnamed;
struct { struct { char c; double x; } in[2]; } repeated;
struct { enum color color; unsigned n; _Bool flags[2]; } color;
struct { double _Complex z; other_name *next; volatile double d; } __attribute__((packed)) packed;
struct { struct { int a, b; } in[100000]; int last; } large;
struct { struct { short s; int i; } __attribute__((packed)) in[32]; } most;
struct { struct { short s; int i; } __attribute__((packed)) in[33]; } many;
struct { struct { double x; float f; } __attribute__((packed)) in[20]; } wordy;
struct { int n; double x[]; } flexible;
struct { int n; double x[0]; } nothing;
struct { int n; struct { int n; double x[0]; } in; } flexible_inside;
union { int a; float b; } either;
"""
MEMBERS = {
    "padded": (32, "integer:4:0:1;character:1:4:1;floating point number:8:8:3;"),
    "nested": (64, "integer:4:0:7;integer:4:32:1;character:1:36:1;floating point number:8:40:3;"),
    "mixed": (32, "integer:4:0:1;anything:22:4:1;integer:2:26:1;"),
    "bits": (16, "character:1:0:1;anything:2:1:1;anything:3:4:1;integer:8:8:1;"),
    "unnamed": (24, "anything:4:0:1;integer:2:4:2;anything:16:8:1;"),
    "repeated": (32, "character:1:0:1;floating point number:8:8:1;character:1:16:1;floating point number:8:24:1;"),
    "color": (12, "enumeration:4:0:1;unsigned integer:4:4:1;logical value:1:8:2;"),
    "packed": (32, "complex number:16:0:1;anything:8:16:1;floating point number:8:24:1;"),
    "large": (800004, "integer:4:0:200001;"),
    "most": (192, "".join(f"integer:2:{at}:1;integer:4:{at + 2}:1;" for at in range(0, 192, 6))),
}


def members_of(found):
    """{name: (each, members)} of those that have members, which are in as many bytes."""
    result = {name: (int(each), members) for name, (_, _, members, each) in found.items() if members is not None}
    for each, members in result.values():
        ends = [0]
        for _, size, at, count in (member.split(":") for member in members.split(";")[:-1]):
            assert int(at) >= ends[-1]
            ends.append(int(at) + int(size) * int(count))
        assert ends[-1] <= each
    return result


@pytest.mark.parametrize("version", [4, 5])
@pytest.mark.parametrize("compiler", ["gcc", *CLANG])
def test_structs(run, tmp_path, compiler, version):
    library = Library(tmp_path, STRUCTS, compiler=compiler, options=("-O0", f"-gdwarf-{version}"))
    found = static(run, library)
    assert members_of(found) == MEMBERS
    assert {"many", "wordy", "flexible", "nothing", "flexible_inside", "either"} <= set(found)


CPP_STRUCTS = WANTED + """\
#include <cstddef>
struct base { double x; int i; };
struct letter { char c; };
struct empty { void f(); typedef int type; enum inner { a }; struct inside { int unused; }; static int s; };
class hidden { double x; int i; public: hidden() {} };
struct bases : base, letter { int j; static int k; static constexpr int l = 3; } bases;
struct of_empty : empty { int a; } of_empty;
struct in_padding : hidden { int j; } in_padding;
struct virtual_function { virtual void f() {} int n; } virtual_function;
struct of_virtual_function : virtual_function { int m; } of_virtual_function;
struct virtual_base : virtual base { int j; } virtual_base;
struct of_virtual_base { struct virtual_base b; } of_virtual_base;
struct bytes { std::byte b[4]; enum class kind : short { a } kinds[2]; int bytes::*member; decltype(nullptr) null; } bytes;
struct reference { int n; int &r; } reference = {1, bases.i};
template <class T> struct twice { T a[2]; };
twice<twice<letter>> letters;
empty nothing;
extern "C" void f() { wanted("", &bases, 1); }
"""
CPP_MEMBERS = {
    "bases": (24, "floating point number:8:0:1;integer:4:8:1;character:1:16:1;integer:4:20:1;"),
    "of_empty": (4, "integer:4:0:1;"),
    "in_padding": (16, "floating point number:8:0:1;integer:4:8:2;"),
    "virtual_function": (16, "anything:8:0:1;integer:4:8:1;"),
    "of_virtual_function": (16, "anything:8:0:1;integer:4:8:2;"),
    "bytes": (24, "character:1:0:4;enumeration:2:4:2;anything:16:8:1;"),
    "reference": (16, "integer:4:0:1;anything:8:8:1;"),
    "letters": (4, "character:1:0:4;"),
}


@pytest.mark.parametrize("version", [4, 5])
@pytest.mark.parametrize("compiler", ["gcc", *CLANG])
def test_classes(run, tmp_path, compiler, version):
    library = Library(tmp_path, CPP_STRUCTS, "cpp", {"gcc": "g++"}.get(compiler, compiler.replace("clang", "clang++")), ("-O0", "-w", f"-gdwarf-{version}"))
    found = static(run, library)
    assert members_of(found) == CPP_MEMBERS
    assert {"virtual_base", "of_virtual_base", "nothing"} <= set(found)


@pytest.mark.parametrize("compiler", CLANG)
def test_classes_that_are_described_elsewhere(run, tmp_path, compiler):
    """What is behind them is known nevertheless."""
    source = WANTED + """\
struct elsewhere { elsewhere(); virtual void f(); int a; };
struct with : elsewhere { double x; } with;
extern "C" void f() { wanted("", &with, 1); }
"""
    library = Library(tmp_path, source, "cpp", compiler.replace("clang", "clang++"), ("-O0", "-g", "-flimit-debug-info"))
    assert members_of(static(run, library)) == {"with": (24, "anything:16:0:1;floating point number:8:16:1;")}


DERIVED_TYPES = """\
module types
  implicit none
  type base
    real(8) :: x(-1:1)
    integer :: id
  end type
  type, extends(base) :: extended
    logical :: flags(2)
    complex :: z
    character(len=5) :: letters(2)
  end type
  type pointers
    integer :: n
    real, allocatable :: heap(:)
    real, pointer :: one
    character(len=5) :: five
    real, pointer :: two(:,:)
    integer :: last
  end type
  type(extended) :: some(2, 3)
  type(pointers) :: others
contains
  subroutine work() bind(c)
    call wanted(some, others)
  end subroutine
end module
"""


def test_derived_types(run, tmp_path):
    library = Library(tmp_path, DERIVED_TYPES, "f90", "gfortran", ("-g", "-O0", "-w", "-fno-underscoring", f"-J{tmp_path}"))
    extended = "floating point number:8:0:3;integer:4:24:1;logical value:4:32:2;complex number:8:40:1;character:1:48:10;"
    pointers = "integer:4:0:1;anything:72:8:1;character:1:80:5;anything:88:88:1;integer:4:176:1;"
    assert members_of(static(run, library)) == {"some": (64, extended), "others": (184, pointers)}


POINTERS = C + """\
struct pair { int n; double x; };
union either { int i; float f; };
struct flexible { int n; double x[]; };
enum color { red };
typedef const struct pair *const pairs_type;
struct pair *global;
void given(struct pair *pairs, const int *numbers, double (*rows)[3], double (*matrix)[2][3], enum color *color, pairs_type renamed, int array[],
           void *nothing, char *letters, const unsigned char *bytes, int **further, struct unknown *unknown, void (*function)(int),
           union either *either, struct flexible *flexible, char (*words)[10])
{
    int *volatile local = array;
    struct pair *several[3] = {pairs};
    static int *lasting;
    wanted(1, 2);
}
"""
PAIR = "integer:4:0:1;floating point number:8:8:1;"


def pointers_in(run, library):
    """{name: (size, type, of or members, each)}"""
    (place,) = [place for place in merged(run, library.described()).findall("Place") if place.findall("Variable")[1:]]
    found = variables(place)
    return found, {name: (int(variable["size"]), *type_of(variable)) for name, variable in found.items() if "pointer" in variable}


@pytest.mark.parametrize("compiler", ["gcc", *CLANG])
def test_pointers(run, tmp_path, compiler):
    library = Library(tmp_path, POINTERS, compiler=compiler, options=("-g", "-O0"))
    found, pointers = pointers_in(run, library)
    assert pointers == {
        "pairs": (8, "struct pair *", PAIR, "16"),
        "numbers": (8, "int *", INTEGER, "4"),
        "rows": (8, "pointer", FLOAT, "8"),
        "matrix": (8, "pointer", FLOAT, "8"),
        "color": (8, "enum color *", "enumeration", "4"),
        "renamed": (8, "pairs_type", PAIR, "16"),
        "array": (8, "int *", INTEGER, "4"),
        "local": (8, "int *", INTEGER, "4"),
    }
    others = {"nothing", "letters", "bytes", "further", "unknown", "function", "either", "flexible", "words", "several"}
    assert set(found) == others | set(pointers)
    assert all(type_of(found[name])[1:] == (None, None) for name in others)
    assert run.merge_cleanly("app", "--overwrite").project.findall("CallSiteList/Object/Variable[@pointer]") == []


REFERENCES = """\
extern "C" void wanted(int, int);
struct pair { int n; double x; };
struct copied { copied(const copied &) {} int n; };
void given(int &number, double (&array)[3], pair &&pairs, const char &letter, int *&pointer, int &(*function)(int), copied copy)
{
    wanted(pairs.n, copy.n);
}
"""


@pytest.mark.parametrize("compiler", ["gcc", *CLANG])
def test_references(run, tmp_path, compiler):
    library = Library(tmp_path, REFERENCES, "cpp", {"gcc": "g++"}.get(compiler, compiler.replace("clang", "clang++")), ("-g", "-O0"))
    found, pointers = pointers_in(run, library)
    copy = (8, "copied", "integer:4:0:1;", "4")
    assert pointers.pop("copy", None) in ((copy,) if compiler == "gcc" else (copy, None))  # Clang says since 17 where it is
    assert pointers == {
        "number": (8, "int &", INTEGER, "4"),
        "array": (8, "pointer", FLOAT, "8"),
        "pairs": (8, "pair &&", PAIR, "16"),
    }
    assert {"letter", "pointer", "function"} | set(pointers) == set(found) - {"copy"}


def test_one_variable_in_several_units(run, tmp_path):
    """They may see it in different ways."""
    (tmp_path / "other.c").write_text("int same[4]; char different[16]; int shorter[2]; struct s { int a, b; } s; struct t { float f; int i; } t;")
    library = Library(tmp_path, C + "int same[4]; int different[4]; int shorter[4]; struct s { int i[2]; } s; struct t { int a, b; } t;",
                      options=("-g", "-O2", "-fcommon", tmp_path / "other.c"))
    assert static(run, library) == {
        "same": (16, "int[4]", INTEGER, "4"), "different": (16, None, None, None), "shorter": (16, None, None, None),
        "s": (8, "struct s", "integer:4:0:2;", "8"), "t": (8, "struct t", None, None),
    }


def test_variables_that_the_linker_left_out(run, tmp_path):
    library = Library(tmp_path, C + 'static __attribute__((used)) int kept; __attribute__((visibility("hidden"))) int removed[100];',
                      options=("-g", "-O2", "-fdata-sections", "-Wl,--gc-sections"))
    assert set(static(run, library)) <= {"kept"}


def test_symbols_without_debug_information(run, tmp_path):
    assert static(run, Library(tmp_path, STATIC, options=("-O2",))) == {}


@pytest.mark.parametrize("compiler, options", COMPILERS)
def test_separate_debug_file(tmp_path, compiler, options):
    """The call frame information stays in the object."""
    source = PROGRAM.replace("int main", "int run") + "double table[500];"
    library = Library(tmp_path, source, compiler=compiler, options=("-g", "-w", *options))
    lines = library.described()

    def found():
        call_sites = merged(Run(tmp_path), lines, "--overwrite")
        return [variables(element) for element in (*call_sites.findall("Object"), *call_sites.findall("Place"))]

    whole = found()
    assert "table" in whole[0] and any("cloud" in place for place in whole)
    library.separate(tmp_path / "libpart.so.debug", link=True)
    assert found() == whole


def test_call_frame_information_for_debuggers_only(tmp_path):
    for compiler in CLANG:
        library = Library(tmp_path, PROGRAM, compiler=compiler,
                          options=("-g", "-w", "-O2", "-fno-asynchronous-unwind-tables", "-fno-unwind-tables"))
        assert ".debug_frame" in tool("readelf", "-SW", library.path)
        places = merged(Run(tmp_path), library.described(), "--overwrite").findall("Place")
        assert any("cloud" in variables(place) for place in places)


@pytest.mark.parametrize("setting", ["", FOR_CHECK.replace("'1'", "'0'"), FOR_CHECK.replace("FOR_CHECK", "OTHER")])
def test_runs_for_other_purposes(run, tmp_path, setting):
    run.process(0, setting + Library(tmp_path, STATIC).described(), size=1)
    assert run.merge_cleanly().project.findall("CallSiteList//Variable") == []


def test_one_process_for_check_is_enough(run, tmp_path):
    library = Library(tmp_path, STATIC)
    run.process(0, library.described(), size=2)
    run.process(1, FOR_CHECK + library.described(), size=2)
    assert run.merge_cleanly().project.findall("CallSiteList/Object/Variable") != []


def test_not_asked_for(run, tmp_path):
    assert merged(run, Library(tmp_path, STATIC).described(), "--no-sources").findall(".//Variable") == []


def test_as_it_is_written(run, tmp_path):
    library = Library(tmp_path, "void wanted(void*);\ndouble table[500];\nvoid f(void) { int buffer[10]; wanted(buffer); }\n", options=("-g", "-O0"))
    merged(run, library.described())
    text = (tmp_path / "app.proj").read_text()
    address = symbols(library.path)["table"]
    assert f"""\
      <Variable name="table" at="{address}" size="4000" type="double[500]" of="floating point number" each="8"/>
    </Object>
""" in text
    assert re.search(r"""
      <Function name="f" file=".*" line="3"/>
      <Variable name="buffer" at="-\d+" size="40" type="int\[10\]" of="integer" each="4"/>
    </Place>
""", text)


def damage(content, generator, sections):
    """A copy in which bytes are wrong, mostly in one of the sections."""
    damaged = bytearray(content)
    begin, size = generator.choice(sections)
    for _ in range(generator.choice([1, 3, 10, 100])):
        damaged[begin + generator.randrange(size)] = generator.choice([0, 0xff, 0x7f, 0x80, generator.randrange(256)])
    return damaged


def sections_of(path):
    """(offset, size) of those that matter."""
    names = r"\.(eh_frame|debug_frame|debug_info|debug_abbrev|debug_loclists|debug_loc|debug_addr|debug_rnglists|debug_str_offsets|symtab)"
    rows = re.findall(rf"{names}\s+\S+\s+\w+ (\w+) (\w+)", tool("readelf", "-SW", path))
    return [(int(offset, 16), int(size, 16)) for _, offset, size in rows]


@pytest.mark.parametrize("source, options", [
    (STATIC.replace(C, "").replace("particle", "other") + PROGRAM, ("-O2",)),
    (POINTERS + STRUCTS.replace(C, "").replace("enum color { red, green };", ""), ("-O0", "-gdwarf-4")),
])
@pytest.mark.parametrize("compiler", ["gcc", *CLANG])
def test_damaged_object_files(run, tmp_path, compiler, source, options):
    """Whatever stands in it, the project is written, and is valid."""
    library = Library(tmp_path, source, compiler=compiler, options=("-g", "-w", *options))
    run.process(0, FOR_CHECK + library.described(), size=1)
    content = library.path.read_bytes()
    generator = random.Random(4711)
    sections = sections_of(library.path)
    assert len(sections) >= 4
    for _ in range(100):
        library.path.write_bytes(damage(content, generator, sections))
        assert run.merge("app", "--overwrite", timeout=60).code == 0


# A variable 8 bytes behind the frame base of solve().
FRAME_BASE = """\
.section .debug_abbrev,"",%progbits
.byte 1, 0x11, 1, 0x13, 0x0b, 0x11, 1, 0x12, 7, 0, 0
.byte 2, 0x2e, 1, 3, 8, 0x11, 1, 0x12, 7, 0x40, 0x18, 0, 0
.byte 3, 0x34, 0, 3, 8, 0x49, 0x13, 2, 0x18, 0, 0
.byte 4, 0x24, 0, 3, 8, 0x0b, 0x0b, 0x3e, 0x0b, 0, 0
.byte 0
.section .debug_info,"",%progbits
begin: .long end - start
start: .short 5
.byte 1, 8
.long 0
.byte 1, 12
.quad solve
.quad 4096
type: .byte 4
.asciz "int"
.byte 4, 5
.byte 2
.asciz "solve"
.quad solve
.quad 4096
.byte behind_base - base
base: .byte EXPRESSION
behind_base: .byte 3
.asciz "local"
.long type - begin
.byte 2, 0x91, 8
.byte 0, 0
end:
"""
CFA, MINUS_80 = "0x9c", "0x11, 0xb0, 0x7f"
PLUS, PLUS_CONSTANT, MINUS = "0x22", "0x23", "0x1c"


@pytest.mark.parametrize("expression, at", [
    ([CFA], 8), ([CFA, PLUS_CONSTANT, "16"], 24), ([CFA, MINUS_80, PLUS], -72), ([CFA, "0x08", "255", PLUS], 263), ([CFA, "0x35", PLUS], 13),
    ([CFA, MINUS_80, PLUS, PLUS_CONSTANT, "16"], -56), ([CFA, MINUS_80, MINUS], None), ([CFA, MINUS_80], None), ([CFA, PLUS], None), ([MINUS_80], None),
])
def test_computed_frame_bases(run, tmp_path, expression, at):
    """Clang computes them since 17."""
    (tmp_path / "frame.s").write_text(FRAME_BASE.replace("EXPRESSION", ", ".join(expression)))
    library = Library(tmp_path, options=("-O2", tmp_path / "frame.s"))
    (place,) = merged(run, library.described()).findall("Place")
    assert [int(variable["at"]) for variable in variables(place).values()] == ([] if at is None else [at])


HUGE = """\
.section .debug_abbrev,"",@progbits
.byte 1, 0x11, 1, 0x13, 0x0b, 0, 0
.byte 2, 0x34, 0, 3, 8, 0x49, 0x13, 2, 0x18, 0, 0
.byte 3, 0x16, 0, 3, 8, 0x49, 0x13, 0, 0
.byte 4, 0x01, 1, 0x49, 0x13, 0, 0
.byte 5, 0x21, 0, 0x37, 0x07, 0, 0
.byte 6, 0x24, 0, 3, 8, 0x0b, 0x0b, 0x3e, 0x0b, 0, 0
.byte 7, 0x13, 1, 0x0b, 0x0b, 0, 0
.byte 8, 0x0d, 0, 0x49, 0x13, 0x38, 0x0b, 0, 0
.byte 0
.section .debug_info,"",@progbits
begin: .long end - start
start: .short 5
.byte 1, 8
.long 0
.byte 1, 12
loop: .byte 3
.asciz "itself"
.long loop - begin
char: .byte 6
.asciz "char"
.byte 1, 6
array: .byte 4
.long char - begin
.byte 5
.quad 0x100000001
.byte 5
.quad 0x100000001
.byte 0
self: .byte 7, 8
.byte 8
.long self - begin
.byte 0
.byte 8
.long self - begin
.byte 0
.byte 0
outside: .byte 7, 8
.byte 8
.long char - begin
.byte 8
.byte 0
overlapping: .byte 7, 8
.byte 8
.long overlapping_part - begin
.byte 0
.byte 8
.long char - begin
.byte 1
.byte 0
overlapping_part: .byte 7, 4
.byte 8
.long char - begin
.byte 0
.byte 8
.long char - begin
.byte 3
.byte 0
.byte 2
.asciz "in_itself"
.long self - begin
.byte 9, 3
.quad data + 8
.byte 2
.asciz "outside"
.long outside - begin
.byte 9, 3
.quad data + 16
.byte 2
.asciz "overlapping"
.long overlapping - begin
.byte 9, 3
.quad data + 24
.byte 2
.asciz "loops"
.long loop - begin
.byte 9, 3
.quad data
.byte 2
.asciz "overflows"
.long array - begin
.byte 9, 3
.quad data
.byte 2
.asciz "fits"
.long char - begin
.byte 9, 3
.quad data
.byte 0
end:
.data
.globl data
data: .quad 0, 0, 0, 0
.text
.globl f
f: call wanted@plt
ret
"""


def test_types_that_contain_themselves_or_everything(run, tmp_path):
    library = Library(tmp_path, HUGE, "s", options=())
    assert static(run, library) == {
        "fits": (1, "char", "character", "1"), "in_itself": (8, None, None, None), "outside": (8, None, None, None), "overlapping": (8, None, None, None),
    }


def test_many_variables(run, tmp_path):
    """More than programs have."""
    static_ones = "".join(f"int v{i};\n" for i in range(100_100))
    source = C + static_ones + "void many(void) {" + "".join(f"volatile int l{i} = 0;" for i in range(1100)) + "wanted(1, 2); }\n"
    library = Library(tmp_path, source, options=("-g", "-O0"))
    call_sites = merged(run, library.described())
    assert len(call_sites.find("Object")) == 100_000
    assert sorted(len(place.findall("Variable")) for place in call_sites.findall("Place")) == [1, 1000]
