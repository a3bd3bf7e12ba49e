#ifndef H123_FACTS_H
#define H123_FACTS_H

#include <openssl/ssl.h>
#include <stdbool.h>
#include <stdio.h>

#include "record.h"

enum { KINDS = 16, WORD = 48 };

/* What the connections were like: client.json. Those whose handshakes are alike count together. */
struct facts {
    struct handshake {
        char version[WORD], cipher[WORD], key_exchange[WORD], alpn[WORD];
        bool resumed, early;
        int connections;
    } kinds[KINDS];
    char congestion[WORD];
    struct own_delay delay;
    int64_t moves; /* how often a request was made again because the server had not taken it */
};

/* Takes account of a connection whose handshake is complete; `early`: the server took early data on it. */
void facts_add(struct facts *facts, SSL *ssl, bool early);

/* Takes account of what the kernel does about congestion on this socket of TCP's. */
void facts_of_socket(struct facts *facts, int descriptor);

/* The same of QUIC's own. */
void facts_of_sender(struct facts *facts, const char *congestion);

void facts_write(const struct facts *facts, FILE *to);

#endif
