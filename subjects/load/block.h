#ifndef H123_BLOCK_H
#define H123_BLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BLOCK_SIZE 65536

/* What bodies are made of, repeated; filled by block_make. */
extern uint8_t block[BLOCK_SIZE];

void block_make(void);

/* Whether the bytes are those of the block, repeated, from the position on. */
bool block_is(const uint8_t *bytes, size_t length, uint64_t position);

#endif
