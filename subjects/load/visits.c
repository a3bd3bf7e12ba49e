/* A resource is asked for as soon as its initiator has come whole and run. It then waits for a free place on a
 * connection of its user's to its host, the most urgent one first, and of those the one that was due first. */
#include "visits.h"

#include <stdlib.h>

#include "clock.h"
#include "load.h"
#include "workload.h"

static const char NOT_ASKED[] = "other: not asked for, because what asks for it failed";

/* A resource that has come, while it runs. */
struct running {
    struct timer timer;
    struct visitor *visitor;
    int resource;
};

/* Places on the connections to a host. */
struct places {
    struct seat **free; /* the last is taken first, so that an open connection goes before a new one */
    size_t count;
    struct queue waiting;
};

/* A user, on the visit that it makes now. */
struct visitor {
    struct timer pause; /* until the next one */
    struct visits *all;
    int made;    /* visits that are over */
    size_t left; /* resources of this one that have not ended */
    struct running *running; /* of each resource */
    struct seat *seats;
    struct places *places; /* of each host */
};

struct visits {
    struct load *load;
    const struct job *job;
    struct visitor *each;
};

static struct exchange *due(const struct visitor *visitor, int resource, int64_t start)
{
    const struct visits *all = visitor->all;
    int user = (int)(visitor - all->each);
    enum phase phase = visitor->made < all->job->warmup ? WARMUP : WARM;
    int64_t number = job_number(all->job, user, visitor->made) * (int64_t)all->job->entry_count + resource;
    return load_exchange(all->load, phase, user, number, start);
}

static struct exchange *most_urgent(const struct queue *waiting)
{
    struct exchange *found = waiting->first;
    for (struct exchange *other = found; other; other = other->next) {
        if (other->asked->urgency < found->asked->urgency) {
            found = other;
        }
    }
    return found;
}

static void deal(struct visitor *visitor)
{
    for (int host = 0; host < visitor->all->job->host_count; host++) {
        struct places *places = &visitor->places[host];
        while (places->waiting.first && places->count) {
            struct exchange *exchange = most_urgent(&places->waiting);
            queue_remove(&places->waiting, exchange);
            seat_ask(places->free[--places->count], exchange);
        }
    }
}

static void set_free(struct visitor *visitor, struct seat *seat)
{
    struct places *places = &visitor->places[seat->host];
    places->free[places->count++] = seat;
}

static void wait_for_place(struct visitor *visitor, int resource, int64_t start)
{
    struct exchange *exchange = due(visitor, resource, start);
    queue_push(&visitor->places[exchange->asked->host].waiting, exchange);
}

/* What a resource asks for. */
static void ask(struct visitor *visitor, int resource, int64_t start)
{
    const struct entry *entries = visitor->all->job->entries;
    for (int i = entries[resource].first_asked; i; i = entries[i].next_asked) {
        wait_for_place(visitor, i, start);
    }
    deal(visitor);
}

static void ran(struct timer *timer)
{
    struct running *running = (struct running *)timer;
    ask(running->visitor, running->resource, timer->at);
}

/* Nobody will ask for what a failed resource would have asked for; that asks for nothing either, when its end comes. */
static void give_up(struct visitor *visitor, int resource)
{
    const struct entry *entries = visitor->all->job->entries;
    int64_t time = now();
    for (int i = entries[resource].first_asked; i; i = entries[i].next_asked) {
        load_end(visitor->all->load, due(visitor, i, time), NOT_ASKED);
    }
}

static void begin(struct visitor *visitor)
{
    visitor->left = visitor->all->job->entry_count;
    wait_for_place(visitor, 0, now());
    deal(visitor);
}

static void rested(struct timer *timer) { begin((struct visitor *)timer); }

static void end(struct visitor *visitor)
{
    const struct job *job = visitor->all->job;
    visitor->made++;
    for (int i = 0; job->cold && i < job->host_count * job->connections; i++) {
        seat_leave(&visitor->seats[i]);
    }
    if (visitor->made == job_per_user(job)) {
        return;
    }
    if (job->pause_ns) {
        timers_set(&visitor->all->load->loop.timers, &visitor->pause, now() + job->pause_ns);
    } else {
        begin(visitor);
    }
}

void visits_next(struct visits *visits, const struct exchange *ended)
{
    struct visitor *visitor = &visits->each[ended->sample.user];
    int resource = ended->sample.resource;
    if (ended->seat) {
        set_free(visitor, ended->seat);
    }
    if (ended->sample.error) {
        give_up(visitor, resource);
    } else if (ended->asked->run_ns) {
        timers_set(&visits->load->loop.timers, &visitor->running[resource].timer,
                   ended->sample.end + ended->asked->run_ns);
    } else {
        ask(visitor, resource, ended->sample.end);
    }
    deal(visitor);
    if (--visitor->left == 0) {
        end(visitor);
    }
}

static void visitor_init(struct visitor *visitor, struct visits *all, struct seat *seats)
{
    const struct job *job = all->job;
    size_t room = (size_t)job->connections * (size_t)job->at_once;
    *visitor = (struct visitor){
        .pause = {.expired = rested},
        .all = all,
        .seats = seats,
        .running = calloc(job->entry_count, sizeof *visitor->running),
        .places = calloc((size_t)job->host_count, sizeof *visitor->places),
    };
    for (int i = 0; i < job->host_count; i++) {
        visitor->places[i].free = calloc(room, sizeof *visitor->places[i].free);
    }
    for (size_t i = 0; i < job->entry_count; i++) {
        visitor->running[i] = (struct running){{.expired = ran}, visitor, (int)i};
    }
    for (int i = job->host_count * job->connections; i-- > 0;) {
        seats[i].host = i / job->connections;
        for (int n = 0; n < job->at_once; n++) {
            set_free(visitor, &seats[i]);
        }
    }
}

struct visits *visits_new(struct load *load)
{
    struct visits *visits = calloc(1, sizeof *visits);
    const struct job *job = load->job;
    *visits = (struct visits){load, job, calloc((size_t)job->users, sizeof *visits->each)};
    for (int i = 0; i < job->users; i++) {
        visitor_init(&visits->each[i], visits, &load->seats[(int64_t)i * job->host_count * job->connections]);
    }
    return visits;
}

void visits_begin(struct visits *visits)
{
    for (int i = 0; visits->job->requests + visits->job->warmup && i < visits->job->users; i++) {
        begin(&visits->each[i]);
    }
}
