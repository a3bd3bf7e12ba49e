#ifndef H123_TIMERS_H
#define H123_TIMERS_H

#include <stddef.h>
#include <stdint.h>

/* Something that is to be done at a time of the monotonic clock. Zeroed, it is not set. */
struct timer {
    int64_t at;
    size_t place; /* in the heap, from 1; 0: not set */
    void (*expired)(struct timer *timer);
};

/* All that are set: a heap, the next one first. */
struct timers {
    struct timer **heap; /* from 1 */
    size_t count, room;
};

#define NEVER INT64_MAX

/* Sets a timer to another time; NEVER unsets it. */
void timers_set(struct timers *timers, struct timer *timer, int64_t at);

/* When the next one is due; NEVER without any. */
int64_t timers_next(const struct timers *timers);

/* Unsets and expires all that are due. */
void timers_expire(struct timers *timers, int64_t now);

#endif
