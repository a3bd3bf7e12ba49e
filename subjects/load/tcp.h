#ifndef H123_TCP_H
#define H123_TCP_H

#include "connection.h"

struct tcp;

/* What speaks over the connection. Where one returns false, the connection has failed already. */
struct speaker {
    bool (*begin)(struct tcp *tcp);                                     /* the handshake is complete */
    bool (*take)(struct tcp *tcp, const uint8_t *bytes, size_t length); /* what has come */
    bool (*give)(struct tcp *tcp);                                      /* puts more into the output, if there is any */
    const char *(*over)(struct tcp *tcp, int error);                    /* it has ended, 0: in good order: what that means */
};

/* A TLS connection over TCP. Records gather in `out`, which goes to the kernel once a turn. */
struct tcp {
    struct connection base;
    const struct speaker *speaker;
    bool connected, secure;
    bool drained; /* the kernel has nothing more until it says so */
    bool ending;  /* the server sends no more than what is there */
    uint8_t *out;
    size_t from, length, room;
};

/* As much output may wait for the kernel before more is made. */
enum { BACKLOG = 1 << 18 };

void tcp_dial(struct tcp *tcp, const struct carrier *carrier, const struct speaker *speaker, struct seat *seat);

/* Puts bytes into the output, encrypted. */
bool tcp_write(struct tcp *tcp, const void *bytes, size_t length);

static inline size_t tcp_backlog(const struct tcp *tcp) { return tcp->length - tcp->from; }

/* What a socket's error is in the contract's words. */
const char *tcp_word(int error);

/* Frees all that it has, but for itself. */
void tcp_release(struct tcp *tcp);

#endif
