#ifndef H123_CONNECTION_H
#define H123_CONNECTION_H

#include <openssl/ssl.h>
#include <stdbool.h>

/* A client's connection: HTTP/3 of nghttp3 on the QUIC of OpenSSL. */
struct connection;

enum advance { IDLE, BUSY, OVER };

/* Takes the QUIC connection over. NULL if memory has run out. */
struct connection *connection_new(SSL *quic);

/* Carries on what can be carried on without waiting. BUSY: something was, so there may be more. */
enum advance connection_advance(struct connection *connection);

/* Tells the client that this is the end. */
void connection_close(struct connection *connection);

void connection_free(struct connection *connection);

#endif
