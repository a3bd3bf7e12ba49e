#ifndef H123_STREAM_H
#define H123_STREAM_H

#include <openssl/ssl.h>
#include <stdbool.h>
#include <stdint.h>

#include "request.h"

/* A stream of a connection, of a request or of HTTP/3's own. */
struct stream {
    struct stream *next;
    SSL *quic;
    int64_t id;
    bool read;    /* to its end */
    bool written; /* to its end */
    bool full;    /* QUIC takes no more for now */
    struct request request;
};

/* Takes the QUIC stream over and puts it into a list. NULL if memory has run out. */
struct stream *stream_add(struct stream **list, SSL *quic);

struct stream *stream_find(struct stream *list, int64_t id);

/* Takes a stream out of its list and frees it; what QUIC still has to send of it is sent. */
void stream_remove(struct stream **place);

/* Writes to the stream as much as QUIC takes, and ends it after all of it if `end`. Sets how much that was; false: the stream has failed. */
bool stream_write(struct stream *stream, const nghttp3_vec *parts, size_t count, bool end, size_t *written);

/* Whether a stream that was full has room again for half of what it holds. */
bool stream_has_room(struct stream *stream);

#endif
