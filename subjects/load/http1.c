/* HTTP/1.1 on TLS over TCP, one request at a time. */
#include <errno.h>
#include <linux/sockios.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include "answer.h"
#include "clock.h"
#include "load.h"
#include "tcp.h"

struct http1 {
    struct tcp tcp;
    struct answer answer;
};

enum { PART = 16384 }; /* of an upload: a full record */

static struct exchange *current(const struct tcp *tcp) { return tcp->base.exchanges.first; }

static bool begin(struct tcp *tcp)
{
    connection_ready(&tcp->base);
    return true;
}

static void end(struct http1 *http)
{
    struct connection *connection = &http->tcp.base;
    struct exchange *exchange = current(&http->tcp);
    connection->retired |= http->answer.closes || exchange->sample.up < upload_of(exchange);
    answer_clear(&http->answer);
    connection_end(connection, exchange, NULL);
}

static bool take(struct tcp *tcp, const uint8_t *bytes, size_t length)
{
    struct http1 *http = (struct http1 *)tcp;
    struct exchange *exchange = current(tcp);
    ssize_t taken = -1;
    if (exchange) {
        exchange_first_byte(exchange);
        taken = answer_take(&http->answer, exchange, bytes, length);
    }
    if (taken >= 0 && http->answer.state == WHOLE) {
        end(http);
    }
    if (taken != (ssize_t)length) { /* nobody asked for the rest */
        connection_fail(&tcp->base, PROTOCOL);
    }
    return !tcp->base.dead;
}

static bool give(struct tcp *tcp)
{
    struct exchange *exchange = current(tcp);
    while (exchange && !exchange->sample.sent && tcp_backlog(tcp) < BACKLOG) {
        size_t length = PART;
        const uint8_t *part = exchange_part(exchange, &length);
        if (length && !tcp_write(tcp, part, length)) {
            return false;
        }
        if (exchange->sample.up == upload_of(exchange)) {
            exchange->sample.sent = now();
        }
    }
    return true;
}

/* Whether the server has not read the request: not all of it has been sent, or acknowledged, or its host resets what comes
 * after the end. */
static bool is_unread(struct tcp *tcp, int error)
{
    int descriptor = tcp->base.source.descriptor, unacknowledged = 0;
    char byte;
    return error == ECONNRESET || error == EPIPE || tcp_backlog(tcp) ||
           (ioctl(descriptor, SIOCOUTQ, &unacknowledged) == 0 && unacknowledged) ||
           (recv(descriptor, &byte, 1, MSG_PEEK | MSG_DONTWAIT) < 0 && errno == ECONNRESET);
}

/* A server that closes an idle connection cannot know that a request is on its way (RFC 9112, section 9.5). The first one of
 * a connection that ends at once it did not want. */
static const char *over(struct tcp *tcp, int error)
{
    struct http1 *http = (struct http1 *)tcp;
    if (!error && current(tcp) && http->answer.state == UNTIL_CLOSE) {
        end(http);
    }
    struct exchange *exchange = current(tcp);
    if (exchange && exchange->sample.reused && !exchange->sample.first_byte && is_unread(tcp, error)) {
        connection_return(&tcp->base, exchange);
    }
    return error ? tcp_word(error) : RESET;
}

static struct connection *http1_dial(struct seat *seat)
{
    static const struct speaker speaker = {begin, take, give, over};
    struct http1 *http = calloc(1, sizeof *http);
    tcp_dial(&http->tcp, &http1_carrier, &speaker, seat);
    return &http->tcp.base;
}

static bool has_room(struct connection *connection) { return !connection->exchanges.first; }

static void ask(struct connection *connection, struct exchange *exchange)
{
    const struct head *head = head_of(connection->load->heads, connection->load->job, exchange);
    if (tcp_write((struct tcp *)connection, head->text, head->length)) {
        connection_flush_later(connection);
    }
}

/* What would still come cannot be told from an answer to the next request. */
static void cancel(struct connection *connection, struct exchange *exchange)
{
    (void)exchange;
    connection->retired = true;
}

static void leave(struct connection *connection) { (void)connection; }

static void destroy(struct connection *connection)
{
    struct http1 *http = (struct http1 *)connection;
    answer_clear(&http->answer);
    tcp_release(&http->tcp);
    free(http);
}

const struct carrier http1_carrier = {http1_dial, has_room, ask, cancel, leave, destroy};
