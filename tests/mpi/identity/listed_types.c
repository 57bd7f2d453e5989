/* Datatypes of all constructors, whose names say what they are: each basic type in the simplest of them, each
   in each Shape, and each inside each inside each. What a type is made of is freed before the type is used.
   With the argument `many` those of MANY blocks instead. */
#include "type_map.h"

enum { MANY_BLOCKS = 10000 };
typedef enum { USUAL, NOTHING, BACKWARDS, MANY } Shape;
static const char* const shape_names[] = {"usual", "nothing", "backwards", "many"};

typedef struct {
    const char* name;
    void (*make)(Shape, MPI_Datatype, MPI_Datatype*);
} Constructor;

typedef struct {
    const char* name;
    MPI_Datatype type;
} Basic;

static MPI_Aint extent_of(MPI_Datatype type)
{
    MPI_Aint lb, extent;
    MPI_Type_get_extent(type, &lb, &extent);
    return extent;
}

static int blocks(Shape shape)
{
    return shape == NOTHING ? 0 : shape == MANY ? MANY_BLOCKS : 3;
}

/* From one block of at most two elements to the next. */
static int step(Shape shape)
{
    return shape == BACKWARDS ? -3 : 3;
}

#define Count int
#define Place MPI_Aint
#define NAME(name) name
#include "constructors.inc"
#undef Count
#undef Place
#undef NAME

#ifdef HAVE_MPI_Send_c
#define Count MPI_Count
#define Place MPI_Count
#define NAME(name) name##_c
#define MPI_Type_dup_c MPI_Type_dup
#include "constructors.inc"
#endif

static void free_made(MPI_Datatype* type)
{
    int integers, addresses, types, combiner;
    MPI_Type_get_envelope(*type, &integers, &addresses, &types, &combiner);
    if (combiner != MPI_COMBINER_NAMED) {
        MPI_Type_free(type);
    }
}

/* --- lists --- */

/* Names of combiners stand for what predefined functions make. */
static void note_basic_types(void)
{
    MPI_Datatype real, integer, complex_number;
    MPI_Type_create_f90_real(6, 30, &real);
    MPI_Type_create_f90_integer(9, &integer);
    MPI_Type_create_f90_complex(MPI_UNDEFINED, 30, &complex_number);
#define BASIC(type)                                                                                          \
    {                                                                                                        \
#type, type                                                                                          \
    }
    const Basic types[] = {
        BASIC(MPI_BYTE),
        BASIC(MPI_CHAR),
        BASIC(MPI_SHORT),
        BASIC(MPI_INT),
        BASIC(MPI_LONG),
        BASIC(MPI_LONG_LONG),
        BASIC(MPI_FLOAT),
        BASIC(MPI_DOUBLE),
        BASIC(MPI_LONG_DOUBLE),
        BASIC(MPI_WCHAR),
        BASIC(MPI_C_BOOL),
        BASIC(MPI_C_DOUBLE_COMPLEX),
        BASIC(MPI_AINT),
        BASIC(MPI_OFFSET),
        BASIC(MPI_COUNT),
        BASIC(MPI_PACKED),
        BASIC(MPI_SHORT_INT),
        BASIC(MPI_2INT),
        BASIC(MPI_LONG_INT),
        BASIC(MPI_FLOAT_INT),
        BASIC(MPI_DOUBLE_INT),
        BASIC(MPI_LONG_DOUBLE_INT),
        BASIC(MPI_CHARACTER),
        BASIC(MPI_LOGICAL),
        BASIC(MPI_INTEGER),
        BASIC(MPI_REAL),
        BASIC(MPI_DOUBLE_PRECISION),
        BASIC(MPI_COMPLEX),
        BASIC(MPI_2INTEGER),
        BASIC(MPI_2REAL),
        BASIC(MPI_2DOUBLE_PRECISION),
        {"F90_REAL", real},
        {"F90_INTEGER", integer},
        {"F90_COMPLEX", complex_number},
    };
    for (int i = 0; i < LENGTH(types); ++i) {
        MPI_Datatype made;
        char name[MPI_MAX_OBJECT_NAME];
        MPI_Type_contiguous(3, types[i].type, &made);
        snprintf(name, sizeof name, "3/%s", types[i].name);
        note_type(name, made);
    }
}

static void note_shape(Shape shape, const char* form, const Constructor* constructor)
{
    MPI_Datatype old, made;
    char name[MPI_MAX_OBJECT_NAME];
    snprintf(name, sizeof name, "%s%s/%s", shape_names[shape], form, constructor->name);
    constructor->make(shape, MPI_SHORT_INT, &made);
    note_type(name, made);

    MPI_Type_create_resized(MPI_INT, -5, 12, &old);
    constructor->make(shape, old, &made);
    MPI_Type_free(&old);
    strncat(name, "/negative", sizeof name - strlen(name) - 1);
    note_type(name, made);
}

static void note_shapes(Shape first, Shape last)
{
    for (Shape shape = first; shape <= last; ++shape) {
        for (int i = 0; i < LENGTH(constructors); ++i) {
            note_shape(shape, "", &constructors[i]);
#ifdef HAVE_MPI_Send_c
            note_shape(shape, "_c", &constructors_c[i]);
#endif
        }
    }
}

static void note_nested(void)
{
    const int count = LENGTH(constructors);
    for (int i = 0; i < count * count * count; ++i) {
        const int nested[] = {i % count, i / count % count, i / count / count};
        MPI_Datatype made = MPI_SHORT_INT;
        char name[MPI_MAX_OBJECT_NAME] = "nested";
        for (int level = 0; level < 3; ++level) {
            MPI_Datatype old = made;
            constructors[nested[level]].make(level == 1 ? BACKWARDS : USUAL, old, &made);
            free_made(&old);
            snprintf(name + strlen(name), sizeof name - strlen(name), "/%s",
                     constructors[nested[level]].name);
        }
        note_type(name, made);
    }
}

int main(int argc, char** argv)
{
    begin(&argc, &argv);
    open_log();
    if (argc > 1) {
        note_shapes(MANY, MANY);
    } else {
        note_basic_types();
        note_shapes(USUAL, BACKWARDS);
        note_nested();
    }
    fclose(log_file);
    return finish();
}
