#define _GNU_SOURCE
#include "loop.h"

#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>

#include "clock.h"
#include "workload.h"

enum { EVENTS = 256 };

void loop_init(struct loop *loop)
{
    loop->epoll = epoll_create1(EPOLL_CLOEXEC);
    if (loop->epoll < 0) {
        fail(FAILED, "cannot wait for sockets: %s", strerror(errno));
    }
    prctl(PR_SET_TIMERSLACK, 1UL); /* of 50 µs, which an open loop would be late by */
}

static void control(struct loop *loop, int operation, struct source *source, uint32_t events)
{
    struct epoll_event event = {.events = events, .data.ptr = source};
    if (epoll_ctl(loop->epoll, operation, source->descriptor, &event) != 0) {
        fail(FAILED, "cannot watch a socket: %s", strerror(errno));
    }
}

void loop_watch(struct loop *loop, struct source *source, uint32_t events)
{
    control(loop, EPOLL_CTL_ADD, source, events);
}

void loop_rewatch(struct loop *loop, struct source *source, uint32_t events)
{
    control(loop, EPOLL_CTL_MOD, source, events);
}

void loop_flush_later(struct loop *loop, struct output *output)
{
    if (!output->asked) {
        output->asked = true;
        output->next = loop->outputs;
        loop->outputs = output;
    }
}

static void flush(struct loop *loop)
{
    struct output *output;
    while ((output = loop->outputs)) {
        loop->outputs = output->next;
        output->asked = false;
        output->flush(output);
    }
}

/* Until the next timer is due, to the nanosecond. */
static int wait_for_events(struct loop *loop, struct epoll_event *events)
{
    int64_t next = timers_next(&loop->timers), left = 0;
    if (next == NEVER) {
        return epoll_pwait2(loop->epoll, events, EVENTS, NULL, NULL);
    }
    left = next - now();
    left = left < 0 ? 0 : left;
    struct timespec patience = {left / 1000000000, left % 1000000000};
    return epoll_pwait2(loop->epoll, events, EVENTS, &patience, NULL);
}

void loop_turn(struct loop *loop)
{
    struct epoll_event events[EVENTS];
    flush(loop);
    int count = wait_for_events(loop, events);
    if (count < 0 && errno != EINTR) {
        fail(FAILED, "cannot wait for sockets: %s", strerror(errno));
    }
    for (int i = 0; i < count; i++) {
        struct source *source = events[i].data.ptr;
        source->ready(source, events[i].events);
    }
    loop->arrived = 0;
    if (timers_next(&loop->timers) != NEVER) {
        timers_expire(&loop->timers, now());
    }
}
