#include "timers.h"

#include <stdlib.h>

static void put(struct timers *timers, struct timer *timer, size_t place)
{
    timers->heap[place] = timer;
    timer->place = place;
}

/* Puts a timer where it belongs, from an empty place on. */
static void sift(struct timers *timers, struct timer *timer, size_t place)
{
    while (place > 1 && timers->heap[place / 2]->at > timer->at) {
        put(timers, timers->heap[place / 2], place);
        place /= 2;
    }
    for (size_t below; (below = 2 * place) <= timers->count; place = below) {
        below += below < timers->count && timers->heap[below + 1]->at < timers->heap[below]->at;
        if (timers->heap[below]->at >= timer->at) {
            break;
        }
        put(timers, timers->heap[below], place);
    }
    put(timers, timer, place);
}

static void unset(struct timers *timers, struct timer *timer)
{
    size_t place = timer->place;
    struct timer *last = timers->heap[timers->count--];
    timer->place = 0;
    if (last != timer) {
        sift(timers, last, place);
    }
}

void timers_set(struct timers *timers, struct timer *timer, int64_t at)
{
    if (at == NEVER) {
        if (timer->place) {
            unset(timers, timer);
        }
        return;
    }
    if (timer->place && timer->at == at) {
        return;
    }
    timer->at = at;
    if (!timer->place) {
        if (++timers->count >= timers->room) {
            timers->room = timers->room ? 2 * timers->room : 64;
            timers->heap = realloc(timers->heap, timers->room * sizeof *timers->heap);
            if (!timers->heap) {
                abort();
            }
        }
        timer->place = timers->count;
    }
    sift(timers, timer, timer->place);
}

int64_t timers_next(const struct timers *timers) { return timers->count ? timers->heap[1]->at : NEVER; }

void timers_expire(struct timers *timers, int64_t now)
{
    while (timers->count && timers->heap[1]->at <= now) {
        struct timer *timer = timers->heap[1];
        unset(timers, timer);
        timer->expired(timer);
    }
}
