#ifndef H123_CALLBACKS_H
#define H123_CALLBACKS_H

#include "quic.h"

extern const ngtcp2_callbacks quic_callbacks;

void random_bytes(uint8_t *to, size_t length, const ngtcp2_rand_ctx *none);

#endif
