#include "load.h"

#include <arpa/inet.h>
#include <stdlib.h>

#include "clock.h"
#include "users.h"
#include "workload.h"

static struct load *of_deadline(struct timer *timer)
{
    return (struct load *)((char *)timer - offsetof(struct load, deadline));
}

static struct exchange *of_patience(struct timer *timer)
{
    return (struct exchange *)((char *)timer - offsetof(struct exchange, patience));
}

/* Gives a request up, wherever it is. */
static void withdraw(struct exchange *exchange)
{
    if (exchange->connection) {
        connection_cancel(exchange->connection, exchange);
    } else if (exchange->queue) {
        queue_remove(exchange->queue, exchange);
    }
    if (exchange->seat) {
        seat_give_up(exchange->seat);
    }
}

/* Ends a request whose time is over, for this reason. */
static void give_up(struct exchange *exchange, const char *why)
{
    withdraw(exchange);
    load_end(exchange->load, exchange, why);
}

/* Its user leaves. */
static void on_leaving(struct timer *timer) { give_up(of_patience(timer), ABANDONED); }

/* Until it is made again, counted from when it was due, so that no lateness adds up. */
static void set_patience(struct exchange *exchange)
{
    const struct job *job = exchange->load->job;
    const struct sample *sample = &exchange->sample;
    if (sample->tries <= job->retries) {
        timers_set(&exchange->load->loop.timers, &exchange->patience, sample->start + sample->tries * job->retry_ns);
    }
}

/* It has no answer by now, and is made again. */
static void on_retry(struct timer *timer)
{
    struct exchange *exchange = of_patience(timer);
    withdraw(exchange);
    exchange_reset(exchange);
    exchange->sample.tries++;
    set_patience(exchange);
    users_again(exchange->load->users, exchange);
}

struct exchange *load_exchange(struct load *load, enum phase phase, int user, int64_t number, int64_t start)
{
    struct exchange *exchange = load->spare;
    if (exchange) {
        load->spare = exchange->next;
    } else if (!(exchange = malloc(sizeof *exchange))) {
        abort();
    }
    int resource = phase > COLD ? job_resource(load->job, number) : 0;
    *exchange = (struct exchange){
        .sample = {.phase = phase, .user = user, .resource = resource, .start = start, .connection = -1, .tries = 1,
                   .visit = phase > COLD ? job_visit(load->job, number) : -1, .late = now() - start},
        .load = load,
        .patience = {.expired = phase == LEAVING ? on_leaving : on_retry},
        .asked = &load->job->entries[resource],
        .number = number,
        .announced = -1,
        .older = load->newest,
    };
    *(load->newest ? &load->newest->younger : &load->oldest) = exchange;
    load->newest = exchange;
    if (phase == LEAVING) {
        timers_set(&load->loop.timers, &exchange->patience, start + load->job->abandon_ns);
    } else if (phase > COLD) {
        set_patience(exchange);
    }
    if (!load->deadline.place) {
        timers_set(&load->loop.timers, &load->deadline, start + load->job->timeout_ns);
    }
    return exchange;
}

void load_end(struct load *load, struct exchange *exchange, const char *error)
{
    struct sample *sample = &exchange->sample;
    sample->end = now();
    sample->held = load->loop.arrived ? sample->end - load->loop.arrived : 0;
    sample->error = error;
    timers_set(&load->loop.timers, &exchange->patience, NEVER);
    *(exchange->older ? &exchange->older->younger : &load->oldest) = exchange->younger;
    *(exchange->younger ? &exchange->younger->older : &load->newest) = exchange->older;
    queue_push(&load->ended, exchange);
}

void load_fail(struct load *load, struct exchange *exchange, const char *error)
{
    bool due_again = load->job->retries && exchange->patience.place;
    if (due_again && error != TLS_FAILED && error != PROTOCOL) {
        queue_push(&load->failed, exchange);
    } else {
        load_end(load, exchange, error);
    }
}

/* All have the same time, so that the oldest one's is over first. */
static void on_deadline(struct timer *timer)
{
    struct load *load = of_deadline(timer);
    int64_t time = now();
    while (load->oldest && load->oldest->sample.start + load->job->timeout_ns <= time) {
        give_up(load->oldest, TIMEOUT);
    }
    if (load->oldest) {
        timers_set(&load->loop.timers, timer, load->oldest->sample.start + load->job->timeout_ns);
    }
}

int load_number_connection(struct load *load, const struct seat *seat)
{
    return seat->earns ? -1 : load->connections++;
}

void load_look_later(struct load *load, struct seat *seat)
{
    if (!seat->to_look_at) {
        seat->to_look_at = true;
        seat->next_look = load->to_look_at;
        load->to_look_at = seat;
    }
}

void load_bury(struct load *load, struct connection *connection)
{
    if (!connection->dead) {
        connection->dead = true;
        connection->next_dead = load->dead;
        load->dead = connection;
    }
}

/* Takes account of all that has ended, and gives seats what is to be done: until nothing follows any more. */
static void settle(struct load *load)
{
    while (load->ended.first || load->failed.first || load->to_look_at) {
        struct exchange *exchange = queue_pop(&load->failed);
        if (exchange) {
            users_rest(load->users, exchange);
            continue;
        }
        if ((exchange = queue_pop(&load->ended))) {
            if (exchange->sample.phase != EARNING) {
                record_add(load->record, &exchange->sample);
            }
            load->left--;
            users_next(load->users, exchange);
            exchange->next = load->spare;
            load->spare = exchange;
            continue;
        }
        struct seat *seat = load->to_look_at;
        load->to_look_at = seat->next_look;
        seat->to_look_at = false;
        seat_look(seat);
    }
}

/* Destroys what is over, but for what is still to be flushed. */
static void bury(struct load *load)
{
    struct connection **place = &load->dead, *connection;
    while ((connection = *place)) {
        if (connection->output.asked) {
            place = &connection->next_dead;
        } else {
            *place = connection->next_dead;
            if (connection->left) {
                connection->carrier->close(connection);
            }
            connection->carrier->destroy(connection);
        }
    }
}

void load_turn(struct load *load)
{
    loop_turn(&load->loop);
    settle(load);
    bury(load);
}

void load_work(struct load *load)
{
    settle(load);
    while (load->left > 0) {
        load_turn(load);
    }
}

static void find_server(struct load *load)
{
    const char *address = load->job->address;
    struct sockaddr_in *four = (struct sockaddr_in *)&load->server;
    struct sockaddr_in6 *six = (struct sockaddr_in6 *)&load->server;
    in_port_t port = htons((uint16_t)load->job->port);
    if (inet_pton(AF_INET, address, &four->sin_addr) == 1) {
        four->sin_family = AF_INET;
        four->sin_port = port;
        load->server_length = sizeof *four;
    } else if (inet_pton(AF_INET6, address, &six->sin6_addr) == 1) {
        six->sin6_family = AF_INET6;
        six->sin6_port = port;
        load->server_length = sizeof *six;
    } else {
        fail(BAD_INPUT, "address: %s is no IP address", address);
    }
}

struct load *load_run(const struct job *job, const struct sending *sending)
{
    static const struct carrier *const carriers[] = {NULL, &http1_carrier, &http2_carrier, &http3_carrier};
    struct load *load = calloc(1, sizeof *load);
    int64_t warm = job_warm(job), cold = job_cold(job), seats = job_seats(job);
    load->job = job;
    load->sending = sending;
    load->carrier = carriers[job->http];
    load->deadline.expired = on_deadline;
    loop_init(&load->loop);
    find_server(load);
    load->tls = tls_context(job, &load->memory);
    load->heads = heads_make(job);
    load->record = record_new((size_t)(warm + cold), job->retries > 0);
    load->seats = calloc((size_t)seats, sizeof *load->seats);
    for (int64_t i = 0; i < seats; i++) {
        load->seats[i].load = load;
    }
    load->users = users_new(load);
    if (job->sessions != FULL) {
        load->left = 1;
        users_earn(load->users);
    }
    load->left = warm + cold;
    users_begin(load->users);
    load_work(load);
    for (int64_t i = 0; i < seats; i++) {
        seat_leave(&load->seats[i]);
    }
    load->facts.delay = record_delay(load->record);
    load->facts.moves = load->moves;
    return load;
}
