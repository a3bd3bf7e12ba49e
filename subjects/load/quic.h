#ifndef H123_QUIC_H
#define H123_QUIC_H

#include <nghttp3/nghttp3.h>
#include <ngtcp2/ngtcp2.h>
#include <ngtcp2/ngtcp2_crypto.h>
#include <ngtcp2/ngtcp2_crypto_ossl.h>

#include "connection.h"

/* A QUIC connection of ngtcp2, and the HTTP/3 of nghttp3 on it. */
struct quic {
    struct connection base;
    ngtcp2_conn *conn;
    nghttp3_conn *http; /* from when streams can be opened */
    ngtcp2_crypto_ossl_ctx *tls;
    ngtcp2_crypto_conn_ref reference;
    ngtcp2_path path;
    struct sockaddr_storage local;
    struct timer expiry;
    bool early;       /* requests go out before the handshake is complete */
    bool refused;     /* by the server's host */
    ngtcp2_ccerr why; /* it is given up, if it is */
    uint8_t *unsent;  /* datagrams for which the kernel had no room */
    size_t unsent_length, unsent_segment;
};

/* What QUIC asks of HTTP/3; all but the last return what a callback of ngtcp2's has to. */
int http3_begin(struct quic *quic);
int http3_take(struct quic *quic, int64_t stream, const uint8_t *bytes, size_t length, bool end);
int http3_acknowledged(struct quic *quic, int64_t stream, uint64_t length);
int http3_closed(struct quic *quic, int64_t stream, uint64_t code);
int http3_stopped(struct quic *quic, int64_t stream);
int http3_unblocked(struct quic *quic, int64_t stream);
int http3_again(struct quic *quic);
ngtcp2_ssize http3_write(ngtcp2_conn *conn, ngtcp2_path *path, ngtcp2_pkt_info *info, uint8_t *to, size_t room,
                         ngtcp2_tstamp time, void *quic);

void quic_dial(struct quic *quic, const struct carrier *carrier, struct seat *seat);
void quic_close(struct quic *quic);
void quic_release(struct quic *quic);

#endif
