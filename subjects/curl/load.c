/* Cold requests one connection after another, then all users at once. */
#include "load.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>

#include "clock.h"
#include "loop.h"
#include "seat.h"

struct load;

/* The place of one connection of the workload's number. */
struct place {
    struct seat seat;
    int index;
    bool *busy;              /* by user: whether a request of theirs is under way here */
    struct transfer *spare;  /* places for requests that have none */
    struct place *next_free; /* of those that the requests of an open loop over HTTP/1.1 choose from */
};

/* What follows when requests of a place's have ended. */
typedef void load_fill(struct load *load, struct place *place);

struct load {
    const struct workload *work;
    struct loop loop;
    struct place *places;
    load_fill *fill;
    int per_user;         /* requests of each user, cold ones apart */
    int left;             /* requests that have not ended, of those that come together */
    int *turns;           /* closed loop: requests that each user has begun */
    int64_t begin;        /* open loop */
    int64_t *due;         /* open loop: when each request is due, from the beginning */
    int next;             /* open loop: the number of the next request */
    struct timer arrival; /* open loop: when it is due */
    struct place *free, **last_free; /* open loop over HTTP/1.1: the one that has been free for the longest time first */
};

static const char *phase(const struct load *load, int turn)
{
    return turn < load->work->warmup ? "warmup" : "warm";
}

static void nothing_more(struct load *load, struct place *place) { (void)load, (void)place; }

static void give_back(struct place *place, struct transfer *transfer)
{
    transfer->next = place->spare;
    place->spare = transfer;
}

static void request(struct load *load, struct place *place, const char *phase, int user, int64_t start)
{
    struct transfer *transfer = place->spare;
    if (transfer) {
        place->spare = transfer->next;
    } else {
        transfer = transfer_new(load->work);
    }
    transfer_ready(transfer, phase, user, start);
    place->busy[user] = true;
    seat_ask(&place->seat, transfer);
}

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
        request(load, &load->places[i], "cold", i % load->work->users, now());
        work_off(load, 1);
    }
}

/* Closed loop: each of the place's users who has no request under way makes the next. */
static void ask_again(struct load *load, struct place *place)
{
    for (int user = place->index; user < load->work->users; user += load->work->connections) {
        if (!place->busy[user] && load->turns[user] < load->per_user) {
            request(load, place, phase(load, load->turns[user]++), user, now());
        }
    }
}

/* Open loop: where the next request is made; NULL: it has to wait for one. Over HTTP/2 and HTTP/3 they take turns; over
 * HTTP/1.1 it is one that is free, as from any client's pool. */
static struct place *take_place(struct load *load)
{
    struct place *place = load->free;
    if (load->work->http > 1) {
        return &load->places[load->next % load->work->connections];
    }
    if (place && !place->next_free) {
        load->last_free = &load->free;
    }
    load->free = place ? place->next_free : NULL;
    return place;
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
        struct place *place = take_place(load);
        if (!place) {
            return;
        }
        request(load, place, phase(load, load->next / users), load->next % users, due);
    }
}

static void on_arrival(struct timer *timer) { make_due((struct load *)((char *)timer - offsetof(struct load, arrival))); }

static void set_free(struct load *load, struct place *place)
{
    place->next_free = NULL;
    *load->last_free = place;
    load->last_free = &place->next_free;
}

/* Open loop over HTTP/1.1: a request may have waited for this place. */
static void free_again(struct load *load, struct place *place)
{
    set_free(load, place);
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
        set_free(load, &load->places[i]);
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
        ask_again(load, &load->places[i]);
    }
}

static void on_ended(struct seat *seat, struct transfer *ended)
{
    struct load *load = seat->owner;
    struct place *place = (struct place *)seat;
    for (struct transfer *next; ended; ended = next) {
        next = ended->next;
        place->busy[ended->sample.user] = false;
        give_back(place, ended);
        load->left--;
    }
    load->fill(load, place);
}

/* `most`: how many requests are expected to be under way there at once. */
static void place_init(struct load *load, int index, int most)
{
    struct place *place = &load->places[index];
    *place = (struct place){
        .seat = {.owner = load, .ended = on_ended, .http = load->work->http},
        .index = index,
        .busy = calloc((size_t)load->work->users, sizeof *place->busy),
    };
    seat_init(&place->seat, &load->loop);
    while (most-- > 0) {
        give_back(place, transfer_new(load->work));
    }
}

void load_run(const struct workload *work)
{
    struct load load = {.work = work, .fill = nothing_more, .per_user = work->warmup + work->requests};
    int each = (work->users + work->connections - 1) / work->connections;
    load.places = calloc((size_t)work->connections, sizeof *load.places);
    loop_init(&load.loop, work->connections);
    for (int i = 0; i < work->connections; i++) {
        place_init(&load, i, each);
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
