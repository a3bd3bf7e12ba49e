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
#include <unistd.h>

#include "child.h"
#include "clock.h"
#include "files.h"
#include "journal.h"
#include "options.h"
#include "workload.h"

static void check_supported(const struct workload *work)
{
    if (work->http != 1) {
        fail(UNSUPPORTED, "wrk speaks HTTP/1.1 only");
    }
    if (work->post || work->cold || work->rate > 0) {
        fail(UNSUPPORTED, "wrk has neither uploads nor cold requests nor a rate of requests");
    }
    if (work->connections != work->users) {
        fail(UNSUPPORTED, "wrk has one connection a user, not %d for %d", work->connections, work->users);
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
    return child_start(arguments);
}

static int64_t moment(int64_t seconds, int64_t nanoseconds) { return seconds * INT64_C(1000000000) + nanoseconds; }

/* A row that the script printed; `turn` counts the user's. */
static void keep(const struct workload *work, const char *text, int *turns)
{
    struct sample row = {.protocol = "h1"};
    int64_t from, from_ns, to, to_ns;
    if (sscanf(text, "row %d %" SCNd64 " %" SCNd64 " %" SCNd64 " %" SCNd64 " %ld %" SCNd64, &row.user, &from, &from_ns, &to,
               &to_ns, &row.status, &row.down) != 7 || row.user < 0 || row.user >= work->users) {
        fail(FAILED, "wrk printed %s", text);
    }
    row.connection = row.user;
    row.reused = turns[row.user] > 0;
    row.phase = turns[row.user]++ < work->warmup ? "warmup" : "warm";
    row.start = moment(from, from_ns);
    row.end = to ? moment(to, to_ns) : now();
    if (!to) {
        snprintf(row.error, sizeof row.error, "reset");
    } else if (row.end - row.start > work->timeout_ns) {
        snprintf(row.error, sizeof row.error, "timeout");
    } else if (row.status < 200 || row.status > 299) {
        snprintf(row.error, sizeof row.error, "other: status %ld", row.status);
    }
    journal_add(&row);
}

static pid_t wrk;

static void end_wrk(int signal)
{
    (void)signal;
    kill(wrk, SIGTERM);
}

/* Reads what the threads print until all are done, or wrk has ended; returns how many are done. */
static int collect(FILE *output, const struct workload *work, int *turns)
{
    char *text = NULL;
    size_t room = 0;
    int done = 0;
    while (done < work->users && getline(&text, &room, output) > 0) {
        if (strncmp(text, "row ", 4) == 0) {
            keep(work, text, turns);
        }
        done += strcmp(text, "done\n") == 0;
    }
    free(text);
    return done;
}

static void measure(const struct workload *work, const char *prefix)
{
    int *turns = calloc((size_t)work->users, sizeof *turns);
    int64_t begun = now(), longest = work->timeout_ns / 1000000000 * (per_user(work) + 1);
    struct child child = start(work, prefix);
    wrk = child.pid;
    signal(SIGALRM, end_wrk);
    alarm(longest < UINT32_MAX ? (unsigned)longest + 1 : UINT32_MAX);
    int done = collect(child.output, work, turns);
    alarm(0);
    end_wrk(0);
    int status = child_end(child);
    if (done < work->users && status < 128) {
        fail(FAILED, "wrk ended with status %d", status);
    }
    for (int user = 0; user < work->users; user++) {
        while (turns[user] < per_user(work)) {
            struct sample row = {.phase = turns[user]++ < work->warmup ? "warmup" : "warm", .user = user, .start = begun,
                                 .end = now(), .protocol = "", .connection = -1, .reused = -1,
                                 .error = "other: wrk did not end it"};
            journal_add(&row);
        }
    }
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
