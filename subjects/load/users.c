#include "users.h"

#include <math.h>
#include <stdlib.h>

#include "clock.h"
#include "load.h"
#include "visits.h"
#include "workload.h"

struct user {
    struct timer timer; /* at the end of a rest */
    struct users *all;
    int asked; /* requests so far */
};

struct users {
    struct load *load;
    const struct job *job;
    struct user *each;
    int cold;             /* requests so far */
    struct timer arrival; /* open loop: of the next request */
    int64_t *due;         /* open loop: of each request */
    int64_t arrived;      /* requests so far */
    struct queue waiting; /* open loop over HTTP/1.1: for any seat */
    struct seat *free, **last_free;
    struct visits *visits; /* NULL: the workload is no page */
    const char *failure;   /* of the request that earns a session */
};

/* Of a user's nth request, which has this number. */
static enum phase phase(const struct job *job, int n, int64_t number)
{
    return n < job->warmup ? WARMUP : job->abandoned && job->abandoned[number] ? LEAVING : WARM;
}

static struct seat *seat_of(const struct users *users, int64_t index)
{
    return &users->load->seats[index % users->job->connections];
}

static void ask(struct user *user, int64_t start)
{
    struct users *all = user->all;
    int index = (int)(user - all->each), n = user->asked++;
    int64_t number = job_number(all->job, index, n);
    seat_ask(seat_of(all, index), load_exchange(all->load, phase(all->job, n, number), index, number, start));
}

static void rested(struct timer *timer)
{
    struct user *user = (struct user *)timer;
    ask(user, timer->at);
}

/* A user's next request, after as long a rest as it wants. */
static void go_on(struct user *user)
{
    const struct job *job = user->all->job;
    if (user->asked == job_per_user(job)) {
        return;
    }
    int64_t number = job_number(job, (int)(user - user->all->each), user->asked), time = now();
    int64_t rest = job->entries[job_resource(job, number)].think_ns;
    if (rest) {
        timers_set(&user->all->load->loop.timers, &user->timer, time + rest);
    } else {
        ask(user, time);
    }
}

/* Each counts for the connection's first user. */
static void ask_cold(struct users *users)
{
    int index = users->cold++;
    int64_t number = job_number(users->job, users->job->users, 0) + index;
    struct exchange *exchange = load_exchange(users->load, COLD, index % users->job->users, number, now());
    seat_ask(seat_of(users, index), exchange);
}

/* When requests are due: as told, or the arrivals of a Poisson process, from the seed alone; NULL in a closed loop. */
static int64_t *schedule(const struct job *job)
{
    if (job->due || job->rate <= 0) {
        return job->due;
    }
    int64_t count = job_warm(job), *due = calloc((size_t)count + 1, sizeof *due);
    uint64_t state = job->seed;
    double seconds = 0;
    for (int64_t i = 0; i < count; i++) {
        uint64_t mixed = state += UINT64_C(0x9e3779b97f4a7c15); /* SplitMix64 */
        mixed = (mixed ^ mixed >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
        mixed = (mixed ^ mixed >> 27) * UINT64_C(0x94d049bb133111eb);
        mixed ^= mixed >> 31;
        seconds -= log(((double)(mixed >> 11) + 1) * 0x1p-53) / job->rate;
        due[i] = (int64_t)(seconds * 1e9);
    }
    return due;
}

/* Where none is told, over HTTP/1.1 a request takes a connection that is free, as from any client's pool: in turn, it could wait behind a
 * slow one while others are free. */
static bool pooled(const struct users *users)
{
    return users->due && !users->job->dealt_to && users->job->http == 1;
}

static void set_free(struct users *users, struct seat *seat)
{
    seat->next_free = NULL;
    *users->last_free = seat;
    users->last_free = &seat->next_free;
}

static void deal(struct users *users)
{
    while (users->waiting.first && users->free) {
        struct seat *seat = users->free;
        users->free = seat->next_free;
        if (!users->free) {
            users->last_free = &users->free;
        }
        seat_ask(seat, queue_pop(&users->waiting));
    }
}

/* Makes a request, on this seat unless it takes any that is free. */
static void make(struct users *users, struct exchange *exchange, struct seat *seat)
{
    if (pooled(users)) {
        queue_push(&users->waiting, exchange);
        deal(users);
    } else {
        seat_ask(seat, exchange);
    }
}

void users_rest(struct users *users, struct exchange *failed)
{
    if (pooled(users) && failed->seat) {
        set_free(users, failed->seat);
        failed->seat = NULL;
        deal(users);
    }
}

void users_again(struct users *users, struct exchange *exchange)
{
    users_rest(users, exchange);
    make(users, exchange, exchange->seat);
}

static void arrive(struct users *users, int64_t due)
{
    int64_t i = users->arrived++;
    int user = (int)(i % users->job->users), n = (int)(i / users->job->users);
    int64_t number = job_number(users->job, user, n);
    struct exchange *exchange = load_exchange(users->load, phase(users->job, n, number), user, number, due);
    make(users, exchange, seat_of(users, users->job->dealt_to ? users->job->dealt_to[i] : i));
}

/* Makes all requests that are due, whether or not earlier ones have ended. */
static void arrivals(struct timer *timer)
{
    struct users *users = (struct users *)((char *)timer - offsetof(struct users, arrival));
    int64_t all = job_warm(users->job), time = now();
    while (users->arrived < all && users->due[users->arrived] <= time) {
        arrive(users, users->due[users->arrived]);
    }
    if (users->arrived < all) {
        timers_set(&users->load->loop.timers, timer, users->due[users->arrived]);
    }
}

/* All users at once. */
static void begin_together(struct users *users)
{
    int64_t begin = now(), all = job_warm(users->job);
    if (users->due) {
        for (int64_t i = 0; i < all; i++) {
            users->due[i] += begin;
        }
        timers_set(&users->load->loop.timers, &users->arrival, all ? users->due[0] : NEVER);
        return;
    }
    for (int i = 0; i < users->job->users; i++) {
        go_on(&users->each[i]);
    }
}

struct users *users_new(struct load *load)
{
    struct users *users = calloc(1, sizeof *users);
    const struct job *job = load->job;
    users->load = load;
    users->job = job;
    users->each = calloc((size_t)job->users, sizeof *users->each);
    for (int i = 0; i < job->users; i++) {
        users->each[i] = (struct user){.timer = {.expired = rested}, .all = users};
    }
    users->last_free = &users->free;
    users->visits = job->kind == PAGE ? visits_new(load) : NULL;
    users->due = schedule(job);
    if (users->due) {
        users->arrival.expired = arrivals;
        for (int i = 0; i < job->connections; i++) {
            set_free(users, &load->seats[i]);
        }
    }
    return users;
}

static void nothing(struct timer *timer) { (void)timer; }

/* The same path by a request that moves no body, on a connection of its own. */
void users_earn(struct users *users)
{
    struct load *load = users->load;
    struct seat *seat = calloc(1, sizeof *seat);
    *seat = (struct seat){.load = load, .earns = true};
    struct exchange *exchange = load_exchange(load, EARNING, 0, 0, now());
    struct timer patience = {.expired = nothing};
    timers_set(&load->loop.timers, &patience, exchange->sample.start + users->job->timeout_ns);
    seat_ask(seat, exchange);
    load_work(load);
    if (users->failure) {
        fail(FAILED, "the connection that should earn a session failed: %s", users->failure);
    }
    while (!load->memory.session && seat->connection && patience.place) {
        load_turn(load);
    }
    if (!load->memory.session) {
        fail(FAILED, "the server gave no session ticket to the connection that should earn a session");
    }
    timers_set(&load->loop.timers, &patience, NEVER);
    seat_leave(seat);
}

void users_begin(struct users *users)
{
    if (users->visits) {
        visits_begin(users->visits);
    } else if (users->job->cold) {
        ask_cold(users);
    } else {
        begin_together(users);
    }
}

void users_next(struct users *users, struct exchange *ended)
{
    if (users->visits) {
        visits_next(users->visits, ended);
    } else if (ended->sample.phase == EARNING) {
        users->failure = ended->sample.status ? NULL : ended->sample.error;
    } else if (ended->sample.phase == COLD) {
        if (users->cold < users->job->connections) {
            ask_cold(users);
        } else {
            begin_together(users);
        }
    } else if (!users->due) {
        go_on(&users->each[ended->sample.user]);
    } else {
        users_rest(users, ended);
    }
}
