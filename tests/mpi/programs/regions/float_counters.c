/* Counts in floating-point environments of many kinds, which must be the same afterwards. */
#include "../check.h"

#include <fenv.h>
#include <hdRegion.h>
#ifdef __x86_64__
#include <immintrin.h>
#endif

static hdCounter counter = HD_COUNTER("value", HD_FLOAT);
static const double values[] = {0.1, 0.30000000000000004, -2.0 / 3, 1e300, 123456.000001, 5e-324};

static void count_values(void)
{
    for (int i = 0; i < LENGTH(values); ++i) {
        CHECK(hdR_countFloat(&counter, values[i]) == 0);
    }
}

static void count_with_traps(void)
{
    feclearexcept(FE_ALL_EXCEPT);
    count_values();
    CHECK(fetestexcept(FE_ALL_EXCEPT) == 0);
    feenableexcept(FE_ALL_EXCEPT);
    const int trapped = fegetexcept(); /* none on processors that cannot */
    count_values();
    CHECK(fegetexcept() == trapped);
    fedisableexcept(FE_ALL_EXCEPT);
}

/* The x87 has one, and traps it in its next instruction. */
static void count_with_exception_to_come(void)
{
    volatile long double third = 1;
    third /= 3;
    feenableexcept(FE_INEXACT);
    count_values();
    feclearexcept(FE_ALL_EXCEPT);
    fedisableexcept(FE_ALL_EXCEPT);
}

static void count_with_rounding(int mode)
{
    fesetround(mode);
    count_values();
    CHECK(fegetround() == mode);
}

static void count_without_denormals(void)
{
#ifdef __x86_64__
    const unsigned control = _mm_getcsr(),
                   changed = control | _MM_FLUSH_ZERO_ON | 0x40; /* and inputs are 0 */
    _mm_setcsr(changed);
    count_values();
    CHECK(_mm_getcsr() == changed);
    _mm_setcsr(control);
#endif
}

int main(int argc, char** argv)
{
    begin(&argc, &argv);
    count_with_traps();
    count_with_exception_to_come();
    count_with_rounding(FE_UPWARD);
    count_with_rounding(FE_DOWNWARD);
    count_with_rounding(FE_TOWARDZERO);
    count_with_rounding(FE_TONEAREST);
    count_without_denormals();
    return finish();
}
