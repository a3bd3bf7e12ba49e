#ifndef H123_SEAT_H
#define H123_SEAT_H

#include "connection.h"

/* A place for one connection of the workload's number: empty at first, and after its connection has died. */
struct seat {
    struct load *load;
    int host; /* that it is to: an index of the job's hosts */
    struct connection *connection;
    struct queue waiting;
    bool earns;             /* its connection is for a session alone, and nothing tells of it */
    bool to_look_at;        /* something has changed in this turn */
    struct seat *next_look; /* of those */
    struct seat *next_free; /* of those that the requests of an open loop over HTTP/1.1 choose from */
};

/* Makes a request on the seat's connection, dialling if need be. */
void seat_ask(struct seat *seat, struct exchange *exchange);

/* Gives waiting requests to the connection, as many as it takes. */
void seat_look(struct seat *seat);

/* Nobody waits any longer, perhaps, for a handshake that is under way. */
void seat_give_up(struct seat *seat);

/* All that wait have failed. */
void seat_fail(struct seat *seat, const char *error);

/* Leaves the connection, in good order. */
void seat_leave(struct seat *seat);

#endif
