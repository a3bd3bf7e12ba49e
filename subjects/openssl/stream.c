#include "stream.h"

#include <stdlib.h>

struct stream *stream_add(struct stream **list, SSL *quic)
{
    struct stream *stream = calloc(1, sizeof *stream);
    if (!stream) {
        SSL_free(quic);
        return NULL;
    }
    stream->quic = quic;
    stream->id = (int64_t)SSL_get_stream_id(quic);
    SSL_set_mode(quic, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
    stream->next = *list;
    *list = stream;
    return stream;
}

struct stream *stream_find(struct stream *list, int64_t id)
{
    while (list && list->id != id) {
        list = list->next;
    }
    return list;
}

void stream_remove(struct stream **place)
{
    struct stream *gone = *place;
    *place = gone->next;
    SSL_free(gone->quic);
    free(gone);
}

bool stream_write(struct stream *stream, const nghttp3_vec *parts, size_t count, bool end, size_t *written)
{
    *written = 0;
    for (size_t i = 0; i < count; i++) {
        size_t taken = 0;
        if (!SSL_write_ex(stream->quic, parts[i].base, parts[i].len, &taken)) {
            stream->full = SSL_get_error(stream->quic, 0) == SSL_ERROR_WANT_WRITE;
            return stream->full;
        }
        *written += taken;
        if (taken < parts[i].len) {
            stream->full = true;
            return true;
        }
    }
    stream->written = end;
    return !end || SSL_stream_conclude(stream->quic, 0);
}

bool stream_has_room(struct stream *stream)
{
    uint64_t room = 0, size = 0;
    return SSL_get_stream_write_buf_avail(stream->quic, &room) && SSL_get_stream_write_buf_size(stream->quic, &size) &&
           room >= size / 2;
}
