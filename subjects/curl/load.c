/* Cold requests one connection after another, then all users at once. */
#include "load.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/resource.h>

#include "clock.h"
#include "loop.h"
#include "seat.h"

/* Open files: libcurl's own of a seat, its connection, one that is being closed, and those of the program. */
enum { FILES_PER_SEAT = 3, FILES_BESIDES = 32 };

/* What follows when requests of a seat's have ended. */
typedef void load_fill(struct load *load, struct seat *seat);

struct load {
    const struct workload *work;
    struct loop loop;
    struct seat *seats;
    load_fill *fill;
    int per_user;         /* requests of each user, cold ones apart */
    int left;             /* requests that have not ended, of those that come together */
    int *turns;           /* closed loop: requests that each user has begun */
    int64_t begin;        /* open loop */
    int64_t *due;         /* open loop: when each request is due, from the beginning */
    int next;             /* open loop: the number of the next request */
    struct timer arrival; /* open loop: when it is due */
    struct seat *free, **last_free; /* open loop over HTTP/1.1: the one that has been free for the longest time first */
};

static const char *phase(const struct load *load, int turn)
{
    return turn < load->work->warmup ? "warmup" : "warm";
}

static void nothing_more(struct load *load, struct seat *seat) { (void)load, (void)seat; }

static void work_off(struct load *load, int requests)
{
    load->left += requests;
    while (load->left > 0) {
        loop_turn(&load->loop);
    }
}

/* Each counts for the connection's first user. */
static void cold_requests(struct load *load)
{
    for (int i = 0; i < load->work->connections; i++) {
        seat_request(&load->seats[i], "cold", i % load->work->users, now());
        work_off(load, 1);
    }
}

/* Closed loop: each of the seat's users who has no request under way makes the next. */
static void ask_again(struct load *load, struct seat *seat)
{
    for (int user = seat->index; user < load->work->users; user += load->work->connections) {
        if (!seat->busy[user] && load->turns[user] < load->per_user) {
            seat_request(seat, phase(load, load->turns[user]++), user, now());
        }
    }
}

/* Open loop: which seat makes the next request; NULL: it has to wait for one. Over HTTP/2 and HTTP/3 they take turns; over
 * HTTP/1.1 it is one that is free, as from any client's pool. */
static struct seat *take_seat(struct load *load)
{
    struct seat *seat = load->free;
    if (load->work->http > 1) {
        return &load->seats[load->next % load->work->connections];
    }
    if (seat && !seat->next_free) {
        load->last_free = &load->free;
    }
    load->free = seat ? seat->next_free : NULL;
    return seat;
}

/* Open loop: makes the requests that are due, and sets the alarm for the next. */
static void make_due(struct load *load)
{
    int64_t time = now();
    int users = load->work->users;
    for (; load->next < users * load->per_user; load->next++) {
        int64_t due = load->begin + load->due[load->next];
        if (due > time) {
            timers_set(&load->loop.timers, &load->arrival, due);
            return;
        }
        struct seat *seat = take_seat(load);
        if (!seat) {
            return;
        }
        seat_request(seat, phase(load, load->next / users), load->next % users, due);
    }
}

static void on_arrival(struct timer *timer) { make_due((struct load *)((char *)timer - offsetof(struct load, arrival))); }

static void set_free(struct load *load, struct seat *seat)
{
    seat->next_free = NULL;
    *load->last_free = seat;
    load->last_free = &seat->next_free;
}

/* Open loop over HTTP/1.1: a request may have waited for this seat. */
static void free_again(struct load *load, struct seat *seat)
{
    set_free(load, seat);
    make_due(load);
}

/* The arrivals of a Poisson process, from the seed alone. */
static int64_t *schedule(const struct workload *work, int count)
{
    int64_t *due = calloc((size_t)count + 1, sizeof *due);
    uint64_t state = work->seed;
    double seconds = 0;
    for (int i = 0; i < count; i++) {
        uint64_t mixed = state += UINT64_C(0x9e3779b97f4a7c15); /* SplitMix64 */
        mixed = (mixed ^ mixed >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
        mixed = (mixed ^ mixed >> 27) * UINT64_C(0x94d049bb133111eb);
        mixed ^= mixed >> 31;
        seconds -= log(((double)(mixed >> 11) + 1) * 0x1p-53) / work->rate;
        due[i] = (int64_t)(seconds * 1e9);
    }
    return due;
}

static void begin_open(struct load *load)
{
    load->due = schedule(load->work, load->work->users * load->per_user);
    load->arrival.expired = on_arrival;
    load->last_free = &load->free;
    for (int i = 0; load->work->http == 1 && i < load->work->connections; i++) {
        set_free(load, &load->seats[i]);
    }
    load->fill = load->work->http == 1 ? free_again : nothing_more;
    load->begin = now();
    make_due(load);
}

static void begin_closed(struct load *load)
{
    load->turns = calloc((size_t)load->work->users, sizeof *load->turns);
    load->fill = ask_again;
    for (int i = 0; i < load->work->connections; i++) {
        ask_again(load, &load->seats[i]);
    }
}

void load_ended(struct load *load, struct seat *seat, int requests)
{
    load->left -= requests;
    load->fill(load, seat);
}

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

void load_run(const struct workload *work)
{
    struct load load = {.work = work, .fill = nothing_more, .per_user = work->warmup + work->requests};
    int places = (work->users + work->connections - 1) / work->connections;
    allow_files(work->connections);
    load.seats = calloc((size_t)work->connections, sizeof *load.seats);
    loop_init(&load.loop, load.seats);
    for (int i = 0; i < work->connections; i++) {
        load.seats[i] = (struct seat){.load = &load, .loop = &load.loop, .work = work, .index = i};
        seat_init(&load.seats[i], places);
    }
    if (work->cold) {
        cold_requests(&load);
    }
    if (work->rate > 0) {
        begin_open(&load);
    } else {
        begin_closed(&load);
    }
    work_off(&load, work->users * load.per_user);
}
