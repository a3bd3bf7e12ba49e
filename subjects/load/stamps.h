#ifndef H123_STAMPS_H
#define H123_STAMPS_H

#include <stdint.h>
#include <sys/socket.h>
#include <time.h>

/* Room for the time that the kernel had a packet. */
enum { STAMP_ROOM = CMSG_SPACE(sizeof(struct timespec)) };

/* Has the kernel tell when it had what is read from this socket. */
void stamps_ask(int descriptor);

/* When the kernel had what this message has of it last, by the monotonic clock; now, where it does not tell. */
int64_t stamps_read(struct msghdr *message);

#endif
