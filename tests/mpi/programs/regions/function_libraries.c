/* Two libraries, one after the other, at the same path and the same addresses: each has a function of its
 * own. */
#include "../check.h"

#ifdef FUNCTION

void FUNCTION(void);

void FUNCTION(void)
{
    __asm__("");
}

#else

#include <dlfcn.h>

static void* call_function_of(const char* path, const char* name)
{
    void* const library = dlopen(path, RTLD_NOW);
    CHECK(library != NULL);
    void (*const function)(void) = (void (*)(void))dlsym(library, name);
    CHECK(function != NULL);
    function();
    CHECK(dlclose(library) == 0);
    return (void*)function;
}

/* function_libraries LIBRARY-WITH-ALPHA LIBRARY-WITH-OMEGA */
int main(int argc, char** argv)
{
    begin(&argc, &argv);
    const void* const alpha = call_function_of(argv[1], "alpha");
    CHECK(rename(argv[2], argv[1]) == 0);
    CHECK(call_function_of(argv[1], "omega") == alpha);
    return finish();
}

#endif
