#include "connection.h"

#include <stdlib.h>

#include "stream.h"

#define MOST_STREAMS (UINT64_C(1) << 60)
#define PARTS 16

struct connection {
    SSL *quic;
    nghttp3_conn *http; /* from the handshake's end on */
    struct stream *streams;
};

static int begin_headers(nghttp3_conn *http, int64_t id, void *user, void *none)
{
    struct connection *connection = user;
    struct stream *stream = stream_find(connection->streams, id);
    (void)none;
    return stream ? nghttp3_conn_set_stream_user_data(http, id, &stream->request) : NGHTTP3_ERR_CALLBACK_FAILURE;
}

static int take_header(nghttp3_conn *http, int64_t id, int32_t token, nghttp3_rcbuf *name, nghttp3_rcbuf *value,
                       uint8_t flags, void *user, void *request)
{
    (void)http, (void)id, (void)name, (void)flags, (void)user;
    request_header(request, token, nghttp3_rcbuf_get_buf(value));
    return 0;
}

static int take_data(nghttp3_conn *http, int64_t id, const uint8_t *data, size_t length, void *user, void *request)
{
    (void)http, (void)id, (void)data, (void)user;
    ((struct request *)request)->received += length;
    return 0;
}

static int take_end(nghttp3_conn *http, int64_t id, void *user, void *request)
{
    (void)user;
    return request_answer(request, http, id);
}

/* Opens one of the three streams on which HTTP/3 speaks of itself. -1 if that fails. */
static int64_t own_stream(struct connection *connection)
{
    SSL *quic = SSL_new_stream(connection->quic, SSL_STREAM_FLAG_UNI);
    struct stream *stream = quic ? stream_add(&connection->streams, quic) : NULL;
    if (!stream) {
        return -1;
    }
    stream->read = true;
    return stream->id;
}

static bool begin_http(struct connection *connection)
{
    static const nghttp3_callbacks callbacks = {
        .begin_headers = begin_headers, .recv_header = take_header, .recv_data = take_data, .end_stream = take_end};
    nghttp3_settings settings;
    nghttp3_settings_default(&settings);
    if (nghttp3_conn_server_new(&connection->http, &callbacks, &settings, nghttp3_mem_default(), connection) != 0) {
        return false;
    }
    nghttp3_conn_set_max_client_streams_bidi(connection->http, MOST_STREAMS); /* it is QUIC that limits them */
    int64_t control = own_stream(connection), encoder = own_stream(connection), decoder = own_stream(connection);
    return control >= 0 && encoder >= 0 && decoder >= 0 &&
           nghttp3_conn_bind_control_stream(connection->http, control) == 0 &&
           nghttp3_conn_bind_qpack_streams(connection->http, encoder, decoder) == 0;
}

struct connection *connection_new(SSL *quic)
{
    struct connection *connection = calloc(1, sizeof *connection);
    if (!connection) {
        SSL_free(quic);
        return NULL;
    }
    connection->quic = quic;
    /* Packets come and go when SSL_handle_events is called, not within every other call. */
    SSL_set_event_handling_mode(quic, SSL_VALUE_EVENT_HANDLING_MODE_EXPLICIT);
    SSL_set_default_stream_mode(quic, SSL_DEFAULT_STREAM_MODE_NONE);
    SSL_set_incoming_stream_policy(quic, SSL_INCOMING_STREAM_POLICY_ACCEPT, 0);
    return connection;
}

static bool accept_streams(struct connection *connection)
{
    SSL *quic;
    while ((quic = SSL_accept_stream(connection->quic, SSL_ACCEPT_STREAM_NO_BLOCK))) {
        struct stream *stream = stream_add(&connection->streams, quic);
        if (!stream) {
            return false;
        }
        stream->written = SSL_get_stream_type(quic) == SSL_STREAM_TYPE_READ;
    }
    return true;
}

/* Gives a stream's end to HTTP/3, or what became of it if it was broken off. */
static bool end_reading(struct connection *connection, struct stream *stream)
{
    stream->read = true;
    if (SSL_get_error(stream->quic, 0) == SSL_ERROR_ZERO_RETURN) {
        return nghttp3_conn_read_stream(connection->http, stream->id, NULL, 0, 1) >= 0;
    }
    nghttp3_conn_shutdown_stream_write(connection->http, stream->id); /* the client has given up */
    stream->written = true;
    return true;
}

static bool read_stream(struct connection *connection, struct stream *stream, bool *progress)
{
    static uint8_t buffer[65536];
    size_t length;
    while (SSL_read_ex(stream->quic, buffer, sizeof buffer, &length)) {
        *progress = true;
        if (nghttp3_conn_read_stream(connection->http, stream->id, buffer, length, 0) < 0) {
            return false;
        }
    }
    if (SSL_get_error(stream->quic, 0) == SSL_ERROR_WANT_READ) {
        return true;
    }
    *progress = true;
    return end_reading(connection, stream);
}

static bool read_streams(struct connection *connection, bool *progress)
{
    for (struct stream *stream = connection->streams; stream; stream = stream->next) {
        if (!stream->read && !read_stream(connection, stream, progress)) {
            return false;
        }
    }
    return true;
}

static void unblock_streams(struct connection *connection)
{
    for (struct stream *stream = connection->streams; stream; stream = stream->next) {
        if (stream->full && stream_has_room(stream)) {
            stream->full = false;
            nghttp3_conn_unblock_stream(connection->http, stream->id);
        }
    }
}

/* Writes what HTTP/3 has for a stream. A stream that takes no more is blocked, one that has failed ended. */
static bool write_stream(struct connection *connection, int64_t id, const nghttp3_vec *parts, size_t count, bool end)
{
    size_t written = 0;
    struct stream *stream = stream_find(connection->streams, id);
    if (!stream || !stream_write(stream, parts, count, end, &written)) {
        nghttp3_conn_shutdown_stream_write(connection->http, id);
        if (stream) {
            stream->written = true;
        }
        return true;
    }
    if (stream->full) {
        nghttp3_conn_block_stream(connection->http, id);
    }
    /* QUIC has copied what it took, so HTTP/3 need not keep it until it is acknowledged. */
    return nghttp3_conn_add_write_offset(connection->http, id, written) == 0 &&
           nghttp3_conn_add_ack_offset(connection->http, id, written) == 0;
}

static bool write_streams(struct connection *connection, bool *progress)
{
    nghttp3_vec parts[PARTS];
    int64_t id;
    int end;
    unblock_streams(connection);
    while (true) {
        id = -1, end = 0;
        nghttp3_ssize count = nghttp3_conn_writev_stream(connection->http, &id, &end, parts, PARTS);
        if (count < 0) {
            return false;
        }
        if (id < 0) {
            return true;
        }
        *progress = true;
        if (!write_stream(connection, id, parts, (size_t)count, end)) {
            return false;
        }
    }
}

static void sweep_streams(struct connection *connection)
{
    for (struct stream **place = &connection->streams; *place;) {
        if ((*place)->read && (*place)->written) {
            nghttp3_conn_close_stream(connection->http, (*place)->id, NGHTTP3_H3_NO_ERROR);
            stream_remove(place);
        } else {
            place = &(*place)->next;
        }
    }
}

static bool is_over(struct connection *connection)
{
    SSL_CONN_CLOSE_INFO info;
    return SSL_get_conn_close_info(connection->quic, &info, sizeof info) == 1;
}

enum advance connection_advance(struct connection *connection)
{
    bool progress = false;
    if (is_over(connection)) {
        return OVER;
    }
    if (!connection->http) {
        if (!SSL_is_init_finished(connection->quic)) {
            return IDLE;
        }
        if (!begin_http(connection)) {
            return OVER;
        }
    }
    if (!accept_streams(connection) || !read_streams(connection, &progress) || !write_streams(connection, &progress)) {
        connection_close(connection);
        return OVER;
    }
    sweep_streams(connection);
    return progress ? BUSY : IDLE;
}

void connection_close(struct connection *connection)
{
    const SSL_SHUTDOWN_EX_ARGS why = {.quic_error_code = NGHTTP3_H3_NO_ERROR};
    SSL_shutdown_ex(connection->quic, SSL_SHUTDOWN_FLAG_RAPID | SSL_SHUTDOWN_FLAG_NO_BLOCK, &why, sizeof why);
}

void connection_free(struct connection *connection)
{
    nghttp3_conn_del(connection->http);
    while (connection->streams) {
        stream_remove(&connection->streams);
    }
    SSL_free(connection->quic);
    free(connection);
}
