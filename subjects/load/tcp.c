#include "tcp.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "load.h"
#include "stamps.h"
#include "workload.h"

static struct tcp *of_output(struct output *output)
{
    return (struct tcp *)((char *)output - offsetof(struct connection, output));
}

const char *tcp_word(int error)
{
    switch (error) {
    case ECONNREFUSED:
        return REFUSED;
    case ECONNRESET:
    case EPIPE:
        return RESET;
    case ETIMEDOUT:
        return TIMEOUT;
    default:
        return other_error("%s", strerror(error));
    }
}

static int bio_read(BIO *bio, char *to, size_t room, size_t *got)
{
    struct tcp *tcp = BIO_get_data(bio);
    BIO_clear_retry_flags(bio);
    *got = 0;
    if (tcp->drained) {
        BIO_set_retry_read(bio);
        return 0;
    }
    _Alignas(struct cmsghdr) char beside[STAMP_ROOM];
    struct iovec into = {to, room};
    struct msghdr message = {
        .msg_iov = &into, .msg_iovlen = 1, .msg_control = beside, .msg_controllen = sizeof beside};
    ssize_t length = recvmsg(tcp->base.source.descriptor, &message, 0);
    if (length < 0) {
        tcp->drained = errno == EAGAIN;
        if (tcp->drained) {
            BIO_set_retry_read(bio);
        }
        return 0;
    }
    tcp->base.load->loop.arrived = stamps_read(&message);
    /* Less than there was room for: there is no more, and asking again would be for nothing. */
    tcp->drained = (size_t)length < room && !tcp->ending;
    *got = (size_t)length;
    return length > 0;
}

static int bio_write(BIO *bio, const char *bytes, size_t length, size_t *taken)
{
    struct tcp *tcp = BIO_get_data(bio);
    BIO_clear_retry_flags(bio);
    if (tcp->length + length > tcp->room) {
        tcp->room = 2 * (tcp->length + length);
        tcp->out = realloc(tcp->out, tcp->room);
        if (!tcp->out) {
            abort();
        }
    }
    memcpy(tcp->out + tcp->length, bytes, length);
    tcp->length += length;
    *taken = length;
    return 1;
}

static long bio_control(BIO *bio, int command, long number, void *pointer)
{
    (void)bio, (void)number, (void)pointer;
    return command == BIO_CTRL_FLUSH;
}

static BIO *make_bio(struct tcp *tcp)
{
    static BIO_METHOD *method;
    if (!method) {
        method = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "turn");
        BIO_meth_set_read_ex(method, bio_read);
        BIO_meth_set_write_ex(method, bio_write);
        BIO_meth_set_ctrl(method, bio_control);
    }
    BIO *bio = BIO_new(method);
    BIO_set_data(bio, tcp);
    BIO_set_init(bio, 1);
    return bio;
}

/* Why TLS gave up: certificates, alerts, or what is no TLS. */
static const char *tls_error(const struct tcp *tcp)
{
    int reason = ERR_GET_REASON(ERR_peek_error());
    ERR_clear_error();
    if (tcp->secure && reason != SSL_R_DECRYPTION_FAILED_OR_BAD_RECORD_MAC) {
        return RESET;
    }
    return TLS_FAILED;
}

/* Carries the handshake on; false: it has failed. */
static bool shake_hands(struct tcp *tcp)
{
    struct connection *connection = &tcp->base;
    errno = 0;
    int done = SSL_do_handshake(connection->ssl), saved = errno;
    connection_flush_later(connection);
    if (done == 1) {
        tcp->secure = true;
        if (!tls_agreed(connection->ssl, connection->load->job)) {
            connection_fail(connection, PROTOCOL);
            return false;
        }
        if (!connection->seat->earns) {
            facts_add(&connection->load->facts, connection->ssl, false);
            facts_of_socket(&connection->load->facts, connection->source.descriptor);
        }
        return tcp->speaker->begin(tcp);
    }
    int error = SSL_get_error(connection->ssl, done);
    if (error == SSL_ERROR_WANT_READ || error == SSL_ERROR_WANT_WRITE) {
        return true;
    }
    connection_fail(connection, error == SSL_ERROR_SYSCALL || (error == SSL_ERROR_SSL && saved)
                                    ? tcp_word(saved ? saved : ECONNRESET) : tls_error(tcp));
    return false;
}

/* Takes what has come; what follows is the next turn's. */
static void read_records(struct tcp *tcp)
{
    struct connection *connection = &tcp->base;
    uint8_t *input = connection->load->loop.input;
    size_t length;
    for (;;) {
        errno = 0;
        ERR_clear_error();
        int done = SSL_read_ex(connection->ssl, input, INPUT, &length);
        if (done == 1) {
            if (!tcp->speaker->take(tcp, input, length)) {
                return;
            }
            continue;
        }
        int error = SSL_get_error(connection->ssl, 0), saved = errno;
        if (error == SSL_ERROR_WANT_READ) {
            return;
        }
        if (error == SSL_ERROR_SSL && ERR_GET_REASON(ERR_peek_error()) != SSL_R_UNEXPECTED_EOF_WHILE_READING) {
            connection_fail(connection, tls_error(tcp));
        } else {
            connection_fail(connection, tcp->speaker->over(tcp, saved != EAGAIN ? saved : 0));
        }
        return;
    }
}

static void on_ready(struct source *source, uint32_t events)
{
    struct tcp *tcp = (struct tcp *)source;
    struct connection *connection = &tcp->base;
    if (connection->dead) {
        return;
    }
    if (!tcp->connected) {
        int error = 0;
        socklen_t length = sizeof error;
        getsockopt(source->descriptor, SOL_SOCKET, SO_ERROR, &error, &length);
        if (error) {
            connection_fail(connection, tcp_word(error));
            return;
        }
        tcp->connected = events & EPOLLOUT;
        if (!tcp->connected) {
            return;
        }
    }
    tcp->ending |= (events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR)) != 0;
    if (events & (EPOLLIN | EPOLLRDHUP | EPOLLHUP | EPOLLERR)) {
        tcp->drained = false;
    }
    if (events & EPOLLOUT) {
        connection_flush_later(connection);
    }
    if (tcp->secure || (shake_hands(tcp) && tcp->secure)) {
        read_records(tcp);
    }
}

/* Gives the kernel what there is; false where it takes no more, or the connection has failed. */
static bool send_out(struct tcp *tcp)
{
    while (tcp->from < tcp->length) {
        ssize_t sent = send(tcp->base.source.descriptor, tcp->out + tcp->from, tcp->length - tcp->from, MSG_NOSIGNAL);
        if (sent < 0) {
            /* In progress: its first packet is under way, without what there is to send. */
            if (errno != EAGAIN && errno != EINPROGRESS && !tcp->ending) {
                connection_fail(&tcp->base, tcp->speaker->over(tcp, errno));
            }
            return false;
        }
        tcp->from += (size_t)sent;
    }
    tcp->from = tcp->length = 0;
    return true;
}

static void flush(struct output *output)
{
    struct tcp *tcp = of_output(output);
    bool more = true;
    while (more && !tcp->base.dead && tcp->connected) {
        if (tcp->secure && !tcp->speaker->give(tcp)) {
            return;
        }
        more = tcp->length > 0 && send_out(tcp);
    }
}

void tcp_dial(struct tcp *tcp, const struct carrier *carrier, const struct speaker *speaker, struct seat *seat)
{
    struct connection *connection = &tcp->base;
    struct load *load = seat->load;
    const struct sockaddr *server = (const struct sockaddr *)&load->server;
    const int yes = 1;
    connection_init(connection, carrier, seat);
    tcp->speaker = speaker;
    connection->output.flush = flush;
    connection->source.ready = on_ready;
    int descriptor = socket(server->sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (descriptor < 0) {
        fail(FAILED, "cannot make a socket: %s", strerror(errno));
    }
    connection->source.descriptor = descriptor;
    setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    if (load->job->sessions == FAST_OPEN) { /* it is dialled when there is something to send */
        setsockopt(descriptor, IPPROTO_TCP, TCP_FASTOPEN_CONNECT, &yes, sizeof yes);
    }
    stamps_ask(descriptor);
    connection->ssl = tls_new(load->tls, load->job->hosts[seat->host], &load->memory);
    /* One read for a record. More at once would save little, and cost 1000 connections 64 MB and the processor's cache. */
    SSL_set_read_ahead(connection->ssl, 1);
    BIO *bio = make_bio(tcp);
    SSL_set_bio(connection->ssl, bio, bio);
    loop_watch(&load->loop, &connection->source, EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET);
    if (connect(descriptor, server, load->server_length) != 0 && errno != EINPROGRESS) {
        connection_fail(connection, tcp_word(errno));
    }
}

bool tcp_write(struct tcp *tcp, const void *bytes, size_t length)
{
    const uint8_t *at = bytes;
    while (length > 0) {
        size_t taken;
        if (SSL_write_ex(tcp->base.ssl, at, length, &taken) != 1) {
            connection_fail(&tcp->base, tls_error(tcp));
            return false;
        }
        at += taken;
        length -= taken;
    }
    return true;
}

void tcp_release(struct tcp *tcp)
{
    SSL_free(tcp->base.ssl);
    if (tcp->base.source.descriptor >= 0) {
        close(tcp->base.source.descriptor);
    }
    free(tcp->out);
}
