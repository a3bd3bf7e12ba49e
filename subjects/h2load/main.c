/* h123-h2load: starts h2load for a workload and turns its log into samples.
 *
 * The log has a request's beginning (microseconds of the time of day), its status and its duration (microseconds of the
 * monotonic clock), not its user: h2load has as many requests under way as there are users, so each row goes to one who
 * was free. It counts body bytes for the whole run; they must be what the requests come to. */
#define _GNU_SOURCE
#include <inttypes.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#include "child.h"
#include "clock.h"
#include "files.h"
#include "journal.h"
#include "noise.h"
#include "options.h"
#include "refusal.h"
#include "workload.h"

enum { MICROSECOND = 1000, SLACK = 2 * MICROSECOND }; /* slack: start and duration are rounded by themselves */

static const char *const PROTOCOLS[] = {NULL, "h1", "h2", "h3"};

/* What h2load prints. */
struct printed {
    char version[32], cipher[64], key_exchange[64], alpn[32];
    int64_t body_bytes;
};

static void check_supported(const struct workload *work, bool http3)
{
    if (work->http == 3 && !http3) {
        fail(UNSUPPORTED, "this h2load does not speak HTTP/3");
    }
    if (work->cold || work->rate > 0) {
        fail(UNSUPPORTED, "h2load has neither cold requests nor a rate of requests");
    }
    if (work->numbered) {
        fail(UNSUPPORTED, "h2load shares no number of connections among users over HTTP/1.1, so over no protocol");
    }
}

static char *line(const char *format, ...) __attribute__((format(printf, 1, 2)));
static char *line(const char *format, ...)
{
    char *text;
    va_list arguments;
    va_start(arguments, format);
    if (vasprintf(&text, format, arguments) < 0) {
        abort();
    }
    va_end(arguments);
    return text;
}

static void write_body(const char *path, int64_t bytes)
{
    FILE *file = file_to_write(path);
    for (int64_t left = bytes; left > 0; left -= NOISE) {
        fwrite(noise(), 1, (size_t)(left < NOISE ? left : NOISE), file);
    }
    file_save(file, path);
}

/* `offer`: the option for the protocols to offer, which has changed its name. */
static struct child start(const struct workload *work, int requests, const char *program, const char *offer,
                          const char *log, const char *body)
{
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    char *arguments[] = {
        (char *)program,
        line("--requests=%d", requests),
        line("--clients=%d", work->connections),
        line("--max-concurrent-streams=%d", work->users / work->connections),
        line("--threads=%ld", work->connections < processors ? (long)work->connections : processors),
        work->http == 1 ? "--h1" : line("%s=%s", offer, PROTOCOLS[work->http]),
        line("--connect-to=%s:%d", work->address, work->port),
        "--header=user-agent: h123",
        line("--log-file=%s", log),
        line("https://%s:%d%s", work->host, work->port, work->path),
        work->post ? line("--data=%s", body) : NULL,
        NULL,
    };
    setenv("OPENSSL_CONF", "/dev/null", true); /* the machine's settings are for its own version */
    return child_start(arguments);
}

static pid_t h2load;

static void end_h2load(int signal)
{
    (void)signal;
    kill(h2load, SIGTERM);
}

/* h2load gives no request up by itself: it is ended when the longest time is over that its requests may take. */
static void end_after(int64_t nanoseconds)
{
    struct itimerval timer = {.it_value = {nanoseconds / 1000000000, nanoseconds % 1000000000 / 1000}};
    sigaction(SIGALRM, &(struct sigaction){.sa_handler = end_h2load, .sa_flags = SA_RESTART}, NULL);
    setitimer(ITIMER_REAL, &timer, NULL);
}

static struct printed read_printed(FILE *output)
{
    struct printed printed = {.body_bytes = -1};
    char *text = NULL;
    size_t room = 0;
    while (getline(&text, &room, output) > 0) {
        char *traffic = strncmp(text, "traffic:", 8) == 0 ? strrchr(text, '(') : NULL;
        if (traffic) {
            printed.body_bytes = strtoll(traffic + 1, NULL, 10);
        }
        sscanf(text, "TLS Protocol: TLSv%31s", printed.version);
        sscanf(text, "Cipher: %63s", printed.cipher);
        sscanf(text, "Server Temp Key: %63s", printed.key_exchange);
        sscanf(text, "Application protocol: %31s", printed.alpn);
    }
    free(text);
    return printed;
}

static int by_start(const void *a, const void *b)
{
    const struct sample *first = a, *second = b;
    return first->start < second->start ? -1 : first->start > second->start;
}

/* The log's rows; `count` is their number. */
static struct sample *read_log(const char *path, const struct workload *work, int requests, int64_t offset, int *count)
{
    struct sample *samples = calloc((size_t)requests, sizeof *samples);
    FILE *log = fopen(path, "r");
    int64_t start, duration;
    long status;
    *count = 0;
    while (log && *count < requests &&
           fscanf(log, "%" SCNd64 "\t%ld\t%" SCNd64 "\n", &start, &status, &duration) == 3) {
        struct sample *row = &samples[(*count)++];
        row->start = start * MICROSECOND - offset;
        row->end = row->start + duration * MICROSECOND;
        row->status = status < 0 ? 0 : status;
        row->protocol = PROTOCOLS[work->http];
        row->connection = row->reused = -1;
        if (status < 0) {
            snprintf(row->error, sizeof row->error, "reset");
        } else if (row->end - row->start > work->timeout_ns) {
            snprintf(row->error, sizeof row->error, "timeout");
        } else if (status < 200 || status > 299) {
            snprintf(row->error, sizeof row->error, "other: status %ld", status);
        }
    }
    if (log) {
        fclose(log);
    }
    qsort(samples, (size_t)*count, sizeof *samples, by_start);
    return samples;
}

/* Whether a user is the better one for a request that began at `start`: free, and for the shortest time; where nobody is
 * free, the one whose request ends first. */
static bool better(int64_t ended, int64_t than, int64_t start)
{
    bool free = ended <= start + SLACK, other_free = than <= start + SLACK;
    return free != other_free ? free : free ? ended > than : ended < than;
}

/* Gives each request a user, and each user as many requests. */
static void deal(struct sample *samples, int count, const struct workload *work)
{
    struct {
        int64_t ended;
        int requests;
    } *users = calloc((size_t)work->users, sizeof *users);
    for (struct sample *row = samples; row < samples + count; row++) {
        int chosen = -1;
        for (int user = 0; user < work->users; user++) {
            bool wants = users[user].requests < work->warmup + work->requests;
            if (wants && (chosen < 0 || better(users[user].ended, users[chosen].ended, row->start))) {
                chosen = user;
            }
        }
        row->user = chosen;
        row->phase = users[chosen].requests++ < work->warmup ? "warmup" : "warm";
        users[chosen].ended = row->end;
    }
    free(users);
}

/* What was given up has no row: it began and ended while h2load ran, which is all that is known. */
static void add_missing(struct sample *samples, int logged, int requests, const struct workload *work,
                        const int64_t ran[2], bool ended_here)
{
    const char *error = logged == requests ? ""
                        : ended_here       ? "timeout"
                        : work->http < 3 && server_refuses(work) ? "refused"
                                                                 : "other: h2load gave it up with its connection";
    for (int i = logged; i < requests; i++) {
        samples[i] = (struct sample){.start = ran[0], .end = ran[1], .protocol = "", .connection = -1, .reused = -1};
        snprintf(samples[i].error, sizeof samples[i].error, "%s", error);
    }
}

/* Body bytes of one good answer. */
static int64_t answer_bytes(const struct workload *work)
{
    if (work->post) {
        return snprintf(NULL, 0, "%" PRId64, work->upload_bytes);
    }
    return strncmp(work->path, "/bytes/", 7) == 0 ? strtoll(work->path + 7, NULL, 10) : 0;
}

/* Hands the rows to the journal; returns how many are good. */
static int keep(struct sample *samples, int count, const struct workload *work)
{
    int good = 0;
    for (int i = 0; i < count; i++) {
        if (!samples[i].error[0]) {
            samples[i].up = work->upload_bytes;
            samples[i].down = answer_bytes(work);
            good++;
        }
        journal_add(&samples[i]);
    }
    return good;
}

static void write_facts(FILE *to, const struct printed *printed, const struct workload *work)
{
    fprintf(to, "{\"h123\": \"client/1\", \"tls\": [");
    if (printed->version[0]) { /* h2load describes its first connection */
        fprintf(to,
                "{\"version\": \"%s\", \"cipher\": \"%s\", \"key_exchange\": \"%s\", \"alpn\": \"%s\", "
                "\"connections\": 1}",
                printed->version, printed->cipher, printed->key_exchange, printed->alpn);
    }
    fprintf(to, "], \"congestion\": null, \"notes\": [\"of the connections, h2load describes the first\"%s]}\n",
            work->warmup > 0 ? "" : ", \"the first request on each is counted from when it was connected\"");
}

/* Makes all requests; returns what h2load printed about them. */
static struct printed measure(const struct workload *work, const char *program, const char *offer)
{
    char scratch[] = "/tmp/h123-h2load-XXXXXX";
    if (!mkdtemp(scratch)) {
        fail(FAILED, "cannot make a folder in /tmp");
    }
    char *log = line("%s/log", scratch), *body = line("%s/body", scratch);
    if (work->post) {
        write_body(body, work->upload_bytes);
    }
    int requests = work->users * (work->warmup + work->requests), logged;
    int64_t offset = time_of_day() - now(), ran[2] = {now()};
    struct child child = start(work, requests, program, offer, log, body);
    h2load = child.pid;
    end_after(work->timeout_ns * (work->warmup + work->requests));
    struct printed printed = read_printed(child.output);
    end_after(0);
    int status = child_end(child);
    bool ended_here = status == 128 + SIGTERM;
    if (status != 0 && !ended_here) {
        fail(FAILED, "h2load ended with status %d", status);
    }
    ran[1] = now();
    struct sample *rows = read_log(log, work, requests, offset, &logged);
    add_missing(rows, logged, requests, work, ran, ended_here);
    deal(rows, requests, work);
    int good = keep(rows, requests, work);
    int64_t due = good * answer_bytes(work);
    bool told = printed.body_bytes >= 0; /* not by an h2load that was ended; and those that failed may have had a part */
    if (good == requests ? printed.body_bytes != due : told && printed.body_bytes < due) {
        fail(FAILED, "h2load counted %" PRId64 " body bytes in %d answers", printed.body_bytes, good);
    }
    return printed;
}

int main(int count, char **words)
{
    const char *program = NULL, *offer = NULL, *newest = NULL, *from = NULL, *to = NULL, *described = NULL;
    options_read(count, words,
                 (struct option_value[]){{"--h2load", &program},
                                         {"--offer", &offer},
                                         {"--newest", &newest},
                                         {"--workload", &from},
                                         {"--samples", &to},
                                         {"--facts", &described},
                                         {0}});
    struct workload work = workload_read(from);
    check_supported(&work, strcmp(newest, PROTOCOLS[3]) == 0);
    FILE *samples = file_to_write(to), *facts = file_to_write(described);
    struct printed printed = measure(&work, program, offer);
    journal_write(samples);
    file_save(samples, to);
    write_facts(facts, &printed, &work);
    file_save(facts, described);
    journal_summary(stderr);
    return DONE;
}
