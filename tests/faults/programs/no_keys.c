/* Preloaded, it has no key for the data of threads left when the tracer wants one. */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <string.h>

__attribute__((visibility("default"))) int pthread_key_create(pthread_key_t* key, void (*destructor)(void*))
{
    static int (*next)(pthread_key_t*, void (*)(void*));
    Dl_info info;
    if (dladdr((void*)destructor, &info) != 0 && strstr(info.dli_fname, "libHDTraceMPIWrapper") != NULL)
        return EAGAIN;
    if (next == NULL)
        *(void**)&next = dlsym(RTLD_NEXT, "pthread_key_create");
    return next(key, destructor);
}
