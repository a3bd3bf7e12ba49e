#ifndef H123_SEAT_H
#define H123_SEAT_H

#include "loop.h"
#include "transfer.h"

struct load;

/* A place for one connection of the workload's number: a libcurl multi handle that may have one connection at a time, and
 * replaces it when it has died. */
struct seat {
    CURLM *multi;
    struct load *load;
    struct loop *loop;
    curl_socket_t socket; /* the last one that libcurl told of */
    struct timer timer;   /* when libcurl wants to be called, whatever its sockets do */
    const struct workload *work;
    int index;
    bool *busy;             /* by user: whether a request of theirs is under way here */
    struct seat *next_free; /* of those that the requests of an open loop over HTTP/1.1 choose from */
    struct transfer *spare; /* places for requests that have none */
    struct transfer *waiting, **last_waiting; /* requests that libcurl does not have yet, the oldest first */
    int under_way;                            /* requests that it has */
    int *connections;       /* the index in samples.csv of each of the seat's connections, by libcurl's number */
    long known;             /* how many of them */
};

/* Readies a seat that has its load, its loop, its workload and its index. `places`: how many requests are expected to be
 * under way at once. */
void seat_init(struct seat *seat, int places);

/* libcurl makes it in the loop's next turn; over HTTP/1.1 as soon as those before it have ended. */
void seat_request(struct seat *seat, const char *phase, int user, int64_t start);

/* A socket of the seat's is ready for `events` (of CURL_CSELECT_IN and the like). */
void seat_ready(struct seat *seat, curl_socket_t socket, int events);

#endif
