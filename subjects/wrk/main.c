/* h123-wrk: starts wrk for a workload, a thread and a connection for each user, and turns what script.lua prints into samples.
 *
 * wrk has no end but that of time and gives no request up: it is ended here, when all users are done or the longest time
 * that their requests may take is over. It says nothing of TLS: its library is allowed TLS 1.3 only. */
#define _GNU_SOURCE
#include <inttypes.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/time.h>

#include "child.h"
#include "clock.h"
#include "files.h"
#include "journal.h"
#include "options.h"
#include "refusal.h"
#include "workload.h"

enum { AGAIN_US = 20000, MOST_TIMES = 50, MOST_MEMORY = 384 << 20 };

static void check_supported(const struct workload *work)
{
    if (work->http != 1) {
        fail(UNSUPPORTED, "wrk speaks HTTP/1.1 only");
    }
    if (work->post || work->cold || work->rate > 0) {
        fail(UNSUPPORTED, "wrk has neither uploads nor cold requests nor a rate of requests");
    }
    if (work->numbered) {
        fail(UNSUPPORTED, "wrk has one connection a user, not any number");
    }
}

static void set(const char *name, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void set(const char *name, const char *format, ...)
{
    char value[4096];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(value, sizeof value, format, arguments);
    va_end(arguments);
    setenv(name, value, 1);
}

static int per_user(const struct workload *work) { return work->warmup + work->requests; }

/* wrk keeps what has come of a body until it ends: one that never does shall end wrk, and not the machine. */
static void bound_memory(void)
{
    struct rlimit limit = {MOST_MEMORY, MOST_MEMORY};
    setrlimit(RLIMIT_DATA, &limit);
}

static struct child start(const struct workload *work, const char *prefix)
{
    char *run, *script, *threads, *connections, *url;
    set("H123_ADDRESS", "%s", work->address);
    set("H123_PORT", "%d", work->port);
    set("H123_REQUESTS", "%d", per_user(work));
    set("H123_OPENSSL_CONF", "%s/tls.cnf", prefix);
    if (asprintf(&run, "%s/run", prefix) < 0 || asprintf(&script, "%s/script.lua", prefix) < 0 ||
        asprintf(&threads, "--threads=%d", work->users) < 0 ||
        asprintf(&connections, "--connections=%d", work->users) < 0 ||
        asprintf(&url, "https://%s:%d%s", work->host, work->port, work->path) < 0) {
        abort();
    }
    char *arguments[] = {run,    "usr/bin/wrk", threads, connections, "--duration=10000h",
                         "--script", script,    url,     NULL};
    bound_memory();
    return child_start(arguments);
}

static struct child wrk;
static int64_t allowed_until;

/* wrk may not listen to signals yet: this is repeated until it ends, and while it waits for its first connection it never
 * listens. */
static void end_wrk(int signal)
{
    static int times;
    (void)signal;
    kill(wrk.pid, ++times > MOST_TIMES ? SIGKILL : SIGINT);
}

static void end_after(int64_t nanoseconds)
{
    struct itimerval timer = {.it_interval = {.tv_usec = AGAIN_US},
                              .it_value = {nanoseconds / 1000000000, nanoseconds % 1000000000 / 1000}};
    setitimer(ITIMER_REAL, &timer, NULL);
}

static int64_t moment(int64_t seconds, int64_t nanoseconds) { return seconds * INT64_C(1000000000) + nanoseconds; }

/* What became of a request. */
static void judge(struct sample *row, const struct workload *work, bool answered)
{
    if (!answered) {
        snprintf(row->error, sizeof row->error, now() >= allowed_until ? "timeout" : "reset");
    } else if (row->end - row->start > work->timeout_ns) {
        snprintf(row->error, sizeof row->error, "timeout");
    } else if (row->status < 200 || row->status > 299) {
        snprintf(row->error, sizeof row->error, "other: status %ld", row->status);
    }
}

/* A row that the script printed; `turns` counts each user's. */
static void keep(const struct workload *work, const char *text, int *turns)
{
    struct sample row = {.protocol = "h1"};
    int64_t from, from_ns, to, to_ns;
    if (sscanf(text, "row %d %" SCNd64 " %" SCNd64 " %" SCNd64 " %" SCNd64 " %ld %" SCNd64, &row.user, &from, &from_ns, &to,
               &to_ns, &row.status, &row.down) != 7 || row.user < 0 || row.user >= work->users) {
        fail(FAILED, "wrk printed %s", text);
    }
    bool answered = to >= 0;
    row.connection = row.user;
    row.reused = turns[row.user] > 0;
    row.phase = turns[row.user]++ < work->warmup ? "warmup" : "warm";
    row.start = moment(from, from_ns);
    row.end = answered ? moment(to, to_ns) : now();
    row.status = answered ? row.status : 0;
    row.down = answered ? row.down : 0;
    judge(&row, work, answered);
    journal_add(&row);
}

/* Reads what the threads print when they are done, that rows follow, and then all of them. */
static void collect(const struct workload *work, int *turns)
{
    char *text = NULL;
    size_t room = 0;
    for (int done = 0; getline(&text, &room, wrk.output) > 0;) {
        if (strncmp(text, "row ", 4) == 0) {
            keep(work, text, turns);
        } else if (strcmp(text, "done\n") == 0 && ++done == work->users) {
            end_after(1000);
        } else if (strcmp(text, "rows\n") == 0) {
            end_after(0); /* it has listened; to print all may take longer than it would be left alive */
        }
    }
    free(text);
}

/* Requests that wrk did not even begin, for want of a connection. */
static void add_missing(const struct workload *work, int *turns, int64_t begun)
{
    const char *error = now() >= allowed_until ? "timeout" : NULL;
    for (int user = 0; user < work->users; user++) {
        while (turns[user] < per_user(work)) {
            struct sample row = {.phase = turns[user]++ < work->warmup ? "warmup" : "warm", .user = user, .start = begun,
                                 .end = now(), .protocol = "", .connection = -1, .reused = -1};
            error = error ? error : server_refuses(work) ? "refused" : "other: wrk made no connection";
            snprintf(row.error, sizeof row.error, "%s", error);
            journal_add(&row);
        }
    }
}

static void measure(const struct workload *work, const char *prefix)
{
    int *turns = calloc((size_t)work->users, sizeof *turns);
    int64_t begun = now(), longest = work->timeout_ns * per_user(work);
    allowed_until = begun + longest;
    wrk = start(work, prefix);
    struct sigaction restart = {.sa_handler = end_wrk, .sa_flags = SA_RESTART};
    sigaction(SIGALRM, &restart, NULL);
    end_after(longest);
    collect(work, turns);
    end_after(0);
    int status = child_end(wrk);
    if (status > 1 && now() < allowed_until) { /* 1: no connection */
        fail(FAILED, "wrk ended with status %d", status);
    }
    add_missing(work, turns, begun);
}

int main(int count, char **words)
{
    const char *prefix = NULL, *from = NULL, *to = NULL, *described = NULL;
    options_read(count, words,
                 (struct option_value[]){{"--prefix", &prefix},
                                         {"--workload", &from},
                                         {"--samples", &to},
                                         {"--facts", &described},
                                         {0}});
    struct workload work = workload_read(from);
    check_supported(&work);
    FILE *samples = file_to_write(to), *facts = file_to_write(described);
    measure(&work, prefix);
    journal_write(samples);
    file_save(samples, to);
    fprintf(facts,
            "{\"h123\": \"client/1\", \"tls\": [{\"version\": \"1.3\", \"cipher\": \"\", \"key_exchange\": \"\", "
            "\"alpn\": \"\", \"connections\": %d}], \"congestion\": null, "
            "\"notes\": [\"wrk says nothing of TLS; its library was allowed 1.3 only\"]}\n",
            work.users);
    file_save(facts, described);
    journal_summary(stderr);
    return DONE;
}
