#ifndef H123_CLOCK_H
#define H123_CLOCK_H

#include <stdint.h>
#include <time.h>

static inline int64_t clock_read(clockid_t clock)
{
    struct timespec at;
    clock_gettime(clock, &at);
    return at.tv_sec * INT64_C(1000000000) + at.tv_nsec;
}

/* Time of the monotonic clock, in nanoseconds. */
static inline int64_t now(void) { return clock_read(CLOCK_MONOTONIC); }

/* Time of day, in nanoseconds since 1970. */
static inline int64_t time_of_day(void) { return clock_read(CLOCK_REALTIME); }

#endif
