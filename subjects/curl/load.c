/* Cold requests one connection after another, then all users at once, each seat in a thread of its own. */
#include "load.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "clock.h"
#include "seat.h"

struct load {
    const struct workload *work;
    struct seat *seats;
    seat_fill *fill;
    int per_user; /* requests of each user, cold ones apart */
    pthread_barrier_t gate;
    int64_t begin;      /* when the first thread came through the gate */
    int *turns;         /* closed loop: requests that each user has begun */
    int64_t *due;       /* open loop: when each request is due, from the beginning */
    atomic_int reserved; /* open loop over HTTP/1.1: how many requests have a seat */
};

struct thread {
    pthread_t id;
    struct load *load;
    struct seat *seat;
};

static const char *phase(const struct load *load, int turn)
{
    return turn < load->work->warmup ? "warmup" : "warm";
}

static bool nothing_more(struct seat *seat, void *nothing)
{
    (void)seat, (void)nothing;
    return false;
}

/* Each counts for the connection's first user. */
static void cold_requests(struct load *load)
{
    for (int i = 0; i < load->work->connections; i++) {
        seat_request(&load->seats[i], "cold", i % load->work->users, now());
        seat_work(&load->seats[i], nothing_more, NULL);
    }
}

/* Closed loop: each of the seat's users who has no request under way makes the next. */
static bool ask_again(struct seat *seat, void *source)
{
    struct load *load = source;
    bool more = false;
    for (int user = seat->index; user < load->work->users; user += load->work->connections) {
        if (!seat->busy[user] && load->turns[user] < load->per_user) {
            seat_request(seat, phase(load, load->turns[user]++), user, now());
        }
        more = more || load->turns[user] < load->per_user;
    }
    return more;
}

/* Open loop: makes a request if it is due, else sets the seat's alarm for it; returns whether it was made. */
static bool make_when_due(struct load *load, struct seat *seat, int number)
{
    int64_t due = load->begin + load->due[number];
    int users = load->work->users;
    if (now() < due) {
        seat_alarm(seat, due);
        return false;
    }
    seat_request(seat, phase(load, number / users), number % users, due);
    return true;
}

/* Open loop over HTTP/2 and HTTP/3: the seats take the requests in turn. */
static bool take_turns(struct seat *seat, void *source)
{
    struct load *load = source;
    int all = load->work->users * load->per_user;
    while (seat->next < all && make_when_due(load, seat, seat->next)) {
        seat->next += load->work->connections;
    }
    return seat->next < all;
}

/* Open loop over HTTP/1.1: whichever seat is free reserves the next request, as from any client's pool. */
static bool take_if_free(struct seat *seat, void *source)
{
    struct load *load = source;
    int all = load->work->users * load->per_user;
    if (seat->under_way) {
        return true;
    }
    if (seat->next < 0) {
        seat->next = atomic_fetch_add(&load->reserved, 1);
    }
    if (seat->next < all && make_when_due(load, seat, seat->next)) {
        seat->next = -1;
    }
    return seat->next < all;
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

static void *work_in_thread(void *argument)
{
    struct thread *thread = argument;
    struct load *load = thread->load;
    pthread_barrier_wait(&load->gate);
    seat_work(thread->seat, load->fill, load);
    return NULL;
}

static void together(struct load *load)
{
    int count = load->work->connections;
    struct thread *threads = calloc((size_t)count, sizeof *threads);
    pthread_barrier_init(&load->gate, NULL, (unsigned)count + 1);
    for (int i = 0; i < count; i++) {
        threads[i] = (struct thread){.load = load, .seat = &load->seats[i]};
        if (pthread_create(&threads[i].id, NULL, work_in_thread, &threads[i]) != 0) {
            fail(FAILED, "cannot start %d threads", count);
        }
    }
    load->begin = now();
    pthread_barrier_wait(&load->gate);
    for (int i = 0; i < count; i++) {
        pthread_join(threads[i].id, NULL);
    }
    free(threads);
}

void load_run(const struct workload *work)
{
    struct load load = {.work = work, .per_user = work->warmup + work->requests};
    int places = (work->users + work->connections - 1) / work->connections;
    load.seats = calloc((size_t)work->connections, sizeof *load.seats);
    for (int i = 0; i < work->connections; i++) {
        seat_init(&load.seats[i], work, i, places);
    }
    if (work->cold) {
        cold_requests(&load);
    }
    if (work->rate > 0) {
        load.due = schedule(work, work->users * load.per_user);
        load.fill = work->http == 1 ? take_if_free : take_turns;
    } else {
        load.turns = calloc((size_t)work->users, sizeof *load.turns);
        load.fill = ask_again;
    }
    for (int i = 0; i < work->connections; i++) {
        load.seats[i].next = load.fill == take_if_free ? -1 : i;
    }
    together(&load);
}
