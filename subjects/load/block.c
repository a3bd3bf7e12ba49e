#include "block.h"

#include <openssl/sha.h>
#include <string.h>

uint8_t block[BLOCK_SIZE];

/* The SHA-256 digests of "h123" and a counter, one after another. */
void block_make(void)
{
    uint8_t counted[8] = "h123";
    for (uint32_t i = 0; i < BLOCK_SIZE / SHA256_DIGEST_LENGTH; i++) {
        counted[6] = (uint8_t)(i >> 8);
        counted[7] = (uint8_t)i;
        SHA256(counted, sizeof counted, block + i * SHA256_DIGEST_LENGTH);
    }
}

bool block_is(const uint8_t *bytes, size_t length, uint64_t position)
{
    size_t at = position % BLOCK_SIZE;
    while (length > 0) {
        size_t part = BLOCK_SIZE - at < length ? BLOCK_SIZE - at : length;
        if (memcmp(bytes, block + at, part) != 0) {
            return false;
        }
        bytes += part;
        length -= part;
        at = 0;
    }
    return true;
}
