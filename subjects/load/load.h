#ifndef H123_LOAD_H
#define H123_LOAD_H

#include <sys/socket.h>

#include "connection.h"
#include "facts.h"
#include "head.h"
#include "job.h"
#include "loop.h"
#include "record.h"
#include "seat.h"
#include "tls.h"

struct users;

/* A workload that is being carried out, in one thread. */
struct load {
    struct loop loop;
    const struct job *job;
    const struct carrier *carrier;
    const struct sending *sending;
    SSL_CTX *tls;
    struct sockaddr_storage server;
    socklen_t server_length;
    struct head *heads; /* of each of the job's entries */
    struct memory memory;
    struct facts facts;
    struct record *record;
    struct seat *seats;
    struct seat *to_look_at;          /* those where something has changed in this turn */
    struct exchange *oldest, *newest; /* under way, in the order of their starts */
    struct timer deadline;            /* of the oldest, or of one that has ended since */
    struct queue ended;               /* whose end has not been looked at */
    struct queue failed;              /* the same of those that are made again later */
    struct exchange *spare;
    struct connection *dead;
    int connections; /* so far */
    int64_t moves;   /* how often a request was made again because the server had not taken it */
    int64_t left;    /* requests that have no row yet */
    struct users *users;
};

/* How the client is to send: as its command line says. */
struct sending {
    const char *congestion;
    size_t max_datagram; /* bytes of payload of all full packets; 0: as the library has it */
};

/* Carries the workload out; what came of it is in the record and the facts. */
struct load *load_run(const struct job *job, const struct sending *sending);

/* Turns until all requests that were begun have ended, and what follows from their ends. */
void load_work(struct load *load);

/* One turn of the loop, and what follows from it. */
void load_turn(struct load *load);

/* A request that is due at `start`, and has still to be given to a seat or a queue. */
struct exchange *load_exchange(struct load *load, enum phase phase, int user, int64_t number, int64_t start);

/* A request has ended; NULL: in good order. */
void load_end(struct load *load, struct exchange *exchange, const char *error);

/* A request had no answer: it has ended, or is made again when it is time for that. */
void load_fail(struct load *load, struct exchange *exchange, const char *error);

/* The index of a connection that is ready: none of one that only earns a session. */
int load_number_connection(struct load *load, const struct seat *seat);

/* Has the seat looked at before the turn's end. */
void load_look_later(struct load *load, struct seat *seat);

/* Has the connection destroyed when the turn is over. */
void load_bury(struct load *load, struct connection *connection);

#endif
