#include "seat.h"

#include "load.h"

void seat_ask(struct seat *seat, struct exchange *exchange)
{
    exchange->seat = seat;
    queue_push(&seat->waiting, exchange);
    load_look_later(seat->load, seat);
}

static void begin(struct connection *connection, struct exchange *exchange)
{
    struct sample *sample = &exchange->sample;
    queue_push(&connection->exchanges, exchange);
    exchange->queue = NULL; /* it waits no longer */
    exchange->connection = connection;
    sample->protocol = connection->load->job->http;
    sample->connection = connection->index;
    sample->reused = connection->requests++ > 0;
    sample->connected = sample->phase == COLD ? connection->ready : 0;
    connection->carrier->begin(connection, exchange);
}

static bool takes_more(const struct connection *connection)
{
    return connection && connection->ready && !connection->retired &&
           connection->carrier->has_room((struct connection *)connection);
}

void seat_look(struct seat *seat)
{
    if (seat->connection && seat->connection->retired && !seat->connection->exchanges.first) {
        seat_leave(seat);
    } else if (seat->connection && seat->connection->retired) {
        connection_part(seat->connection);
    }
    if (seat->waiting.first && !seat->connection) {
        struct connection *dialled = seat->load->carrier->dial(seat);
        seat->connection = dialled->dead ? NULL : dialled;
    }
    while (seat->waiting.first && takes_more(seat->connection)) {
        begin(seat->connection, queue_pop(&seat->waiting));
    }
}

void seat_give_up(struct seat *seat)
{
    if (!seat->waiting.first && seat->connection && !seat->connection->ready) {
        seat_leave(seat);
    }
}

void seat_fail(struct seat *seat, const char *error)
{
    struct exchange *exchange;
    while ((exchange = queue_pop(&seat->waiting))) {
        load_fail(seat->load, exchange, error);
    }
}

void seat_leave(struct seat *seat)
{
    struct connection *connection = seat->connection;
    if (connection) {
        seat->connection = NULL;
        connection->seat = NULL;
        connection->carrier->close(connection);
        load_bury(seat->load, connection);
    }
}
