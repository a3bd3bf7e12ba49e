/* HTTP/3 of nghttp3 on QUIC. */
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "load.h"
#include "quic.h"

enum { PARTS = 16, TABLE = 4096 };

static void flow(struct quic *quic, int64_t stream, size_t length)
{
    ngtcp2_conn_extend_max_stream_offset(quic->conn, stream, length);
    ngtcp2_conn_extend_max_offset(quic->conn, length);
}

/* Its stream may go on without it. */
static void end(struct quic *quic, struct exchange *exchange, const char *error)
{
    nghttp3_conn_set_stream_user_data(quic->http, exchange->stream, NULL);
    ngtcp2_conn_set_stream_user_data(quic->conn, exchange->stream, NULL);
    connection_end(&quic->base, exchange, error);
}

static void break_off(struct quic *quic, int64_t stream)
{
    nghttp3_conn_shutdown_stream_read(quic->http, stream);
    ngtcp2_conn_shutdown_stream(quic->conn, 0, stream, NGHTTP3_H3_REQUEST_CANCELLED);
}

static int on_begin_headers(nghttp3_conn *http, int64_t stream, void *quic, void *exchange)
{
    (void)http, (void)stream, (void)quic;
    if (exchange) {
        exchange_first_byte(exchange);
    }
    return 0;
}

static int on_header(nghttp3_conn *http, int64_t stream, int32_t token, nghttp3_rcbuf *name, nghttp3_rcbuf *value,
                     uint8_t flags, void *quic, void *exchange)
{
    (void)http, (void)stream, (void)name, (void)flags, (void)quic;
    if (token == NGHTTP3_QPACK_TOKEN__STATUS && exchange) { /* three digits; nghttp3 has seen to that */
        const uint8_t *digits = nghttp3_rcbuf_get_buf(value).base;
        struct sample *sample = &((struct exchange *)exchange)->sample;
        sample->status = 100 * (digits[0] - '0') + 10 * (digits[1] - '0') + digits[2] - '0';
    }
    return 0;
}

static int on_data(nghttp3_conn *http, int64_t stream, const uint8_t *bytes, size_t length, void *user, void *exchange)
{
    (void)http;
    flow(user, stream, length);
    if (exchange && !exchange_take(exchange, bytes, length)) {
        end(user, exchange, PROTOCOL);
        ngtcp2_conn_shutdown_stream(((struct quic *)user)->conn, 0, stream, NGHTTP3_H3_REQUEST_CANCELLED);
    }
    return 0;
}

static int on_consumed(nghttp3_conn *http, int64_t stream, size_t length, void *quic, void *exchange)
{
    (void)http, (void)exchange;
    flow(quic, stream, length);
    return 0;
}

static int on_end(nghttp3_conn *http, int64_t stream, void *user, void *exchange)
{
    (void)http;
    struct exchange *ended = exchange;
    if (ended) {
        bool early = ended->sample.up < upload_of(ended);
        end(user, ended, NULL);
        if (early) { /* answered before all was there */
            ngtcp2_conn_shutdown_stream_write(((struct quic *)user)->conn, 0, stream, NGHTTP3_H3_REQUEST_CANCELLED);
        }
    }
    return 0;
}

static int on_close(nghttp3_conn *http, int64_t stream, uint64_t code, void *user, void *exchange)
{
    struct quic *quic = user;
    (void)http;
    if (exchange) {
        ((struct exchange *)exchange)->stream = stream;
        ngtcp2_conn_set_stream_user_data(quic->conn, stream, NULL);
        if (code == NGHTTP3_H3_REQUEST_REJECTED) { /* not taken (RFC 9114, section 4.1.1) */
            connection_return(&quic->base, exchange);
        } else {
            connection_end(&quic->base, exchange, code == NGHTTP3_H3_MESSAGE_ERROR ? PROTOCOL : RESET);
        }
    }
    if (stream & 2) { /* the server's own */
        ngtcp2_conn_extend_max_streams_uni(quic->conn, 1);
    }
    return 0;
}

static int on_stop(nghttp3_conn *http, int64_t stream, uint64_t code, void *quic, void *exchange)
{
    (void)http, (void)exchange;
    ngtcp2_conn_shutdown_stream_read(((struct quic *)quic)->conn, 0, stream, code);
    return 0;
}

static int on_reset(nghttp3_conn *http, int64_t stream, uint64_t code, void *quic, void *exchange)
{
    (void)http, (void)exchange;
    ngtcp2_conn_shutdown_stream_write(((struct quic *)quic)->conn, 0, stream, code);
    return 0;
}

/* The server takes no more requests, and has not taken those from this stream on (RFC 9114, section 5.2). */
static int on_shutdown(nghttp3_conn *http, int64_t id, void *user)
{
    struct quic *quic = user;
    quic->base.retired = true;
    for (struct exchange *exchange = quic->base.exchanges.first, *next; exchange; exchange = next) {
        next = exchange->next;
        if (exchange->stream >= id) {
            nghttp3_conn_set_stream_user_data(http, exchange->stream, NULL);
            ngtcp2_conn_set_stream_user_data(quic->conn, exchange->stream, NULL);
            ngtcp2_conn_shutdown_stream(quic->conn, 0, exchange->stream, NGHTTP3_H3_REQUEST_CANCELLED);
            connection_return(&quic->base, exchange);
        }
    }
    connection_look(&quic->base);
    return 0;
}

static nghttp3_ssize read_upload(nghttp3_conn *http, int64_t stream, nghttp3_vec *parts, size_t count, uint32_t *flags,
                                 void *quic, void *user)
{
    (void)http, (void)stream, (void)quic;
    struct exchange *exchange = user;
    if (!exchange) { /* its time was over */
        *flags |= NGHTTP3_DATA_FLAG_EOF;
        return 0;
    }
    size_t used = 0;
    while (used < count && exchange->sample.up < upload_of(exchange)) {
        parts[used].len = SIZE_MAX;
        parts[used].base = (uint8_t *)exchange_part(exchange, &parts[used].len);
        used++;
    }
    if (exchange->sample.up == upload_of(exchange)) {
        *flags |= NGHTTP3_DATA_FLAG_EOF;
    }
    return (nghttp3_ssize)used;
}

/* Opens the three streams on which HTTP/3 speaks of itself. */
static bool open_streams(struct quic *quic)
{
    int64_t control, encoder, decoder;
    return ngtcp2_conn_open_uni_stream(quic->conn, &control, NULL) == 0 &&
           nghttp3_conn_bind_control_stream(quic->http, control) == 0 &&
           ngtcp2_conn_open_uni_stream(quic->conn, &encoder, NULL) == 0 &&
           ngtcp2_conn_open_uni_stream(quic->conn, &decoder, NULL) == 0 &&
           nghttp3_conn_bind_qpack_streams(quic->http, encoder, decoder) == 0;
}

int http3_begin(struct quic *quic)
{
    static const nghttp3_callbacks callbacks = {
        .stream_close = on_close,
        .recv_data = on_data,
        .deferred_consume = on_consumed,
        .begin_headers = on_begin_headers,
        .recv_header = on_header,
        .stop_sending = on_stop,
        .end_stream = on_end,
        .reset_stream = on_reset,
        .shutdown = on_shutdown,
    };
    nghttp3_settings settings;
    nghttp3_settings_default(&settings);
    settings.qpack_max_dtable_capacity = TABLE;
    /* No answer may wait for the table: nghttp3 forgets one that does when QUIC has closed its stream, which is when all of
     * it has come. */
    settings.qpack_blocked_streams = 0;
    if (nghttp3_conn_client_new(&quic->http, &callbacks, &settings, nghttp3_mem_default(), quic) != 0 ||
        !open_streams(quic)) {
        return NGTCP2_ERR_CALLBACK_FAILURE;
    }
    return 0;
}

/* What nghttp3 does not let pass ends the connection, with the reason that it gives. */
static int judged(struct quic *quic, int error)
{
    if (error >= 0) {
        return 0;
    }
    ngtcp2_ccerr_set_application_error(&quic->why, nghttp3_err_infer_quic_app_error_code(error), NULL, 0);
    return NGTCP2_ERR_CALLBACK_FAILURE;
}

int http3_take(struct quic *quic, int64_t stream, const uint8_t *bytes, size_t length, bool end)
{
    nghttp3_ssize consumed = nghttp3_conn_read_stream(quic->http, stream, bytes, length, end);
    if (consumed > 0) {
        flow(quic, stream, (size_t)consumed);
    }
    return judged(quic, consumed < 0 ? (int)consumed : 0);
}

int http3_acknowledged(struct quic *quic, int64_t stream, uint64_t length)
{
    return judged(quic, nghttp3_conn_add_ack_offset(quic->http, stream, length));
}

int http3_closed(struct quic *quic, int64_t stream, uint64_t code)
{
    int error = quic->http ? nghttp3_conn_close_stream(quic->http, stream, code) : 0;
    if (error == NGHTTP3_ERR_STREAM_NOT_FOUND) {
        if (!ngtcp2_is_bidi_stream(stream) && !ngtcp2_conn_is_local_stream(quic->conn, stream)) {
            ngtcp2_conn_extend_max_streams_uni(quic->conn, 1);
        }
        return 0;
    }
    return judged(quic, error);
}

int http3_stopped(struct quic *quic, int64_t stream)
{
    return quic->http ? judged(quic, nghttp3_conn_shutdown_stream_read(quic->http, stream)) : 0;
}

int http3_unblocked(struct quic *quic, int64_t stream)
{
    return quic->http ? judged(quic, nghttp3_conn_unblock_stream(quic->http, stream)) : 0;
}

static void submit(struct quic *quic, struct exchange *exchange)
{
    struct load *load = quic->base.load;
    const struct head *head = head_of(load->heads, load->job, exchange);
    static const nghttp3_data_reader upload = {.read_data = read_upload};
    int error = ngtcp2_conn_open_bidi_stream(quic->conn, &exchange->stream, exchange);
    if (!error) {
        error = nghttp3_conn_submit_request(quic->http, exchange->stream, head->fields3, head->count,
                                            upload_of(exchange) ? &upload : NULL, exchange);
    }
    if (error) {
        quic->base.retired = true;
        connection_end(&quic->base, exchange, RESET);
    }
    connection_flush_later(&quic->base);
}

/* The server has refused early data, and with it all streams: what was asked for is asked for again. */
int http3_again(struct quic *quic)
{
    nghttp3_conn_del(quic->http);
    quic->http = NULL;
    if (http3_begin(quic) != 0) {
        return NGTCP2_ERR_CALLBACK_FAILURE;
    }
    for (struct exchange *exchange = quic->base.exchanges.first, *next; exchange; exchange = next) {
        next = exchange->next;
        exchange->sample.up = exchange->sample.sent = 0;
        submit(quic, exchange);
    }
    return 0;
}

/* What HTTP/3 has to write, and the streams' part in it. */
struct piece {
    int64_t stream;
    int end;
    nghttp3_vec parts[PARTS];
    size_t count, length;
};

static int next_piece(struct quic *quic, struct piece *piece)
{
    piece->stream = -1;
    piece->end = 0;
    piece->count = piece->length = 0;
    if (quic->http && ngtcp2_conn_get_max_data_left(quic->conn)) {
        nghttp3_ssize count = nghttp3_conn_writev_stream(quic->http, &piece->stream, &piece->end, piece->parts, PARTS);
        if (count < 0) {
            return judged(quic, (int)count);
        }
        piece->count = (size_t)count;
    }
    for (size_t i = 0; i < piece->count; i++) {
        piece->length += piece->parts[i].len;
    }
    return 0;
}

/* So much of the piece is in a packet. */
static int written(struct quic *quic, const struct piece *piece, ngtcp2_ssize length, ngtcp2_tstamp time)
{
    if (length < 0 || piece->stream < 0) {
        return 0;
    }
    if (piece->end && (size_t)length == piece->length) {
        struct exchange *exchange = ngtcp2_conn_get_stream_user_data(quic->conn, piece->stream);
        if (exchange) {
            exchange->sample.sent = (int64_t)time;
        }
    }
    return judged(quic, nghttp3_conn_add_write_offset(quic->http, piece->stream, (size_t)length));
}

ngtcp2_ssize http3_write(ngtcp2_conn *conn, ngtcp2_path *path, ngtcp2_pkt_info *info, uint8_t *to, size_t room,
                         ngtcp2_tstamp time, void *user)
{
    struct quic *quic = user;
    for (;;) {
        struct piece piece;
        ngtcp2_ssize taken = -1;
        if (next_piece(quic, &piece) != 0) {
            return NGTCP2_ERR_CALLBACK_FAILURE;
        }
        uint32_t flags = NGTCP2_WRITE_STREAM_FLAG_MORE | (piece.end ? NGTCP2_WRITE_STREAM_FLAG_FIN : 0);
        ngtcp2_ssize length = ngtcp2_conn_writev_stream(conn, path, info, to, room, &taken, flags, piece.stream,
                                                        (const ngtcp2_vec *)piece.parts, piece.count, time);
        if (length == NGTCP2_ERR_STREAM_DATA_BLOCKED) {
            nghttp3_conn_block_stream(quic->http, piece.stream);
        } else if (length == NGTCP2_ERR_STREAM_SHUT_WR) {
            nghttp3_conn_shutdown_stream_write(quic->http, piece.stream);
        } else if (written(quic, &piece, taken, time) != 0) {
            return NGTCP2_ERR_CALLBACK_FAILURE;
        } else if (length != NGTCP2_ERR_WRITE_MORE) {
            return length;
        }
    }
}

static struct connection *http3_dial(struct seat *seat)
{
    struct quic *quic = calloc(1, sizeof *quic);
    quic_dial(quic, &http3_carrier, seat);
    return &quic->base;
}

static bool has_room(struct connection *connection)
{
    return ngtcp2_conn_get_streams_bidi_left(((struct quic *)connection)->conn) > 0;
}

static void ask(struct connection *connection, struct exchange *exchange)
{
    submit((struct quic *)connection, exchange);
}

static void cancel(struct connection *connection, struct exchange *exchange)
{
    struct quic *quic = (struct quic *)connection;
    nghttp3_conn_set_stream_user_data(quic->http, exchange->stream, NULL);
    ngtcp2_conn_set_stream_user_data(quic->conn, exchange->stream, NULL);
    break_off(quic, exchange->stream);
    connection_flush_later(connection);
}

static void leave(struct connection *connection)
{
    struct quic *quic = (struct quic *)connection;
    ngtcp2_ccerr_set_application_error(&quic->why, NGHTTP3_H3_NO_ERROR, NULL, 0);
    quic_close(quic);
}

static void destroy(struct connection *connection)
{
    struct quic *quic = (struct quic *)connection;
    quic_release(quic);
    free(quic);
}

const struct carrier http3_carrier = {http3_dial, has_room, ask, cancel, leave, destroy};
