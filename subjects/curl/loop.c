#define _GNU_SOURCE
#include "loop.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/resource.h>

#include "clock.h"
#include "seat.h"

/* Open files: libcurl's own of a seat, its connection, one that is being closed, and those of the program. */
enum { EVENTS = 256, FILES_PER_SEAT = 3, FILES_BESIDES = 32 };

static void allow_files(int seats)
{
    struct rlimit files;
    rlim_t needed = (rlim_t)seats * FILES_PER_SEAT + FILES_BESIDES;
    getrlimit(RLIMIT_NOFILE, &files);
    if (files.rlim_cur >= needed) {
        return;
    }
    files.rlim_cur = needed;
    if (setrlimit(RLIMIT_NOFILE, &files) != 0) {
        fail(FAILED, "%d connections need %ju open files, and a process may have %ju (`ulimit -Hn`)", seats,
             (uintmax_t)needed, (uintmax_t)files.rlim_max);
    }
}

void loop_init(struct loop *loop, int seats)
{
    allow_files(seats);
    *loop = (struct loop){.epoll = epoll_create1(EPOLL_CLOEXEC), .seats = calloc((size_t)seats, sizeof *loop->seats)};
    if (loop->epoll < 0) {
        fail(FAILED, "cannot wait for sockets: %s", strerror(errno));
    }
    prctl(PR_SET_TIMERSLACK, 1UL); /* of 50 µs, which an open loop would be late by */
}

int loop_add(struct loop *loop, struct seat *seat)
{
    loop->seats[loop->count] = seat;
    return loop->count++;
}

/* An event names the seat and the socket. If the socket is closed by the time that the event's turn comes, libcurl does not
 * know it any more, and does nothing. */
void loop_watch(struct loop *loop, const struct seat *seat, curl_socket_t socket, int wanted, bool watched)
{
    struct epoll_event event = {.data.u64 = (uint64_t)seat->index << 32 | (uint32_t)socket};
    event.events = (wanted & CURL_POLL_IN ? EPOLLIN : 0) | (wanted & CURL_POLL_OUT ? EPOLLOUT : 0);
    int operation = wanted == CURL_POLL_REMOVE ? EPOLL_CTL_DEL : watched ? EPOLL_CTL_MOD : EPOLL_CTL_ADD;
    if (epoll_ctl(loop->epoll, operation, socket, &event) != 0) {
        fail(FAILED, "cannot watch a socket: %s", strerror(errno));
    }
}

/* Until the next timer is due, to the nanosecond. */
static int wait_for_events(struct loop *loop, struct epoll_event *events)
{
    int64_t next = timers_next(&loop->timers);
    if (next == NEVER) {
        return epoll_pwait2(loop->epoll, events, EVENTS, NULL, NULL);
    }
    int64_t left = next - now();
    left = left < 0 ? 0 : left;
    struct timespec patience = {left / 1000000000, left % 1000000000};
    return epoll_pwait2(loop->epoll, events, EVENTS, &patience, NULL);
}

static int as_libcurl_has_it(uint32_t events)
{
    return (events & EPOLLIN ? CURL_CSELECT_IN : 0) | (events & EPOLLOUT ? CURL_CSELECT_OUT : 0) |
           (events & (EPOLLERR | EPOLLHUP) ? CURL_CSELECT_ERR : 0);
}

/* What becomes due while timers expire waits for the next turn, so that no seat keeps the others from theirs. */
void loop_turn(struct loop *loop)
{
    struct epoll_event events[EVENTS];
    int count = wait_for_events(loop, events);
    if (count < 0 && errno != EINTR) {
        fail(FAILED, "cannot wait for sockets: %s", strerror(errno));
    }
    for (int i = 0; i < count; i++) {
        uint64_t source = events[i].data.u64;
        seat_ready(loop->seats[source >> 32], (curl_socket_t)(uint32_t)source, as_libcurl_has_it(events[i].events));
    }
    timers_expire(&loop->timers, now());
}
