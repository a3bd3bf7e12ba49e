/* QUIC of ngtcp2 over a socket of its own for each connection, with the kernel's batches in both directions. */
#include "quic.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "callbacks.h"
#include "clock.h"
#include "datagrams.h"
#include "load.h"
#include "windows.h"
#include "workload.h"

enum {
    READS = 16,              /* in a turn */
    BATCH = 62000,           /* bytes that are sent at once at most */
    CONNECTION_ID = 8,
    UNI_STREAMS = 100 /* of the server's own */
};

static const ngtcp2_duration IDLE = 300 * NGTCP2_SECONDS, KEEP_ALIVE = 10 * NGTCP2_SECONDS;

static struct quic *of_output(struct output *output)
{
    return (struct quic *)((char *)output - offsetof(struct connection, output));
}

static struct quic *of_timer(struct timer *timer)
{
    return (struct quic *)((char *)timer - offsetof(struct quic, expiry));
}

static ngtcp2_conn *of_reference(ngtcp2_crypto_conn_ref *reference)
{
    return ((struct quic *)reference->user_data)->conn;
}

/* What ngtcp2's error is in the contract's words. */
static const char *word(const struct quic *quic, int error)
{
    const ngtcp2_ccerr *reason = ngtcp2_conn_get_ccerr(quic->conn);
    switch (error) {
    case NGTCP2_ERR_DRAINING: /* the server has ended it */
        if (reason->type != NGTCP2_CCERR_TYPE_TRANSPORT || reason->error_code <= NGTCP2_INTERNAL_ERROR) {
            return RESET;
        }
        if (reason->error_code == NGTCP2_CONNECTION_REFUSED) {
            return REFUSED;
        }
        return (reason->error_code & ~UINT64_C(0xff)) == NGTCP2_CRYPTO_ERROR ? TLS_FAILED : PROTOCOL;
    case NGTCP2_ERR_CRYPTO:
        return TLS_FAILED;
    case NGTCP2_ERR_IDLE_CLOSE:
    case NGTCP2_ERR_HANDSHAKE_TIMEOUT:
        return TIMEOUT;
    default:
        return PROTOCOL;
    }
}

/* Gives the connection up, and says why to a server that has not ended it. */
static void give_up(struct quic *quic, int error)
{
    const char *failure = word(quic, error);
    if (error == NGTCP2_ERR_CRYPTO) {
        ngtcp2_ccerr_set_tls_alert(&quic->why, ngtcp2_conn_get_tls_alert(quic->conn), NULL, 0);
    } else if (error != NGTCP2_ERR_CALLBACK_FAILURE) {
        ngtcp2_ccerr_set_liberr(&quic->why, error, NULL, 0);
    }
    if (error != NGTCP2_ERR_DRAINING && error != NGTCP2_ERR_IDLE_CLOSE) {
        quic_close(quic);
    }
    connection_fail(&quic->base, failure);
}

static ngtcp2_settings settings_of(const struct load *load)
{
    const char *congestion = load->sending->congestion;
    size_t datagram = load->sending->max_datagram;
    ngtcp2_settings settings;
    ngtcp2_settings_default(&settings);
    settings.initial_ts = (ngtcp2_tstamp)now();
    settings.cc_algo = strcmp(congestion, "reno") == 0  ? NGTCP2_CC_ALGO_RENO
                       : strcmp(congestion, "bbr") == 0 ? NGTCP2_CC_ALGO_BBR
                                                        : NGTCP2_CC_ALGO_CUBIC;
    settings.token = load->memory.token_length ? load->memory.token : NULL;
    settings.tokenlen = load->memory.token_length;
    if (datagram) {
        settings.max_tx_udp_payload_size = datagram;
        settings.no_tx_udp_payload_size_shaping = 1;
        settings.no_pmtud = 1;
    }
    return settings;
}

static ngtcp2_transport_params parameters(void)
{
    ngtcp2_transport_params parameters;
    ngtcp2_transport_params_default(&parameters);
    parameters.initial_max_stream_data_bidi_local = STREAM_WINDOW;
    parameters.initial_max_stream_data_uni = STREAM_WINDOW;
    parameters.initial_max_data = CONNECTION_WINDOW;
    parameters.initial_max_streams_uni = UNI_STREAMS;
    parameters.max_idle_timeout = IDLE;
    return parameters;
}

/* Early data begins with what the server allowed when it gave the session. */
static void begin_early(struct quic *quic)
{
    const struct memory *memory = &quic->base.load->memory;
    size_t length = memory->parameters_length;
    if (quic->base.load->job->sessions != EARLY || !memory->session || !length ||
        !SSL_SESSION_get_max_early_data(memory->session) ||
        ngtcp2_conn_decode_and_set_0rtt_transport_params(quic->conn, memory->parameters, length) != 0) {
        return;
    }
    SSL_set_quic_tls_early_data_enabled(quic->base.ssl, 1);
    quic->early = http3_begin(quic) == 0;
    if (quic->early) {
        connection_ready(&quic->base);
    }
}

static void begin(struct quic *quic)
{
    struct load *load = quic->base.load;
    ngtcp2_settings settings = settings_of(load);
    ngtcp2_transport_params mine = parameters();
    ngtcp2_cid source = {.datalen = CONNECTION_ID}, destination = {.datalen = 2 * CONNECTION_ID};
    random_bytes(source.data, source.datalen, NULL);
    random_bytes(destination.data, destination.datalen, NULL);
    quic->base.ssl = tls_new(load->tls, load->job->hosts[quic->base.seat->host], &load->memory);
    quic->reference = (ngtcp2_crypto_conn_ref){of_reference, quic};
    SSL_set_app_data(quic->base.ssl, &quic->reference);
    if (ngtcp2_crypto_ossl_configure_client_session(quic->base.ssl) != 0 ||
        ngtcp2_crypto_ossl_ctx_new(&quic->tls, quic->base.ssl) != 0 ||
        ngtcp2_conn_client_new(&quic->conn, &destination, &source, &quic->path, NGTCP2_PROTO_VER_V1, &quic_callbacks,
                               &settings, &mine, NULL, quic) != 0) {
        fail(FAILED, "ngtcp2 makes no connection");
    }
    ngtcp2_conn_set_tls_native_handle(quic->conn, quic->tls);
    ngtcp2_conn_set_keep_alive_timeout(quic->conn, KEEP_ALIVE);
    begin_early(quic);
}

/* Takes a read's datagrams, each of `segment` bytes but for the last; false: the connection is over. */
static bool take(struct quic *quic, const uint8_t *bytes, size_t length, size_t segment)
{
    const ngtcp2_pkt_info none = {0};
    ngtcp2_tstamp time = (ngtcp2_tstamp)now();
    while (length > 0) {
        size_t part = length < segment ? length : segment;
        int error = ngtcp2_conn_read_pkt(quic->conn, &quic->path, &none, bytes, part, time);
        if (error) {
            give_up(quic, error);
            return false;
        }
        bytes += part;
        length -= part;
    }
    return true;
}

static void receive(struct quic *quic)
{
    struct loop *loop = &quic->base.load->loop;
    size_t segment;
    for (int reads = 0; reads < READS; reads++) {
        ssize_t length = datagrams_take(quic->base.source.descriptor, loop->input, INPUT, &segment, &loop->arrived);
        if (length < 0 && errno == EAGAIN) {
            return;
        }
        if (length < 0) {
            connection_fail(&quic->base, errno == ECONNREFUSED ? REFUSED : other_error("%s", strerror(errno)));
            return;
        }
        if (!take(quic, loop->input, (size_t)length, segment)) {
            return;
        }
    }
}

static void on_ready(struct source *source, uint32_t events)
{
    struct quic *quic = (struct quic *)source;
    if (quic->base.dead) {
        return;
    }
    if (events & EPOLLOUT) {
        loop_rewatch(&quic->base.load->loop, source, EPOLLIN);
    }
    if (events & ~(uint32_t)EPOLLOUT) {
        receive(quic);
    }
    connection_flush_later(&quic->base);
}

static void on_expiry(struct timer *timer)
{
    struct quic *quic = of_timer(timer);
    if (quic->base.dead) {
        return;
    }
    int error = ngtcp2_conn_handle_expiry(quic->conn, (ngtcp2_tstamp)now());
    if (error) {
        give_up(quic, error);
    }
    connection_flush_later(&quic->base);
}

/* False: the kernel has no room for the datagrams now. Whatever else keeps it from sending them loses them, as the path
 * does with a probe that is too large for it. */
static bool send_batch(struct quic *quic, const uint8_t *bytes, size_t length, size_t segment)
{
    if (datagrams_give(quic->base.source.descriptor, bytes, length, segment)) {
        return true;
    }
    quic->refused |= errno == ECONNREFUSED;
    return errno != EAGAIN && errno != ENOBUFS;
}

static void keep_unsent(struct quic *quic, const uint8_t *bytes, size_t length, size_t segment)
{
    quic->unsent = quic->unsent ? quic->unsent : malloc(BATCH);
    memmove(quic->unsent, bytes, length);
    quic->unsent_length = length;
    quic->unsent_segment = segment;
    loop_rewatch(&quic->base.load->loop, &quic->base.source, EPOLLIN | EPOLLOUT);
}

/* What the kernel had no room for before; false: it still has none. */
static bool send_unsent(struct quic *quic)
{
    if (quic->unsent_length) {
        if (!send_batch(quic, quic->unsent, quic->unsent_length, quic->unsent_segment)) {
            loop_rewatch(&quic->base.load->loop, &quic->base.source, EPOLLIN | EPOLLOUT);
            return false;
        }
        quic->unsent_length = 0;
    }
    return true;
}

static void send_all(struct quic *quic)
{
    uint8_t *scratch = quic->base.load->loop.scratch;
    ngtcp2_tstamp time = (ngtcp2_tstamp)now();
    ngtcp2_path_storage path;
    ngtcp2_pkt_info info;
    ngtcp2_ssize length;
    size_t segment;
    ngtcp2_path_storage_zero(&path);
    while ((length = ngtcp2_conn_write_aggregate_pkt2(quic->conn, &path.path, &info, scratch, BATCH, &segment,
                                                      http3_write, 0, time)) > 0) {
        if (!send_batch(quic, scratch, (size_t)length, segment)) {
            keep_unsent(quic, scratch, (size_t)length, segment);
            break;
        }
    }
    if (length < 0) {
        give_up(quic, (int)length);
    } else if (quic->refused) {
        connection_fail(&quic->base, REFUSED);
    }
    ngtcp2_conn_update_pkt_tx_time(quic->conn, time);
}

static void flush(struct output *output)
{
    struct quic *quic = of_output(output);
    struct timers *timers = &quic->base.load->loop.timers;
    if (!quic->base.dead && send_unsent(quic)) {
        send_all(quic);
    }
    if (!quic->base.dead) {
        ngtcp2_tstamp next = ngtcp2_conn_get_expiry(quic->conn);
        timers_set(timers, &quic->expiry, next < (ngtcp2_tstamp)NEVER ? (int64_t)next : NEVER);
    }
}

static void open_socket(struct quic *quic)
{
    struct load *load = quic->base.load;
    socklen_t length = sizeof quic->local;
    int descriptor = datagrams_open((const struct sockaddr *)&load->server, load->server_length);
    if (descriptor < 0 || getsockname(descriptor, (struct sockaddr *)&quic->local, &length) != 0) {
        fail(FAILED, "cannot make a socket to %s: %s", load->job->address, strerror(errno));
    }
    quic->base.source.descriptor = descriptor;
    quic->path.local = (ngtcp2_addr){(ngtcp2_sockaddr *)&quic->local, length};
    quic->path.remote = (ngtcp2_addr){(ngtcp2_sockaddr *)&load->server, load->server_length};
}

void quic_dial(struct quic *quic, const struct carrier *carrier, struct seat *seat)
{
    struct connection *connection = &quic->base;
    connection_init(connection, carrier, seat);
    connection->source.ready = on_ready;
    connection->output.flush = flush;
    quic->expiry.expired = on_expiry;
    ngtcp2_ccerr_default(&quic->why);
    open_socket(quic);
    begin(quic);
    loop_watch(&seat->load->loop, &connection->source, EPOLLIN);
    connection_flush_later(connection);
}

void quic_close(struct quic *quic)
{
    uint8_t datagram[NGTCP2_MAX_UDP_PAYLOAD_SIZE];
    ngtcp2_pkt_info info;
    ngtcp2_ssize length = ngtcp2_conn_write_connection_close(quic->conn, NULL, &info, datagram, sizeof datagram,
                                                             &quic->why, (ngtcp2_tstamp)now());
    if (length > 0) {
        send_batch(quic, datagram, (size_t)length, (size_t)length);
    }
}

void quic_release(struct quic *quic)
{
    timers_set(&quic->base.load->loop.timers, &quic->expiry, NEVER);
    nghttp3_conn_del(quic->http);
    ngtcp2_conn_del(quic->conn);
    SSL_set_app_data(quic->base.ssl, NULL);
    SSL_free(quic->base.ssl);
    ngtcp2_crypto_ossl_ctx_del(quic->tls);
    close(quic->base.source.descriptor);
    free(quic->unsent);
}
