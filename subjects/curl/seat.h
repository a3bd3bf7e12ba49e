#ifndef H123_SEAT_H
#define H123_SEAT_H

#include "transfer.h"

/* A place for one connection of the workload's number: a libcurl multi handle that may have one connection at a time, and
 * replaces it when it has died. One thread at a time works with a seat. */
struct seat {
    CURLM *multi;
    const struct workload *work;
    int index;
    int under_way;          /* requests */
    bool *busy;             /* by user: whether a request of theirs is under way here */
    int next;               /* open loop: the number of the seat's next request */
    int alarm;              /* a timer that ends the thread's sleep; -1 before it is first set */
    struct transfer *spare; /* places for requests that have none */
    int *connections;       /* the index in samples.csv of each of the seat's connections, by libcurl's number */
    long known;             /* how many of them */
};

/* Makes the requests that are due; false when no more can come. */
typedef bool seat_fill(struct seat *seat, void *source);

/* `places`: how many requests are expected to be under way at once. */
void seat_init(struct seat *seat, const struct workload *work, int index, int places);

void seat_request(struct seat *seat, const char *phase, int user, int64_t start);

/* Works until no more requests come and all have ended. */
void seat_work(struct seat *seat, seat_fill *fill, void *source);

/* Has seat_work look again at the time `due`; poll's own timeout is of milliseconds, in which an open loop would be late. */
void seat_alarm(struct seat *seat, int64_t due);

#endif
