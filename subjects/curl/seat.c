#include "seat.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "facts.h"

enum { STREAMS = 1000, PATIENCE_MS = 1000 };

static void check(CURLMcode code, const char *what)
{
    if (code != CURLM_OK) {
        fail(FAILED, "libcurl, %s: %s", what, curl_multi_strerror(code));
    }
}

static void give_back(struct seat *seat, struct transfer *transfer)
{
    transfer->next = seat->spare;
    seat->spare = transfer;
}

void seat_init(struct seat *seat, const struct workload *work, int index, int places)
{
    *seat = (struct seat){.multi = curl_multi_init(), .work = work, .index = index, .alarm = -1};
    seat->busy = calloc((size_t)work->users, sizeof *seat->busy);
    check(curl_multi_setopt(seat->multi, CURLMOPT_MAX_HOST_CONNECTIONS, 1L), "one connection");
    check(curl_multi_setopt(seat->multi, CURLMOPT_MAX_CONCURRENT_STREAMS, (long)STREAMS), "streams");
    while (places-- > 0) {
        give_back(seat, transfer_new(work));
    }
}

/* Numbers the connections of all seats in the order in which their first requests ended. */
static int index_of(struct seat *seat, const struct transfer *transfer)
{
    static atomic_int connections;
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

void seat_request(struct seat *seat, const char *phase, int user, int64_t start)
{
    struct transfer *transfer = seat->spare;
    if (transfer) {
        seat->spare = transfer->next;
    } else {
        transfer = transfer_new(seat->work);
    }
    transfer_ready(transfer, phase, user, start);
    check(curl_multi_add_handle(seat->multi, transfer->easy), "a request");
    seat->busy[user] = true;
    seat->under_way++;
}

/* Collects the requests that have ended; returns how many. */
static int reap(struct seat *seat)
{
    int ended = 0, left;
    for (CURLMsg *message; (message = curl_multi_info_read(seat->multi, &left)); ended++) {
        struct transfer *transfer;
        curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &transfer);
        transfer_ended(transfer, message->data.result);
        transfer->sample.connection = index_of(seat, transfer);
        journal_add(&transfer->sample);
        check(curl_multi_remove_handle(seat->multi, transfer->easy), "a request's end");
        seat->busy[transfer->sample.user] = false;
        give_back(seat, transfer);
        seat->under_way--;
    }
    return ended;
}

/* An alarm that has gone off ends every sleep until it is read. */
static void quieten(struct seat *seat)
{
    uint64_t times;
    if (read(seat->alarm, &times, sizeof times) < 0 && errno != EAGAIN) {
        fail(FAILED, "cannot read a timer");
    }
}

void seat_work(struct seat *seat, seat_fill *fill, void *source)
{
    struct curl_waitfd alarm = {.events = CURL_WAIT_POLLIN};
    while (fill(seat, source) || seat->under_way) {
        int running;
        check(curl_multi_perform(seat->multi, &running), "work");
        if (!reap(seat)) {
            alarm.fd = seat->alarm;
            alarm.revents = 0;
            check(curl_multi_poll(seat->multi, &alarm, seat->alarm >= 0, PATIENCE_MS, NULL), "waiting");
            if (alarm.revents) {
                quieten(seat);
            }
        }
    }
}

void seat_alarm(struct seat *seat, int64_t due)
{
    if (seat->alarm < 0) {
        seat->alarm = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
    }
    struct itimerspec at = {.it_value = {due / 1000000000, due % 1000000000}};
    if (timerfd_settime(seat->alarm, TFD_TIMER_ABSTIME, &at, NULL) != 0) {
        fail(FAILED, "cannot set a timer");
    }
}
