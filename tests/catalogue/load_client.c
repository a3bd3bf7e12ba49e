/* What test_load_client.py asks of the load client: its parts without servers. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "answer.h"
#include "block.h"
#include "timers.h"

uint8_t block[BLOCK_SIZE]; /* of zeros here */
bool block_is(const uint8_t *bytes, size_t length, uint64_t position)
{
    (void)position;
    while (length > 0 && !bytes[length - 1]) {
        length--;
    }
    return length == 0;
}

static void read_job(const char *path)
{
    struct job j = job_read(path);
    const struct entry *first = &j.entries[0];
    printf("%s|%d|%d|%d|%g|%d|%d|%" PRIu64 "|%zu|%zu|", j.hosts[0], j.http, j.users, j.connections, j.rate, j.cold,
           (int)j.sessions, j.seed, j.entry_count, j.order_count);
    printf("%s|%s|%" PRId64 "|%zu|%d|%" PRId64 "\n", first->method, first->path, first->body_bytes, first->header_count,
           first->compared, first->most);
    for (int64_t i = 0; j.due && i < job_warm(&j); i++) {
        printf("due %" PRId64 "\n", j.due[i]);
    }
    if (j.retries) {
        printf("again %d times, every %" PRId64 " ns\n", j.retries, j.retry_ns);
    }
    for (size_t i = 0; j.at_once && i < j.entry_count; i++) {
        const struct entry *e = &j.entries[i];
        printf("%s: urgency %d, runs %" PRId64 ", asks for", e->path, e->urgency, e->run_ns);
        for (int asked = e->first_asked; asked; asked = j.entries[asked].next_asked) {
            printf(" %d", asked);
        }
        printf("\n");
    }
    for (size_t i = 0; i < first->header_count; i++) {
        printf("%s: %s (%d)\n", first->headers[i].name, first->headers[i].value, first->headers[i].changes);
    }
}

/* An answer on standard input, in pieces of so many bytes. */
static void read_answer(size_t piece, const char *path)
{
    static uint8_t input[1 << 20];
    size_t length = fread(input, 1, sizeof input, stdin), at = 0;
    struct entry asked = {.method = "GET", .path = (char *)path, .most = 100000, .compared = true};
    struct exchange exchange = {.asked = &asked, .announced = -1};
    struct answer answer = {0};
    exchange.sample.phase = WARM;
    while (at < length && answer.state != WHOLE) {
        size_t part = length - at < piece ? length - at : piece;
        ssize_t taken = answer_take(&answer, &exchange, input + at, part);
        if (taken < 0) {
            printf("malformed\n");
            return;
        }
        at += (size_t)taken;
    }
    const char *error = exchange_judge(&exchange);
    const char *state = answer.state == WHOLE ? "whole" : answer.state == UNTIL_CLOSE ? "open" : "part";
    printf("%s %d %" PRId64 " %s %zu%s\n", state, exchange.sample.status, exchange.sample.down, error ? error : "good",
           length - at, answer.closes ? " closes" : "");
    answer_clear(&answer);
}

static struct timer set[64];
static void tell(struct timer *timer) { printf(" %d", (int)(timer - set)); }

/* `s INDEX AT` sets, `e NOW` expires. */
static void run_timers(void)
{
    struct timers timers = {0};
    char what;
    int index;
    int64_t at;
    while (scanf(" %c", &what) == 1) {
        if (what == 's' && scanf("%d %" SCNd64, &index, &at) == 2) {
            set[index].expired = tell;
            timers_set(&timers, &set[index], at < 0 ? NEVER : at);
        } else if (scanf("%" SCNd64, &at) == 1) {
            timers_expire(&timers, at);
            printf(" next %" PRId64 "\n", timers_next(&timers) == NEVER ? -1 : timers_next(&timers));
        }
    }
    free(timers.heap);
}

int main(int count, char **words)
{
    if (count == 2 && strcmp(words[1], "timers") == 0) {
        run_timers();
    } else if (count == 2) {
        read_job(words[1]);
    } else {
        read_answer((size_t)atoi(words[1]), words[2]);
    }
    return 0;
}
