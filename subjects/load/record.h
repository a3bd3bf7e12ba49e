#ifndef H123_RECORD_H
#define H123_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum phase { EARNING, COLD, WARMUP, WARM, LEAVING }; /* EARNING: has no row; LEAVING: warm, but to be given up */

/* One request: a row of samples.csv. Times are of the monotonic clock, 0 where unknown. */
struct sample {
    enum phase phase;
    int user, visit, resource, status; /* visit: of a page, from 0; -1 where there are none */
    int64_t start, connected, sent, first_byte, end;
    int64_t up, down;
    int protocol;      /* 1, 2 or 3; 0 without a connection */
    int connection;    /* its index; -1 without one */
    int reused;        /* whether the connection had served a request before */
    int tries;         /* how often the request was made: the last time is told of, but for `start` */
    const char *error; /* kept as it is; NULL: none */
    int64_t late;      /* ns from `start` until the loop took it up */
    int64_t held;      /* ns from when the kernel had what ended it until `end` */
};

/* What stands in place of an error of a request that was given up. */
extern const char ABANDONED[];

/* Samples that have ended, a column each, in memory until the run is over. */
struct record;

/* With room for so many: what a run will have is known before. `tries`: rows say how often their requests were made. */
struct record *record_new(size_t room, bool tries);

void record_add(struct record *record, const struct sample *sample);

/* Writes samples.csv. */
void record_write(const struct record *record, FILE *to);

/* What the client itself took of the warm requests: how late it took them up, and how long it held what ended them,
 * in ns, at the median, the 99th percentile and most. Of none all are 0. */
struct own_delay {
    struct spread {
        int64_t p50, p99, most;
    } late, held, both;
};

struct own_delay record_delay(const struct record *record);

/* Says in one line what became of the requests. */
void record_summary(const struct record *record, FILE *to);

#endif
