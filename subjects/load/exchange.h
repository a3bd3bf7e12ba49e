#ifndef H123_EXCHANGE_H
#define H123_EXCHANGE_H

#include "job.h"
#include "record.h"
#include "timers.h"

struct connection;
struct load;
struct queue;
struct seat;

/* A request and its answer, from when it was due to its end. */
struct exchange {
    struct sample sample;
    struct load *load;
    struct timer patience; /* until it is given up, or made again; not set if it is neither */
    const struct entry *asked;
    int64_t number;
    struct seat *seat;             /* whose connection it is for; NULL before it is chosen */
    struct queue *queue;           /* in which it waits for a connection */
    struct connection *connection; /* on which it is under way */
    int64_t stream;                /* of HTTP/2 or HTTP/3 */
    int64_t announced;             /* content-length of the answer; -1: none */
    int moves;                     /* connections that have not taken it */
    bool wrong;                    /* a byte of the body was not the block's */
    struct exchange *next, *previous;       /* of the queue, the connection, or those that have ended */
    struct exchange *younger, *older;       /* of all that are under way, in the order of their starts */
};

/* Exchanges that wait, the first one first. */
struct queue {
    struct exchange *first, *last;
};

void queue_push(struct queue *queue, struct exchange *exchange);
struct exchange *queue_pop(struct queue *queue);
void queue_remove(struct queue *queue, struct exchange *exchange);

/* The words of the contract for what ends a request. */
extern const char TIMEOUT[], RESET[], REFUSED[], TLS_FAILED[], PROTOCOL[], WRONG_BYTES[];

/* An error that has no word, kept for good. */
const char *other_error(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* It is made again: nothing that came of it counts. */
void exchange_reset(struct exchange *exchange);

/* The first byte of the answer's header is here. */
void exchange_first_byte(struct exchange *exchange);

/* A field of the answer's header that says how long its body is. False: it says nothing that can be. */
bool exchange_announce(struct exchange *exchange, const char *text, size_t length);

/* A piece of the answer's body. False: it is more than the answer can have. */
bool exchange_take(struct exchange *exchange, const uint8_t *bytes, size_t length);

/* How long its upload is. */
int64_t upload_of(const struct exchange *exchange);

/* The next piece of the upload where it lies, and how long it is; it counts as given. */
const uint8_t *exchange_part(struct exchange *exchange, size_t *length);

/* Copies as much of the upload as there is room for. */
size_t exchange_give(struct exchange *exchange, uint8_t *to, size_t room);

/* The answer is here in good order: why the request failed all the same; NULL: it did not. */
const char *exchange_judge(const struct exchange *exchange);

#endif
