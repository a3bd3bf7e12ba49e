/* A resource is asked for as soon as its initiator has come whole and run. It then waits for a free place on a connection of
 * its user's to its host, the most urgent one first, and of those the one that was due first. */
#include "visits.h"

#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "loop.h"
#include "page.h"
#include "seat.h"

static const char NOT_ASKED[] = "other: not asked for, because what asks for it failed";

/* A resource, as one visitor asks for it, visit after visit. */
struct errand {
    struct timer timer; /* while it waits: when its time is over; when it has come: when it has run */
    struct visitor *visitor;
    const struct resource *resource;
    struct transfer *transfer;
    struct errand *next; /* of those that wait */
};

/* The connections of a visitor to one host, and what waits for a place on them. */
struct host {
    struct seat *seats;
    struct seat **places; /* free ones; the last is taken first, so that an open connection goes before a new one */
    int free;
    struct errand *waiting; /* the one that was due first is the first */
};

/* A user, on the visit that it makes now. */
struct visitor {
    struct visits *all;
    int made; /* visits that are over */
    int left; /* resources of this one that have not ended */
    struct errand *errands; /* of each resource */
    struct host *hosts;
    struct timer pause; /* before the next visit */
};

struct visits {
    const struct workload *work;
    const struct page *page;
    struct loop loop;
    struct visitor *each;
    int left; /* users that have visits to make */
};

static int index_of(const struct errand *errand) { return (int)(errand - errand->visitor->errands); }

static struct host *host_of(const struct errand *errand) { return &errand->visitor->hosts[errand->resource->host]; }

static void set_timer(struct errand *errand, int64_t at, void (*expired)(struct timer *timer))
{
    errand->timer.expired = expired;
    timers_set(&errand->visitor->all->loop.timers, &errand->timer, at);
}

static void ready(struct errand *errand, int64_t start)
{
    const struct visitor *visitor = errand->visitor;
    bool warm = visitor->made >= visitor->all->work->warmup;
    transfer_ready(errand->transfer, warm ? "warm" : "warmup", (int)(visitor - visitor->all->each), start);
    errand->transfer->sample.of_page = true;
    errand->transfer->sample.visit = visitor->made;
    errand->transfer->sample.resource = index_of(errand);
}

/* Takes it from those that wait. */
static void unqueue(struct errand *errand)
{
    struct errand **link = &host_of(errand)->waiting;
    while (*link != errand) {
        link = &(*link)->next;
    }
    *link = errand->next;
    set_timer(errand, NEVER, NULL);
}

static struct errand *most_urgent(struct host *host)
{
    struct errand *found = host->waiting;
    for (struct errand *other = found; other; other = other->next) {
        if (other->resource->urgency < found->resource->urgency) {
            found = other;
        }
    }
    return found;
}

static void deal(struct host *host)
{
    while (host->waiting && host->free) {
        struct errand *errand = most_urgent(host);
        unqueue(errand);
        seat_ask(host->places[--host->free], errand->transfer);
    }
}

static void deal_all(struct visitor *visitor)
{
    for (int i = 0; i < visitor->all->page->host_count; i++) {
        deal(&visitor->hosts[i]);
    }
}

static void go_on(struct visitor *visitor);

/* Ends a request that has never been made. */
static void end_unmade(struct errand *errand, const char *why)
{
    struct sample *sample = &errand->transfer->sample;
    sample->end = now();
    strcpy(sample->error, why);
    journal_add(sample);
    errand->visitor->left--;
}

/* Nobody will ask for what a failed resource would have asked for, nor for what that would have. */
static void give_up(struct errand *errand)
{
    struct errand *all = errand->visitor->errands;
    for (int i = errand->resource->first_asked; i; i = all[i].resource->next_asked) {
        ready(&all[i], now());
        end_unmade(&all[i], NOT_ASKED);
        give_up(&all[i]);
    }
}

static void on_late(struct timer *timer)
{
    struct errand *errand = (struct errand *)timer;
    unqueue(errand);
    end_unmade(errand, "timeout");
    give_up(errand);
    go_on(errand->visitor);
}

static void queue(struct errand *errand, int64_t start)
{
    struct errand **link = &host_of(errand)->waiting;
    ready(errand, start);
    while (*link) {
        link = &(*link)->next;
    }
    *link = errand;
    errand->next = NULL;
    set_timer(errand, start + errand->visitor->all->work->timeout_ns, on_late);
}

/* Makes due what a resource asks for. */
static void ask(struct errand *errand, int64_t start)
{
    struct errand *all = errand->visitor->errands;
    for (int i = errand->resource->first_asked; i; i = all[i].resource->next_asked) {
        queue(&all[i], start);
    }
}

static void on_ran(struct timer *timer)
{
    struct errand *errand = (struct errand *)timer;
    ask(errand, timer->at);
    deal_all(errand->visitor);
}

static void come(struct errand *errand)
{
    const struct sample *sample = &errand->transfer->sample;
    errand->visitor->left--;
    if (*sample->error) {
        give_up(errand);
    } else if (errand->resource->run_ns) {
        set_timer(errand, sample->end + errand->resource->run_ns, on_ran);
    } else {
        ask(errand, sample->end);
    }
}

static void on_ended(struct seat *seat, struct transfer *ended)
{
    struct visitor *visitor = seat->owner;
    for (struct transfer *next; ended; ended = next) {
        struct errand *errand = &visitor->errands[ended->sample.resource];
        struct host *host = host_of(errand);
        next = ended->next;
        host->places[host->free++] = seat;
        come(errand);
    }
    go_on(visitor);
}

static void begin(struct visitor *visitor, int64_t start)
{
    visitor->left = visitor->all->page->resource_count;
    queue(visitor->errands, start);
    deal_all(visitor);
}

static void on_pause_over(struct timer *timer)
{
    begin((struct visitor *)((char *)timer - offsetof(struct visitor, pause)), timer->at);
}

static void leave(struct visitor *visitor)
{
    const struct visits *all = visitor->all;
    for (int i = 0; i < all->page->host_count; i++) {
        for (int n = 0; n < all->work->connections; n++) {
            seat_leave(&visitor->hosts[i].seats[n]);
        }
    }
}

/* The visit that is over is followed by the next one. */
static void end(struct visitor *visitor)
{
    struct visits *all = visitor->all;
    int64_t time = now();
    if (all->work->cold) {
        leave(visitor);
    }
    if (++visitor->made == all->work->warmup + all->work->requests) {
        all->left--;
    } else if (all->page->pause_ns) {
        timers_set(&all->loop.timers, &visitor->pause, time + all->page->pause_ns);
    } else {
        begin(visitor, now());
    }
}

/* What follows when requests have ended. */
static void go_on(struct visitor *visitor)
{
    if (visitor->left) {
        deal_all(visitor);
    } else {
        end(visitor);
    }
}

static void host_init(struct host *host, struct visitor *visitor)
{
    const struct workload *work = visitor->all->work;
    *host = (struct host){
        .seats = calloc((size_t)work->connections, sizeof *host->seats),
        .places = calloc((size_t)work->connections * (size_t)work->page->at_once, sizeof(struct seat *)),
    };
    for (int i = work->connections; i-- > 0;) {
        host->seats[i] = (struct seat){.owner = visitor, .ended = on_ended, .http = work->http};
        seat_init(&host->seats[i], &visitor->all->loop);
        for (int n = 0; n < work->page->at_once; n++) {
            host->places[host->free++] = &host->seats[i];
        }
    }
}

static void visitor_init(struct visitor *visitor, struct visits *all)
{
    const struct page *page = all->page;
    *visitor = (struct visitor){
        .all = all,
        .errands = calloc((size_t)page->resource_count, sizeof *visitor->errands),
        .hosts = calloc((size_t)page->host_count, sizeof *visitor->hosts),
        .pause = {.expired = on_pause_over},
    };
    for (int i = 0; i < page->resource_count; i++) {
        const struct resource *resource = &page->resources[i];
        visitor->errands[i] = (struct errand){
            .visitor = visitor, .resource = resource, .transfer = transfer_of(all->work, resource)};
    }
    for (int i = 0; i < page->host_count; i++) {
        host_init(&visitor->hosts[i], visitor);
    }
}

void visits_run(const struct workload *work)
{
    bool some = work->warmup + work->requests > 0;
    struct visits all = {.work = work, .page = work->page, .left = some ? work->users : 0};
    all.each = calloc((size_t)work->users, sizeof *all.each);
    loop_init(&all.loop, work->users * work->connections * work->page->host_count);
    for (int i = 0; i < work->users; i++) {
        visitor_init(&all.each[i], &all);
    }
    for (int i = 0; some && i < work->users; i++) {
        begin(&all.each[i], now());
    }
    while (all.left > 0) {
        loop_turn(&all.loop);
    }
}
