#include "connection.h"

#include "clock.h"
#include "load.h"
#include "seat.h"

/* How often a request is made again that servers do not take: as if they took one for each connection. */
enum { MOST_MOVES = 100 };

void connection_init(struct connection *connection, const struct carrier *carrier, struct seat *seat)
{
    connection->source.descriptor = -1;
    connection->carrier = carrier;
    connection->load = seat->load;
    connection->seat = seat;
    connection->index = -1;
}

void connection_ready(struct connection *connection)
{
    connection->ready = now();
    connection->index = load_number_connection(connection->load, connection->seat);
    connection_look(connection);
}

void connection_look(struct connection *connection)
{
    if (connection->seat) {
        load_look_later(connection->load, connection->seat);
    }
}

void connection_fail(struct connection *connection, const char *error)
{
    struct seat *seat = connection->seat;
    if (connection->dead) {
        return;
    }
    load_bury(connection->load, connection);
    connection->left = false; /* there is nobody to take leave of */
    while (connection->exchanges.first) {
        connection_end(connection, connection->exchanges.first, error);
    }
    if (seat) {
        connection->seat = NULL;
        seat->connection = NULL;
        if (!connection->ready) {
            seat_fail(seat, error);
        }
        load_look_later(connection->load, seat);
    }
}

static void release(struct connection *connection, struct exchange *exchange)
{
    queue_remove(&connection->exchanges, exchange);
    exchange->connection = NULL;
    if (connection->left && !connection->exchanges.first) {
        load_bury(connection->load, connection);
    }
    connection_look(connection);
}

void connection_part(struct connection *connection)
{
    connection->seat->connection = NULL;
    connection->seat = NULL;
    connection->left = true;
}

void connection_return(struct connection *connection, struct exchange *exchange)
{
    if (exchange->moves++ == MOST_MOVES) {
        connection_end(connection, exchange, RESET);
        return;
    }
    release(connection, exchange);
    exchange_reset(exchange);
    connection->load->moves++;
    seat_ask(exchange->seat, exchange);
}

void connection_cancel(struct connection *connection, struct exchange *exchange)
{
    connection->carrier->cancel(connection, exchange);
    release(connection, exchange);
}

void connection_end(struct connection *connection, struct exchange *exchange, const char *error)
{
    release(connection, exchange);
    if (error) {
        load_fail(connection->load, exchange, error);
    } else {
        load_end(connection->load, exchange, exchange_judge(exchange));
    }
}

void connection_flush_later(struct connection *connection)
{
    loop_flush_later(&connection->load->loop, &connection->output);
}
