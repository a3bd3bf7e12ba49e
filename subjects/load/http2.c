/* HTTP/2 of nghttp2 on TLS over TCP. */
#include <nghttp2/nghttp2.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "load.h"
#include "tcp.h"
#include "windows.h"
#include "workload.h"

struct http2 {
    struct tcp tcp;
    nghttp2_session *session;
    int64_t sending; /* when the output that is being made goes out */
};

static struct exchange *find(nghttp2_session *session, int32_t stream)
{
    return nghttp2_session_get_stream_user_data(session, stream);
}

/* Its stream may go on without it. */
static void end(struct http2 *http, struct exchange *exchange, const char *error)
{
    nghttp2_session_set_stream_user_data(http->session, (int32_t)exchange->stream, NULL);
    connection_end(&http->tcp.base, exchange, error);
}

static int on_begin_headers(nghttp2_session *session, const nghttp2_frame *frame, void *http)
{
    (void)http;
    struct exchange *exchange = find(session, frame->hd.stream_id);
    if (exchange) {
        exchange_first_byte(exchange);
    }
    return 0;
}

static int on_header(nghttp2_session *session, const nghttp2_frame *frame, const uint8_t *name, size_t name_length,
                     const uint8_t *value, size_t value_length, uint8_t flags, void *http)
{
    (void)flags, (void)http, (void)value_length;
    if (name[0] == ':' && name_length == 7) { /* :status, three digits; nghttp2 has seen to that */
        struct exchange *exchange = find(session, frame->hd.stream_id);
        if (exchange) {
            exchange->sample.status = 100 * (value[0] - '0') + 10 * (value[1] - '0') + value[2] - '0';
        }
    }
    return 0;
}

static int on_data(nghttp2_session *session, uint8_t flags, int32_t stream, const uint8_t *bytes, size_t length,
                   void *user)
{
    (void)flags;
    struct exchange *exchange = find(session, stream);
    if (exchange && !exchange_take(exchange, bytes, length)) {
        nghttp2_submit_rst_stream(session, 0, stream, NGHTTP2_CANCEL);
        end(user, exchange, PROTOCOL);
    }
    return 0;
}

static int on_frame(nghttp2_session *session, const nghttp2_frame *frame, void *user)
{
    struct http2 *http = user;
    struct exchange *exchange;
    if (frame->hd.type == NGHTTP2_GOAWAY) {
        http->tcp.base.retired = true;
        connection_look(&http->tcp.base);
    } else if (frame->hd.type == NGHTTP2_SETTINGS) {
        connection_look(&http->tcp.base);
    } else if (frame->hd.type <= NGHTTP2_HEADERS && frame->hd.flags & NGHTTP2_FLAG_END_STREAM &&
               (exchange = find(session, frame->hd.stream_id))) {
        if (exchange->sample.up < upload_of(exchange)) { /* answered before all was there */
            nghttp2_submit_rst_stream(session, 0, frame->hd.stream_id, NGHTTP2_CANCEL);
        }
        end(http, exchange, NULL);
    }
    return 0;
}

/* A stream that the server refuses, or leaves out as it goes away, it has not taken (RFC 9113, sections 6.8 and 8.7). */
static void finish(struct http2 *http, struct exchange *exchange, uint32_t code)
{
    if (code == NGHTTP2_REFUSED_STREAM) {
        connection_return(&http->tcp.base, exchange);
    } else {
        connection_end(&http->tcp.base, exchange, code == NGHTTP2_PROTOCOL_ERROR ? PROTOCOL : RESET);
    }
}

static int on_close(nghttp2_session *session, int32_t stream, uint32_t code, void *user)
{
    struct exchange *exchange = find(session, stream);
    if (exchange) {
        finish(user, exchange, code);
    }
    return 0;
}

static int on_sent(nghttp2_session *session, const nghttp2_frame *frame, void *user)
{
    struct exchange *exchange;
    if (frame->hd.type <= NGHTTP2_HEADERS && frame->hd.flags & NGHTTP2_FLAG_END_STREAM &&
        (exchange = find(session, frame->hd.stream_id))) {
        exchange->sample.sent = ((struct http2 *)user)->sending;
    }
    return 0;
}

static nghttp2_ssize read_upload(nghttp2_session *session, int32_t stream, uint8_t *to, size_t room, uint32_t *flags,
                                 nghttp2_data_source *source, void *user)
{
    (void)source, (void)user;
    struct exchange *exchange = find(session, stream);
    if (!exchange) {
        return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE; /* its time was over */
    }
    size_t length = exchange_give(exchange, to, room);
    if (exchange->sample.up == upload_of(exchange)) {
        *flags |= NGHTTP2_DATA_FLAG_EOF;
    }
    return (nghttp2_ssize)length;
}

static nghttp2_session *make_session(struct http2 *http)
{
    static nghttp2_session_callbacks *callbacks;
    static nghttp2_option *options;
    nghttp2_session *session;
    if (!callbacks) {
        nghttp2_session_callbacks_new(&callbacks);
        nghttp2_session_callbacks_set_on_begin_headers_callback(callbacks, on_begin_headers);
        nghttp2_session_callbacks_set_on_header_callback(callbacks, on_header);
        nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, on_data);
        nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, on_frame);
        nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, on_close);
        nghttp2_session_callbacks_set_on_frame_send_callback(callbacks, on_sent);
        nghttp2_option_new(&options);
        nghttp2_option_set_no_closed_streams(options, 1);
    }
    if (nghttp2_session_client_new2(&session, callbacks, http, options) != 0) {
        fail(FAILED, "nghttp2 makes no connection");
    }
    return session;
}

static bool begin(struct tcp *tcp)
{
    struct http2 *http = (struct http2 *)tcp;
    const nghttp2_settings_entry settings[] = {{NGHTTP2_SETTINGS_ENABLE_PUSH, 0},
                                               {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, STREAM_WINDOW}};
    http->session = make_session(http);
    nghttp2_submit_settings(http->session, 0, settings, sizeof settings / sizeof *settings);
    nghttp2_session_set_local_window_size(http->session, 0, 0, CONNECTION_WINDOW);
    connection_ready(&tcp->base);
    return true;
}

static bool take(struct tcp *tcp, const uint8_t *bytes, size_t length)
{
    struct http2 *http = (struct http2 *)tcp;
    connection_flush_later(&tcp->base);
    if (nghttp2_session_mem_recv2(http->session, bytes, length) < 0) {
        connection_fail(&tcp->base, PROTOCOL);
    }
    return !tcp->base.dead;
}

/* Frames gather in the scratch, so that they share records. */
static bool give(struct tcp *tcp)
{
    struct http2 *http = (struct http2 *)tcp;
    uint8_t *scratch = tcp->base.load->loop.scratch;
    const uint8_t *frame;
    size_t used = 0;
    nghttp2_ssize length = 0;
    http->sending = now();
    while (tcp_backlog(tcp) < BACKLOG && (length = nghttp2_session_mem_send2(http->session, &frame)) > 0) {
        if (used + (size_t)length > INPUT) {
            if (!tcp_write(tcp, scratch, used)) {
                return false;
            }
            used = 0;
        }
        memcpy(scratch + used, frame, (size_t)length);
        used += (size_t)length;
    }
    if (length < 0 || (!nghttp2_session_want_read(http->session) && !nghttp2_session_want_write(http->session))) {
        tcp_write(tcp, scratch, used);
        connection_fail(&tcp->base, PROTOCOL);
        return false;
    }
    return !used || tcp_write(tcp, scratch, used);
}

static const char *over(struct tcp *tcp, int error)
{
    (void)tcp;
    return error ? tcp_word(error) : RESET;
}

static struct connection *http2_dial(struct seat *seat)
{
    static const struct speaker speaker = {begin, take, give, over};
    struct http2 *http = calloc(1, sizeof *http);
    tcp_dial(&http->tcp, &http2_carrier, &speaker, seat);
    return &http->tcp.base;
}

/* nghttp2 itself holds back what is more than the server allows. */
static bool has_room(struct connection *connection)
{
    return nghttp2_session_check_request_allowed(((struct http2 *)connection)->session);
}

static void ask(struct connection *connection, struct exchange *exchange)
{
    struct http2 *http = (struct http2 *)connection;
    const struct head *head = head_of(connection->load->heads, connection->load->job, exchange);
    const nghttp2_data_provider2 upload = {.read_callback = read_upload};
    exchange->stream = nghttp2_submit_request2(http->session, NULL, head->fields2, head->count,
                                               upload_of(exchange) ? &upload : NULL, exchange);
    if (exchange->stream < 0) {
        connection->retired = true; /* stream identifiers have run out */
        connection_end(connection, exchange, other_error("%s", nghttp2_strerror((int)exchange->stream)));
    }
    connection_flush_later(connection);
}

static void cancel(struct connection *connection, struct exchange *exchange)
{
    struct http2 *http = (struct http2 *)connection;
    nghttp2_session_set_stream_user_data(http->session, (int32_t)exchange->stream, NULL);
    nghttp2_submit_rst_stream(http->session, 0, (int32_t)exchange->stream, NGHTTP2_CANCEL);
    connection_flush_later(connection);
}

static void leave(struct connection *connection) { (void)connection; }

static void destroy(struct connection *connection)
{
    struct http2 *http = (struct http2 *)connection;
    nghttp2_session_del(http->session);
    tcp_release(&http->tcp);
    free(http);
}

const struct carrier http2_carrier = {http2_dial, has_room, ask, cancel, leave, destroy};
