#ifndef H123_BLOCK_H
#define H123_BLOCK_H

#include <stdint.h>

#define BLOCK_SIZE 65536

/* What every body is made of, repeated; filled by block_make. */
extern uint8_t block[BLOCK_SIZE];

void block_make(void);

#endif
