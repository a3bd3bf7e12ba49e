#ifndef H123_DATAGRAMS_H
#define H123_DATAGRAMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/types.h>

/* A socket of UDP to the server, for datagrams that nobody on the way may cut; -1 with errno. */
int datagrams_open(const struct sockaddr *server, socklen_t length);

/* Reads as many datagrams as the kernel has put together: all have `segment` bytes, but for the last. `arrived`: when it
 * had the first of them. -1 with errno. */
ssize_t datagrams_take(int descriptor, uint8_t *to, size_t room, size_t *segment, int64_t *arrived);

/* Sends datagrams of `segment` bytes, the last of which may be shorter, as one; false with errno. */
bool datagrams_give(int descriptor, const uint8_t *bytes, size_t length, size_t segment);

#endif
