/* h123-curl-tool: has the program curl make a workload's requests, in one run of it, and turns what it prints of each into
 * samples. When that run began and ended is told apart, so that no rate holds curl's own start. */
#define _GNU_SOURCE
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "child.h"
#include "clock.h"
#include "command.h"
#include "files.h"
#include "journal.h"
#include "noise.h"
#include "options.h"
#include "transfer.h"
#include "workload.h"

enum {
    MOST_AT_ONCE = 300, /* curl's own most for --parallel-max; more it takes for 300 */
    MOST_ON_ONE = 100,  /* libcurl's most on a connection, which the program does not change */
    NO_SUCH_OPTION = 2, /* curl's statuses where it has not begun: this, */
    NOT_BUILT_IN = 4    /* and this */
};

static const char *const protocols[] = {"", "HTTP/1.1", "HTTP/2", "HTTP/3"};

/* What is known of a run of curl. */
struct run {
    int64_t began, ended; /* of the process */
    struct sample *samples;
    int count;
};

static void check_supported(const struct workload *work)
{
    if (work->cold || work->rate > 0) {
        fail(UNSUPPORTED, "the program curl has neither cold requests nor a rate of requests");
    }
    if (work->numbered || (work->http > 1 && work->connections > 1)) {
        fail(UNSUPPORTED, "the program curl opens the connections that it needs, and no number of them can be asked for");
    }
    int most = work->http == 1 ? MOST_AT_ONCE : MOST_ON_ONE;
    if (work->users > most) {
        fail(UNSUPPORTED, "curl has at most %d requests at once over %s%s, not %d: have fewer users", most,
             protocols[work->http], work->http == 1 ? "" : " on a connection", work->users);
    }
    if (strpbrk(work->path, "[]{}#")) {
        fail(UNSUPPORTED, "curl takes the brackets in the path %s for a range", work->path);
    }
}

/* The body of an upload as a file without a name, so that nothing of it is left whatever ends this program; curl opens it by
 * the descriptor that it has from here. */
static int make_body(int64_t bytes)
{
    int body = memfd_create("body", 0);
    for (int64_t left = bytes; left > 0;) {
        ssize_t written = body < 0 ? -1 : write(body, noise(), (size_t)(left < NOISE ? left : NOISE));
        if (written < 0) {
            fail(FAILED, "cannot hold a body of %" PRId64 " bytes in memory: %s", bytes, strerror(errno));
        }
        left -= written;
    }
    return body;
}

/* Each line as it comes: its transfer has just ended. */
static void collect(struct run *run, FILE *output, int requests)
{
    char *line = NULL;
    size_t room = 0;
    while (getline(&line, &room, output) > 0) {
        if (run->count < requests && transfer_read(line, now(), &run->samples[run->count])) {
            run->count++;
        }
    }
    free(line);
}

/* Keeps the earliest starts, in order. */
static void keep_earliest(int64_t *starts, int *known, int most, int64_t start)
{
    int place = *known < most ? (*known)++ : most;
    for (; place > 0 && starts[place - 1] > start; place--) {
        starts[place] = starts[place - 1];
    }
    starts[place] = start;
}

/* A line is read some time after it was printed, while curl goes on. But a transfer had ended before the one began that took
 * its place: of those that ended later, all but `at_once` - 1 began later. So from the last one back, none keeps a time that
 * is too late for that. */
static void correct_lateness(struct run *run, int at_once)
{
    int64_t *starts = calloc((size_t)at_once + 1, sizeof *starts); /* of those that ended later; one place is to spare */
    int known = 0;
    for (struct sample *row = run->samples + run->count - 1; row >= run->samples; row--) {
        if (known == at_once && row->end > starts[at_once - 1]) {
            transfer_set_back(row, row->end - starts[at_once - 1]);
        }
        keep_earliest(starts, &known, at_once, row->start);
    }
    free(starts);
}

static int by_start(const void *a, const void *b)
{
    const struct sample *first = a, *second = b;
    return first->start < second->start ? -1 : first->start > second->start;
}

/* What curl gave up without a word: it began and ended while curl ran, which is all that is known. */
static void add_missing(struct run *run, int requests, int status)
{
    for (; run->count < requests; run->count++) {
        struct sample *row = &run->samples[run->count];
        *row = (struct sample){.start = run->began, .end = run->ended, .protocol = "", .connection = -1};
        snprintf(row->error, sizeof row->error, "other: curl ended with status %d before it", status);
    }
}

/* A curl without what is asked for says so and ends; one that is too old prints less than it is asked to. */
static void check_begun(const struct run *run, const struct workload *work, int status)
{
    if (run->count == 0 && (status == NO_SUCH_OPTION || status == NOT_BUILT_IN)) {
        fail(UNSUPPORTED, "this curl cannot do what is asked over %s (its own words are above): have one that can",
             protocols[work->http]);
    }
    if (run->count == 0 && status == 0) {
        fail(FAILED, "this curl does not print what it was asked to of its transfers: have 8.10 or newer");
    }
}

static struct run start_and_follow(const struct workload *work, const struct tool *tool, const char *upload)
{
    int requests = command_requests(work);
    struct run run = {.samples = calloc((size_t)requests, sizeof *run.samples)};
    char **command = command_of(work, tool, upload);
    run.began = now();
    struct child curl = child_start(command);
    collect(&run, curl.output, requests);
    int status = child_end(curl);
    run.ended = now();
    check_begun(&run, work, status);
    correct_lateness(&run, work->users);
    add_missing(&run, requests, status);
    return run;
}

/* curl does not say whose request it was: each goes to the user who has been free for the longest time. */
static void deal(struct run *run, const struct workload *work)
{
    int64_t *free_since = calloc((size_t)work->users, sizeof *free_since);
    int *turns = calloc((size_t)work->users, sizeof *turns);
    qsort(run->samples, (size_t)run->count, sizeof *run->samples, by_start);
    for (struct sample *row = run->samples; row < run->samples + run->count; row++) {
        int user = -1;
        for (int one = 0; one < work->users; one++) {
            bool wants = turns[one] < work->warmup + work->requests;
            if (wants && (user < 0 || free_since[one] < free_since[user])) {
                user = one;
            }
        }
        row->user = user;
        row->phase = turns[user]++ < work->warmup ? "warmup" : "warm";
        free_since[user] = row->end;
    }
    free(free_since);
    free(turns);
}

/* Connections that were opened, and used. */
struct opened {
    int all;
    int of[4]; /* of each protocol, as it is in samples: "", h1, h2, h3 */
};

/* Where it was one, all requests were on it. */
static struct opened number_connections(struct run *run)
{
    struct opened opened = {0};
    for (const struct sample *row = run->samples; row < run->samples + run->count; row++) {
        if (row->protocol[0] && !row->reused) {
            opened.all++;
            opened.of[row->protocol[1] - '0']++;
        }
    }
    for (struct sample *row = run->samples; opened.all == 1 && row < run->samples + run->count; row++) {
        row->connection = row->protocol[0] ? 0 : -1;
    }
    return opened;
}

static struct run measure(const struct workload *work, const struct tool *tool)
{
    char upload[32] = "";
    if (work->post) {
        snprintf(upload, sizeof upload, "/proc/self/fd/%d", make_body(work->upload_bytes));
    }
    struct run run = start_and_follow(work, tool, upload);
    return run;
}

static void write_tls(FILE *to, const char *ciphers, const struct opened *opened)
{
    static const char *names[] = {"", "http/1.1", "h2", "h3"};
    bool own = strcmp(ciphers, "own") == 0, more = false;
    for (int http = 1; http <= 3; http++) {
        if (opened->of[http] > 0) {
            fprintf(to, "%s{\"version\": \"1.3\", %s%s%s\"key_exchange\": \"X25519\", \"alpn\": \"%s\", ",
                    more ? ", " : "", own ? "" : "\"cipher\": \"", own ? "" : ciphers, own ? "" : "\", ", names[http]);
            fprintf(to, "\"connections\": %d}", opened->of[http]);
            more = true;
        }
    }
}

static void write_facts(FILE *to, const struct workload *work, const struct run *run, const char *ciphers,
                        const char *quic, const struct opened *opened)
{
    bool over_quic = work->http == 3 && (opened->of[3] > 0 || !work->falls_back);
    fputs("{\"h123\": \"client/1\", \"tls\": [", to);
    write_tls(to, ciphers, opened);
    fprintf(to, over_quic ? "], \"congestion\": \"%s\", " : "], \"congestion\": null, ", quic);
    fprintf(to, "\"process\": {\"began_ns\": %" PRId64 ", \"ended_ns\": %" PRId64 "}, ", run->began, run->ended);
    fputs("\"notes\": [\"curl does not print what TLS came to: this is all that it was let offer\"", to);
    if (work->http > 1 && opened->all > 1) {
        fprintf(to, ", \"curl opened %d connections: the server ended one, or has fewer requests on one at once\"",
                opened->all);
    }
    fputs("]}\n", to);
}

int main(int count, char **words)
{
    struct tool tool = {0};
    const char *from = NULL, *to = NULL, *described = NULL, *quic = NULL;
    options_read(count, words,
                 (struct option_value[]){{"--run", &tool.run},
                                         {"--curl", &tool.curl},
                                         {"--ciphers", &tool.ciphers},
                                         {"--quic-congestion", &quic}, /* what its QUIC has */
                                         {"--workload", &from},
                                         {"--samples", &to},
                                         {"--facts", &described},
                                         {0}});
    struct workload work = workload_read_with_fallback(from);
    check_supported(&work);
    FILE *samples = file_to_write(to), *facts = file_to_write(described);
    struct run run = measure(&work, &tool);
    deal(&run, &work);
    struct opened opened = number_connections(&run);
    for (int i = 0; i < run.count; i++) {
        journal_add(&run.samples[i]);
    }
    journal_write(samples);
    file_save(samples, to);
    write_facts(facts, &work, &run, tool.ciphers, quic, &opened);
    file_save(facts, described);
    journal_summary(stderr);
    return DONE;
}
