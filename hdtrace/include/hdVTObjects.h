/* hdVTObjects.h - what programs define by the functions of hdVT.h, which includes this. */
#ifndef HDVTOBJECTS_H
#define HDVTOBJECTS_H

#include <hdRegion.h>

#include <stdio.h>
#include <stdlib.h>

/* C of 1989 does not know inline. */
#define HDV_FUNCTION __attribute__((unused)) static __inline__

enum hdV_Kind { hdV_class = 1, hdV_state, hdV_scope, hdV_counter, hdV_place, hdV_group };

typedef struct hdV_Object {
    enum hdV_Kind kind;
    char* text; /**< the name, with colons between its parts; of a place the file */
    int line;   /**< of a place; of a state of VT_symdef() its number */
    int data;   /**< of a counter: its VT_CountData */
    hdRegion region;
    hdCounter counter;
    char* members; /**< of a group: "0;2.1;" processes, and threads of processes */
} hdV_Object;

/* Smaller ones are of VT_symdef(). */
enum { hdV_first_handle = 0x10000000, hdV_chunk_size = 256, hdV_chunk_count = 4096 };

#ifdef __cplusplus
extern "C" {
#endif
/* One for all files of the program. */
__attribute__((weak)) hdV_Object* hdV_chunks[hdV_chunk_count];
__attribute__((weak)) int hdV_count;
__attribute__((weak)) int hdV_lock;
#ifdef __cplusplus
}
#endif

HDV_FUNCTION hdV_Object* hdV_at(int index)
{
    return &hdV_chunks[index / hdV_chunk_size][index % hdV_chunk_size];
}

/** Null if there is none of this kind. */
HDV_FUNCTION hdV_Object* hdV_find(int handle, enum hdV_Kind kind)
{
    const int count = __atomic_load_n(&hdV_count, __ATOMIC_ACQUIRE);
    hdV_Object* object = 0;
    int i;
    if (handle >= hdV_first_handle && handle - hdV_first_handle < count)
        object = hdV_at(handle - hdV_first_handle);
    for (i = 0; handle > 0 && handle < hdV_first_handle && i < count && !object; ++i)
        if (hdV_at(i)->kind == hdV_state && hdV_at(i)->line == handle)
            object = hdV_at(i);
    return object && object->kind == kind ? object : 0;
}

/** Adds part to text with single colons between all parts. */
HDV_FUNCTION void hdV_join(char* text, const char* part)
{
    size_t length = strlen(text);
    const char* at;
    for (at = part; *at != '\0'; ++at) {
        const int is_first = at == part || at[-1] == ':';
        if (*at == ':')
            continue;
        if (is_first && length > 0)
            text[length++] = ':';
        text[length++] = *at;
    }
    text[length] = '\0';
}

/** Null if memory is short. */
HDV_FUNCTION char* hdV_copy(const char* text)
{
    const size_t size = strlen(text) + 1;
    char* const copy = (char*)malloc(size);
    return copy ? (char*)memcpy(copy, text, size) : 0;
}

/** Fills in what is new; takes the text, which is cut into group and name. False if memory is short. */
HDV_FUNCTION int hdV_fill(hdV_Object* object, enum hdV_Kind kind, char* text, int line)
{
    char* const colon = kind == hdV_place ? 0 : strrchr(text, ':');
    object->text = hdV_copy(text);
    if (!object->text)
        return 0;
    if (colon)
        *colon = '\0';
    object->kind = kind;
    object->line = line;
    object->region.group = object->counter.group = colon ? text : 0;
    object->region.name = object->counter.name = colon ? colon + 1 : text;
    object->region.flags = kind == hdV_scope ? HD_OVERLAPS : 0;
    object->counter.flags = HD_NO_SITE;
    return 1;
}

/** The index of what has this name, and of what becomes of it if it is new; -1 if memory is short. With the
 * lock. */
HDV_FUNCTION int hdV_findOrAdd(enum hdV_Kind kind, char* text, int line)
{
    hdV_Object** const chunk = &hdV_chunks[hdV_count / hdV_chunk_size % hdV_chunk_count];
    int i;
    for (i = 0; i < hdV_count; ++i) {
        const hdV_Object* const object = hdV_at(i);
        if (object->kind == kind && object->line == line && strcmp(object->text, text) == 0) {
            free(text);
            return i;
        }
    }
    if (hdV_count < hdV_chunk_size * hdV_chunk_count && !*chunk)
        *chunk = (hdV_Object*)calloc(hdV_chunk_size, sizeof **chunk);
    if (hdV_count == hdV_chunk_size * hdV_chunk_count || !*chunk ||
        !hdV_fill(hdV_at(hdV_count), kind, text, line)) {
        free(text);
        return -1;
    }
    __atomic_store_n(&hdV_count, hdV_count + 1, __ATOMIC_RELEASE);
    return hdV_count - 1;
}

/** The handle of what has this name; 0 if memory is short. */
HDV_FUNCTION int hdV_define(enum hdV_Kind kind, const char* first, const char* second, int line)
{
    char* const text = (char*)calloc(1, strlen(first) + strlen(second) + 3);
    int index;
    if (!text)
        return 0;
    if (kind == hdV_place) {
        strcpy(text, first);
    } else {
        hdV_join(text, first);
        hdV_join(text, second);
    }
    while (__atomic_exchange_n(&hdV_lock, 1, __ATOMIC_ACQUIRE))
        continue;
    index = hdV_findOrAdd(kind, text, line);
    __atomic_store_n(&hdV_lock, 0, __ATOMIC_RELEASE);
    return index < 0 ? 0 : hdV_first_handle + index;
}

/** A region without a name if there is none: the tracer refuses it. */
HDV_FUNCTION hdRegion* hdV_region(int handle, enum hdV_Kind kind)
{
    static hdRegion none;
    hdV_Object* const object = hdV_find(handle, kind);
    return object ? &object->region : &none;
}

#endif
