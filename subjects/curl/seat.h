#ifndef H123_SEAT_H
#define H123_SEAT_H

#include "loop.h"
#include "transfer.h"

/* A place for one connection at a time: a libcurl multi handle that makes one when it is needed, and replaces it when it has
 * died. */
struct seat {
    CURLM *multi; /* NULL before the first request, and after those before have left */
    bool fresh;   /* whether it has made no request yet */
    struct loop *loop;
    curl_socket_t socket; /* the last one that libcurl told of */
    struct timer timer;   /* when libcurl wants to be called, whatever its sockets do */
    int http, index;
    void *owner;
    void (*ended)(struct seat *seat, struct transfer *ended); /* for the owner: a list of requests, the first one first */
    struct transfer *waiting, **last_waiting; /* requests that libcurl does not have yet, the oldest first */
    int under_way;                            /* requests that it has */
    int *connections;       /* the index in samples.csv of each of the seat's connections, by libcurl's number */
    long known;             /* how many of them */
};

/* Takes a seat that has its owner, what it calls when requests have ended, and its version of HTTP into the loop. */
void seat_init(struct seat *seat, struct loop *loop);

/* libcurl makes a request that is ready in the loop's next turn; over HTTP/1.1 as soon as those before it have ended. */
void seat_ask(struct seat *seat, struct transfer *transfer);

/* A socket of the seat's is ready for `events` (of CURL_CSELECT_IN and the like). */
void seat_ready(struct seat *seat, curl_socket_t socket, int events);

/* Closes the seat's connection, on which no request is under way. The next request has a new one. */
void seat_leave(struct seat *seat);

#endif
