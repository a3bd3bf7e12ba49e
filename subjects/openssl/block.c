#include "block.h"

#include <openssl/sha.h>

uint8_t block[BLOCK_SIZE];

/* The SHA-256 digests of "h123" and a counter, one after another. */
void block_make(void)
{
    uint8_t counted[8] = "h123";
    for (uint32_t i = 0; i < BLOCK_SIZE / SHA256_DIGEST_LENGTH; i++) {
        for (int byte = 0; byte < 4; byte++) {
            counted[4 + byte] = (uint8_t)(i >> (24 - 8 * byte));
        }
        SHA256(counted, sizeof counted, block + i * SHA256_DIGEST_LENGTH);
    }
}
