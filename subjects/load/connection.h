#ifndef H123_CONNECTION_H
#define H123_CONNECTION_H

#include <openssl/ssl.h>

#include "exchange.h"
#include "loop.h"

struct load;
struct seat;

/* How a protocol does what a connection does. Nothing is sent before the turn's end. */
struct carrier {
    struct connection *(*dial)(struct seat *seat);
    bool (*has_room)(struct connection *connection); /* for one more request */
    void (*begin)(struct connection *connection, struct exchange *exchange);
    void (*cancel)(struct connection *connection, struct exchange *exchange); /* whose answer nobody wants */
    void (*close)(struct connection *connection);                             /* in good order */
    void (*destroy)(struct connection *connection);                           /* and all that it has */
};

/* What connections over any protocol have; it is the first part of each. */
struct connection {
    struct source source;
    struct output output;
    const struct carrier *carrier;
    struct load *load;
    struct seat *seat; /* NULL once it has been left */
    SSL *ssl;
    struct queue exchanges; /* under way on it */
    int64_t ready;          /* when it could take a request; 0: not yet */
    int index;              /* -1 before it is ready */
    int64_t requests;       /* begun on it so far */
    bool retired;           /* takes no further request */
    bool left;              /* its seat has another one, and it ends when its requests have ended */
    bool dead;
    struct connection *next_dead;
};

extern const struct carrier http1_carrier, http2_carrier, http3_carrier;

/* Fills in what all have in common. */
void connection_init(struct connection *connection, const struct carrier *carrier, struct seat *seat);

/* It can take requests: its handshake is complete, or early data can be sent. */
void connection_ready(struct connection *connection);

/* There is room for more requests, or it has been retired. */
void connection_look(struct connection *connection);

/* It is over: all requests on it end with the error, and if it was never ready, those that waited for it. */
void connection_fail(struct connection *connection, const char *error);

/* Takes a request off it that is given up. */
void connection_cancel(struct connection *connection, struct exchange *exchange);

/* Ends a request; with NULL its answer is here in good order. */
void connection_end(struct connection *connection, struct exchange *exchange, const char *error);

/* The server has not taken the request, which goes to the seat's next connection, or to this one again. */
void connection_return(struct connection *connection, struct exchange *exchange);

/* Leaves its seat to another connection. It ends in good order when all requests on it have ended. */
void connection_part(struct connection *connection);

/* Has its output sent at the end of this turn. */
void connection_flush_later(struct connection *connection);

#endif
