/* QUIC of ngtcp2 over a socket of its own for each connection, with the kernel's batches in both directions. */
#include "quic.h"

#include <errno.h>
#include <openssl/rand.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

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
    const ngtcp2_ccerr *said = ngtcp2_conn_get_ccerr(quic->conn);
    switch (error) {
    case NGTCP2_ERR_DRAINING: /* the server has ended it */
        if (said->type != NGTCP2_CCERR_TYPE_TRANSPORT || said->error_code <= NGTCP2_INTERNAL_ERROR) {
            return RESET;
        }
        if (said->error_code == NGTCP2_CONNECTION_REFUSED) {
            return REFUSED;
        }
        return (said->error_code & ~UINT64_C(0xff)) == NGTCP2_CRYPTO_ERROR ? TLS_FAILED : PROTOCOL;
    case NGTCP2_ERR_CRYPTO:
        return TLS_FAILED;
    case NGTCP2_ERR_IDLE_CLOSE:
    case NGTCP2_ERR_HANDSHAKE_TIMEOUT:
        return TIMEOUT;
    default:
        return PROTOCOL;
    }
}

/* Gives the connection up, telling the server why if it has not ended it. */
static void give_up(struct quic *quic, int error)
{
    const char *told = word(quic, error);
    if (error == NGTCP2_ERR_CRYPTO) {
        ngtcp2_ccerr_set_tls_alert(&quic->why, ngtcp2_conn_get_tls_alert(quic->conn), NULL, 0);
    } else if (error != NGTCP2_ERR_CALLBACK_FAILURE) {
        ngtcp2_ccerr_set_liberr(&quic->why, error, NULL, 0);
    }
    if (error != NGTCP2_ERR_DRAINING && error != NGTCP2_ERR_IDLE_CLOSE) {
        quic_close(quic);
    }
    connection_fail(&quic->base, told);
}

static void random_bytes(uint8_t *to, size_t length, const ngtcp2_rand_ctx *none)
{
    (void)none;
    if (RAND_bytes(to, (int)length) != 1) {
        abort();
    }
}

static int new_id(ngtcp2_conn *conn, ngtcp2_cid *id, ngtcp2_stateless_reset_token *token, size_t length, void *quic)
{
    (void)conn, (void)quic;
    id->datalen = length;
    random_bytes(id->data, length, NULL);
    random_bytes(token->data, sizeof token->data, NULL);
    return 0;
}

/* Keeps what the early data of later connections needs. */
static void remember(struct quic *quic)
{
    struct memory *memory = &quic->base.load->memory;
    ngtcp2_ssize length = ngtcp2_conn_encode_0rtt_transport_params(quic->conn, memory->parameters, PARAMETERS);
    memory->parameters_length = length > 0 ? (size_t)length : 0;
}

/* With early data HTTP/3 has begun before, and begins again if the server has refused that. */
static int on_complete(ngtcp2_conn *conn, void *user)
{
    struct quic *quic = user;
    struct connection *connection = &quic->base;
    bool taken = quic->early && SSL_get_early_data_status(connection->ssl) == SSL_EARLY_DATA_ACCEPTED;
    if (!tls_agreed(connection->ssl, connection->load->job)) {
        return NGTCP2_ERR_CALLBACK_FAILURE;
    }
    if (quic->early && !taken && ngtcp2_conn_tls_early_data_rejected(conn) != 0) {
        return NGTCP2_ERR_CALLBACK_FAILURE;
    }
    if (!connection->seat || !connection->seat->earns) {
        facts_add(&connection->load->facts, connection->ssl, taken);
        facts_of_sender(&connection->load->facts, connection->load->sending->congestion);
    }
    remember(quic);
    if (!quic->early) {
        connection_ready(connection);
    }
    return 0;
}

/* Keys for requests are there; the server's own streams may come from now on. */
static int on_key(ngtcp2_conn *conn, ngtcp2_encryption_level level, void *quic)
{
    (void)conn;
    return level == NGTCP2_ENCRYPTION_LEVEL_1RTT && !((struct quic *)quic)->http ? http3_begin(quic) : 0;
}

static int on_refused_early(ngtcp2_conn *conn, void *quic)
{
    (void)conn;
    return http3_again(quic);
}

static int on_data(ngtcp2_conn *conn, uint32_t flags, int64_t stream, uint64_t offset, const uint8_t *bytes,
                   size_t length, void *quic, void *none)
{
    (void)conn, (void)offset, (void)none;
    return http3_take(quic, stream, bytes, length, flags & NGTCP2_STREAM_DATA_FLAG_FIN);
}

static int on_acknowledged(ngtcp2_conn *conn, int64_t stream, uint64_t offset, uint64_t length, void *quic, void *none)
{
    (void)conn, (void)offset, (void)none;
    return http3_acknowledged(quic, stream, length);
}

static int on_closed(ngtcp2_conn *conn, uint32_t flags, int64_t stream, uint64_t code, void *quic, void *none)
{
    (void)conn, (void)none;
    return http3_closed(quic, stream, flags & NGTCP2_STREAM_CLOSE_FLAG_APP_ERROR_CODE_SET ? code : NGHTTP3_H3_NO_ERROR);
}

static int on_reset(ngtcp2_conn *conn, int64_t stream, uint64_t size, uint64_t code, void *quic, void *none)
{
    (void)conn, (void)size, (void)code, (void)none;
    return http3_stopped(quic, stream);
}

static int on_stop(ngtcp2_conn *conn, int64_t stream, uint64_t code, void *quic, void *none)
{
    (void)conn, (void)code, (void)none;
    return http3_stopped(quic, stream);
}

static int on_more_streams(ngtcp2_conn *conn, uint64_t most, void *quic)
{
    (void)conn, (void)most;
    connection_look(quic);
    return 0;
}

static int on_more_data(ngtcp2_conn *conn, int64_t stream, uint64_t most, void *quic, void *none)
{
    (void)conn, (void)most, (void)none;
    return http3_unblocked(quic, stream);
}

static int on_token(ngtcp2_conn *conn, const uint8_t *token, size_t length, void *quic)
{
    (void)conn;
    struct memory *memory = &((struct quic *)quic)->base.load->memory;
    if (length <= TOKEN) {
        memcpy(memory->token, token, length);
        memory->token_length = length;
    }
    return 0;
}

static const ngtcp2_callbacks callbacks = {
    .client_initial = ngtcp2_crypto_client_initial_cb,
    .recv_crypto_data = ngtcp2_crypto_recv_crypto_data_cb,
    .handshake_completed = on_complete,
    .encrypt = ngtcp2_crypto_encrypt_cb,
    .decrypt = ngtcp2_crypto_decrypt_cb,
    .hp_mask = ngtcp2_crypto_hp_mask_cb,
    .recv_stream_data = on_data,
    .acked_stream_data_offset = on_acknowledged,
    .stream_close = on_closed,
    .recv_retry = ngtcp2_crypto_recv_retry_cb,
    .extend_max_local_streams_bidi = on_more_streams,
    .rand = random_bytes,
    .update_key = ngtcp2_crypto_update_key_cb,
    .stream_reset = on_reset,
    .extend_max_stream_data = on_more_data,
    .recv_new_token = on_token,
    .delete_crypto_aead_ctx = ngtcp2_crypto_delete_crypto_aead_ctx_cb,
    .delete_crypto_cipher_ctx = ngtcp2_crypto_delete_crypto_cipher_ctx_cb,
    .stream_stop_sending = on_stop,
    .recv_rx_key = on_key,
    .tls_early_data_rejected = on_refused_early,
    .get_new_connection_id2 = new_id,
    .get_path_challenge_data2 = ngtcp2_crypto_get_path_challenge_data2_cb,
};

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
        ngtcp2_conn_client_new(&quic->conn, &destination, &source, &quic->path, NGTCP2_PROTO_VER_V1, &callbacks,
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
