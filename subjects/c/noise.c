#include "noise.h"

#include <stddef.h>
#include <stdint.h>

const char *noise(void)
{
    static char block[NOISE];
    if (!block[0]) {
        uint64_t state = 1;
        for (size_t i = 0; i < NOISE; i++) {
            state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
            block[i] = (char)(state >> 56 | 1);
        }
    }
    return block;
}
