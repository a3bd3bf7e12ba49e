/* An HTTP/3 server on the QUIC of OpenSSL and the HTTP/3 of nghttp3: one thread, which serves all connections in turn. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "block.h"
#include "connection.h"
#include "options.h"
#include "workload.h"

#define SOCKET_BUFFER 7500000 /* as far as the machine allows, and as others set */
#define MOST_CONNECTIONS 4096

struct server {
    SSL *listener;
    int socket;
    struct connection *connections[MOST_CONNECTIONS];
    size_t count;
};

static volatile sig_atomic_t stopping;

static void stop(int signal)
{
    (void)signal;
    stopping = 1;
}

static int choose_protocol(SSL *quic, const unsigned char **chosen, unsigned char *length, const unsigned char *offered,
                           unsigned int offered_length, void *none)
{
    static const unsigned char h3[] = {2, 'h', '3'};
    (void)quic, (void)none;
    int found = SSL_select_next_proto((unsigned char **)chosen, length, h3, sizeof h3, offered, offered_length);
    return found == OPENSSL_NPN_NEGOTIATED ? SSL_TLSEXT_ERR_OK : SSL_TLSEXT_ERR_ALERT_FATAL;
}

static SSL_CTX *make_context(const char *certificate, const char *key)
{
    SSL_CTX *context = SSL_CTX_new(OSSL_QUIC_server_method());
    if (!context || !SSL_CTX_use_certificate_chain_file(context, certificate) ||
        !SSL_CTX_use_PrivateKey_file(context, key, SSL_FILETYPE_PEM)) {
        fail(FAILED, "cannot use the certificate %s with the key %s", certificate, key);
    }
    /* As most others choose: no post-quantum key exchange, and AES-128. */
    SSL_CTX_set1_groups_list(context, "X25519:P-256");
    SSL_CTX_set_ciphersuites(context, "TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256");
    SSL_CTX_set_options(context, SSL_OP_CIPHER_SERVER_PREFERENCE);
    SSL_CTX_set_alpn_select_cb(context, choose_protocol, NULL);
    return context;
}

static int bind_socket(const char *address, const char *port)
{
    struct sockaddr_in endpoint = {.sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(port))};
    const int room = SOCKET_BUFFER;
    int descriptor = socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (inet_pton(AF_INET, address, &endpoint.sin_addr) != 1) {
        fail(BAD_INPUT, "--address %s is no IPv4 address", address);
    }
    setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &room, sizeof room);
    setsockopt(descriptor, SOL_SOCKET, SO_SNDBUF, &room, sizeof room);
    if (descriptor < 0 || bind(descriptor, (struct sockaddr *)&endpoint, sizeof endpoint) != 0) {
        fail(FAILED, "cannot listen on %s port %s: %s", address, port, strerror(errno));
    }
    return descriptor;
}

/* Without Retry, as the other servers are. */
static void begin(struct server *server, SSL_CTX *context)
{
    server->listener = SSL_new_listener(context, SSL_LISTENER_FLAG_NO_VALIDATE);
    if (!server->listener || !SSL_set_fd(server->listener, server->socket) ||
        !SSL_set_blocking_mode(server->listener, 0) || !SSL_listen(server->listener)) {
        fail(FAILED, "OpenSSL cannot listen for QUIC connections");
    }
}

static void accept_connections(struct server *server)
{
    SSL *quic;
    while (server->count < MOST_CONNECTIONS &&
           (quic = SSL_accept_connection(server->listener, SSL_ACCEPT_CONNECTION_NO_BLOCK))) {
        struct connection *connection = connection_new(quic);
        if (connection) {
            server->connections[server->count++] = connection;
        }
    }
}

/* Whether anything was done, so that there may be more to do. */
static bool advance(struct server *server)
{
    bool busy = false;
    SSL_handle_events(server->listener);
    accept_connections(server);
    for (size_t i = 0; i < server->count;) {
        enum advance result = connection_advance(server->connections[i]);
        busy |= result == BUSY;
        if (result == OVER) {
            connection_free(server->connections[i]);
            server->connections[i] = server->connections[--server->count];
        } else {
            i++;
        }
    }
    return busy;
}

/* Waits for a packet, for room to send one, for a timer of QUIC, or for a signal; if busy only looks for a signal. */
static void wait_for_event(struct server *server, bool busy, const sigset_t *signals)
{
    struct pollfd wanted = {.fd = server->socket, .events = POLLIN};
    struct timeval after = {0};
    int forever = 0;
    if (SSL_net_write_desired(server->listener)) {
        wanted.events |= POLLOUT;
    }
    if (!busy) {
        SSL_get_event_timeout(server->listener, &after, &forever);
    }
    const struct timespec limit = {.tv_sec = after.tv_sec, .tv_nsec = after.tv_usec * 1000};
    ppoll(&wanted, 1, forever ? NULL : &limit, signals);
}

static void serve(struct server *server, const sigset_t *signals)
{
    while (!stopping) {
        bool busy = advance(server);
        wait_for_event(server, busy, signals);
    }
    for (size_t i = 0; i < server->count; i++) {
        connection_close(server->connections[i]);
    }
    SSL_handle_events(server->listener);
}

/* SIGTERM and SIGINT come through while the server waits, and only then, so that none is missed. */
static sigset_t catch_signals(void)
{
    sigset_t held, before;
    const struct sigaction action = {.sa_handler = stop};
    sigemptyset(&held);
    sigaddset(&held, SIGTERM);
    sigaddset(&held, SIGINT);
    sigprocmask(SIG_BLOCK, &held, &before);
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGINT, &action, NULL);
    return before;
}

int main(int count, char **words)
{
    static struct server server;
    const char *address = NULL, *port = NULL, *protocol = NULL, *certificate = NULL, *key = NULL;
    const struct option_value options[] = {{"--address", &address}, {"--port", &port}, {"--protocol", &protocol},
                                           {"--cert", &certificate}, {"--key", &key}, {NULL, NULL}};
    options_read(count, words, options);
    if (strcmp(protocol, "h3") != 0) {
        fail(UNSUPPORTED, "protocol %s is not supported", protocol);
    }
    sigset_t signals = catch_signals();
    block_make();
    server.socket = bind_socket(address, port);
    begin(&server, make_context(certificate, key));
    serve(&server, &signals);
    return 0;
}
