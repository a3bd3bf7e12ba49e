/* What ngtcp2 calls when something has happened on a connection, or when it needs something. What concerns streams and
 * their bytes goes on to HTTP/3. */
#include "callbacks.h"

#include <openssl/rand.h>
#include <stdlib.h>
#include <string.h>

#include "load.h"

void random_bytes(uint8_t *to, size_t length, const ngtcp2_rand_ctx *none)
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

const ngtcp2_callbacks quic_callbacks = {
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
