/* random.h - numbers from a seed, the same on every machine. */
#ifndef RANDOM_H
#define RANDOM_H

#include <stdint.h>

typedef uint64_t Random;

static inline int below(Random* random, int limit)
{
    uint64_t z = *random += 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return (int)((z ^ (z >> 31)) % (uint64_t)limit);
}

static inline int one_in(Random* random, int limit)
{
    return below(random, limit) == 0;
}

#endif
