#include "seat.h"

#include <stddef.h>
#include <stdlib.h>

#include "clock.h"
#include "facts.h"

enum { STREAMS = 1000 };

static void check(CURLMcode code, const char *what)
{
    if (code != CURLM_OK) {
        fail(FAILED, "libcurl, %s: %s", what, curl_multi_strerror(code));
    }
}

/* libcurl is not to be called from its own callbacks, but for this mark on a socket that is watched. */
static int on_socket(CURL *easy, curl_socket_t socket, int wanted, void *of, void *mark)
{
    (void)easy;
    struct seat *seat = of;
    loop_watch(seat->loop, seat, socket, wanted, mark != NULL);
    seat->socket = socket;
    if (!mark && wanted != CURL_POLL_REMOVE) {
        check(curl_multi_assign(seat->multi, socket, seat), "a socket's mark");
    }
    return 0;
}

static int on_timer(CURLM *multi, long milliseconds, void *of)
{
    (void)multi;
    struct seat *seat = of;
    timers_set(&seat->loop->timers, &seat->timer, milliseconds < 0 ? NEVER : now() + milliseconds * INT64_C(1000000));
    return 0;
}

static void on_expiry(struct timer *timer)
{
    struct seat *seat = (struct seat *)((char *)timer - offsetof(struct seat, timer));
    seat_ready(seat, CURL_SOCKET_TIMEOUT, 0);
}

#define SET(option, value) check(curl_multi_setopt(seat->multi, option, value), #option)

static void open_multi(struct seat *seat)
{
    seat->multi = curl_multi_init();
    seat->fresh = true;
    seat->socket = CURL_SOCKET_BAD;
    SET(CURLMOPT_SOCKETFUNCTION, on_socket);
    SET(CURLMOPT_SOCKETDATA, seat);
    SET(CURLMOPT_TIMERFUNCTION, on_timer);
    SET(CURLMOPT_TIMERDATA, seat);
    SET(CURLMOPT_MAX_HOST_CONNECTIONS, 1L);
    SET(CURLMOPT_MAX_CONCURRENT_STREAMS, (long)STREAMS);
}

void seat_init(struct seat *seat, struct loop *loop)
{
    seat->loop = loop;
    seat->index = loop_add(loop, seat);
    seat->timer.expired = on_expiry;
    seat->last_waiting = &seat->waiting;
    open_multi(seat);
}

/* Numbers the connections of all seats in the order in which their first requests ended. */
static int index_of(struct seat *seat, const struct transfer *transfer)
{
    static int connections;
    curl_off_t number = transfer->connection;
    if (number < 0) {
        return -1;
    }
    if (number >= seat->known) {
        seat->connections = realloc(seat->connections, (size_t)(number + 1) * sizeof(int));
        while (seat->known <= number) {
            seat->connections[seat->known++] = -1;
        }
    }
    if (seat->connections[number] < 0) {
        seat->connections[number] = connections++;
        facts_of_socket(transfer->easy);
    }
    return seat->connections[number];
}

/* Gives libcurl what waits. Over HTTP/1.1 one request at a time: where many wait for one connection, its own queue costs more
 * than the requests do, and browsers, and most pools, hold them back like this. */
static void hand_over(struct seat *seat)
{
    while (seat->waiting && (seat->http > 1 || !seat->under_way)) {
        struct transfer *transfer = seat->waiting;
        seat->waiting = transfer->next;
        if (!seat->waiting) {
            seat->last_waiting = &seat->waiting;
        }
        transfer_hand_over(transfer, seat->fresh);
        seat->fresh = false;
        check(curl_multi_add_handle(seat->multi, transfer->easy), "a request");
        seat->under_way++;
    }
}

void seat_ask(struct seat *seat, struct transfer *transfer)
{
    if (!seat->multi) {
        open_multi(seat);
    }
    transfer->next = NULL;
    *seat->last_waiting = transfer;
    seat->last_waiting = &transfer->next;
    hand_over(seat);
}

/* What has become of requests since it was last asked. */
struct outcome {
    int ended, failed;
    struct transfer *first, **last;
};

/* Collects the requests that have ended. */
static void reap(struct seat *seat, struct outcome *outcome)
{
    int left;
    for (CURLMsg *message; (message = curl_multi_info_read(seat->multi, &left)); outcome->ended++) {
        struct transfer *transfer;
        outcome->failed += message->data.result != CURLE_OK;
        curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &transfer);
        transfer_ended(transfer, message->data.result);
        transfer->sample.connection = index_of(seat, transfer);
        journal_add(&transfer->sample);
        check(curl_multi_remove_handle(seat->multi, transfer->easy), "a request's end");
        transfer->next = NULL;
        *outcome->last = transfer;
        outcome->last = &transfer->next;
    }
}

static void act(struct seat *seat, curl_socket_t socket, int events, struct outcome *outcome)
{
    int running;
    check(curl_multi_socket_action(seat->multi, socket, events, &running), "work");
    reap(seat, outcome);
}

/* What fails may be the connection. libcurl closes it when all requests have left it; till then it would be given the next
 * ones, too, and they would fail as quickly. So all that are on it have to look at it before a next one is made. */
void seat_ready(struct seat *seat, curl_socket_t socket, int events)
{
    struct outcome outcome = {.last = &outcome.first};
    if (!seat->multi) {
        return; /* left since the event came */
    }
    act(seat, socket, events, &outcome);
    if (outcome.failed) {
        act(seat, seat->socket, CURL_CSELECT_ERR, &outcome);
    }
    if (outcome.ended) {
        seat->under_way -= outcome.ended;
        hand_over(seat);
        seat->ended(seat, outcome.first);
    }
}

void seat_leave(struct seat *seat)
{
    if (seat->multi) {
        check(curl_multi_cleanup(seat->multi), "the end of a connection");
        seat->multi = NULL;
        seat->known = 0;
        timers_set(&seat->loop->timers, &seat->timer, NEVER);
    }
}
