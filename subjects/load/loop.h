#ifndef H123_LOOP_H
#define H123_LOOP_H

#include <stdbool.h>
#include <stdint.h>

#include "timers.h"

/* A socket that the loop watches. */
struct source {
    int descriptor;
    void (*ready)(struct source *source, uint32_t events); /* of epoll */
};

/* Something with output that gathers during a turn and is sent at its end. */
struct output {
    struct output *next;
    bool asked;
    void (*flush)(struct output *output);
};

enum { INPUT = 65536 };

/* An event loop: in each turn it takes what has come, does what is due, and then sends once on each connection. */
struct loop {
    int epoll;
    struct timers timers;
    struct output *outputs;
    int64_t arrived; /* when the kernel had what is being taken; 0: nothing is */
    uint8_t input[INPUT], scratch[INPUT]; /* of whoever has the turn */
};

void loop_init(struct loop *loop);

/* `events`: as epoll has them. */
void loop_watch(struct loop *loop, struct source *source, uint32_t events);
void loop_rewatch(struct loop *loop, struct source *source, uint32_t events);

/* Has the output flushed at the end of this turn. */
void loop_flush_later(struct loop *loop, struct output *output);

/* Flushes, waits until something happens, and takes it. */
void loop_turn(struct loop *loop);

#endif
