#ifndef H123_LOOP_H
#define H123_LOOP_H

#include <curl/curl.h>
#include <stdbool.h>

#include "timers.h"

struct seat;

/* An event loop for all seats: in each turn it lets libcurl take what has come, and then do what is due. */
struct loop {
    int epoll;
    struct timers timers;
    struct seat **seats;
    int count;
};

/* For so many seats, whose files the process may then open. */
void loop_init(struct loop *loop, int seats);

/* Takes a seat in; its index. */
int loop_add(struct loop *loop, struct seat *seat);

/* Watches a seat's socket, or goes on doing so, for what libcurl wants (CURL_POLL_IN and the like; CURL_POLL_REMOVE:
 * for nothing more). */
void loop_watch(struct loop *loop, const struct seat *seat, curl_socket_t socket, int wanted, bool watched);

/* Waits until something happens, and takes it. */
void loop_turn(struct loop *loop);

#endif
