// What the functions of the C API share.
#pragma once

#include "hdTrace.h"
#include "hdtrace/writer/own_memory.h"

#include <errno.h>
#include <new>
#include <stdlib.h>

namespace hdtrace {

/// Returns -1 with errno set, or 0 if @p error is 0.
inline int result(int error)
{
    if (error == 0)
        return 0;
    errno = error;
    return -1;
}

/// Returns null with errno set.
inline decltype(nullptr) no_object(int error)
{
    errno = error;
    return nullptr;
}

/// An object without the C++ run-time library; null if memory is short.
template <typename Object> Object* create()
{
    void* const memory = own_malloc(sizeof(Object));
    return memory == nullptr ? nullptr : new (memory) Object;
}

template <typename Object> void destroy(Object* object)
{
    object->~Object();
    own_free(object);
}

} // namespace hdtrace
