#ifndef H123_TLS_H
#define H123_TLS_H

#include <openssl/ssl.h>
#include <stdint.h>

#include "job.h"

enum { PARAMETERS = 256, TOKEN = 512 };

/* What is kept of earlier connections: the latest session, and over QUIC the transport parameters with which its early
 * data begins and the token that proves this address, as browsers keep them. */
struct memory {
    SSL_SESSION *session;
    uint8_t parameters[PARAMETERS], token[TOKEN];
    size_t parameters_length, token_length;
};

/* TLS for all connections: 1.3, the job's key share, AES-128, certificates checked. Where the job resumes sessions, those that the
 * server gives come into the memory. */
SSL_CTX *tls_context(const struct job *job, struct memory *memory);

/* TLS for one connection to a host, ready to begin. */
SSL *tls_new(SSL_CTX *context, const char *host, const struct memory *memory);

/* Whether the protocol that was negotiated is the job's. */
bool tls_agreed(const SSL *ssl, const struct job *job);

#endif
