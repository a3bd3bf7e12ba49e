#include "job.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "entries.h"
#include "reading.h"
#include "workload.h"

char *job_file(const char *path, size_t *length)
{
    FILE *file = fopen(path, "r");
    char *text = NULL;
    size_t room = 0;
    *length = 0;
    if (!file) {
        fail(BAD_INPUT, "cannot read %s: %s", path, strerror(errno));
    }
    for (size_t got = 1; got > 0; *length += got) {
        room = 2 * room + 65536;
        text = realloc(text, room + 1);
        got = fread(text + *length, 1, room - *length, file);
    }
    fclose(file);
    text[*length] = '\0';
    return text;
}

int job_host(struct job *job, char *host)
{
    for (int i = 0; i < job->host_count; i++) {
        if (strcmp(job->hosts[i], host) == 0) {
            return i;
        }
    }
    job->hosts = realloc(job->hosts, (size_t)(job->host_count + 1) * sizeof *job->hosts);
    job->hosts[job->host_count] = host;
    return job->host_count++;
}

static int read_protocol(struct reading *from)
{
    const char *value = reading_text(from, "protocol");
    if (value[0] == 'h' && value[1] >= '1' && value[1] <= '3' && !value[2]) {
        return value[1] - '0';
    }
    fail(UNSUPPORTED, "protocol %s is not supported", value);
}

/* When requests are due, if the workload says so. */
static int64_t *read_gaps(struct reading *from, const struct job *job)
{
    if (!reading_has(from, "gaps_ns")) {
        return NULL; /* and a null is unknown */
    }
    size_t count;
    int64_t *due = reading_whole_numbers(from, "gaps_ns", &count);
    if (job->rate > 0 || (int64_t)count != job_warm(job)) {
        fail(BAD_INPUT, "%s: gaps_ns must be there for each request, the cold ones apart, and not beside a rate",
             from->where);
    }
    for (size_t i = 1; i < count; i++) {
        due[i] += due[i - 1];
    }
    return due;
}

/* On which connection each of them is made, if the workload says so. */
static int64_t *read_dealing(struct reading *from, const struct job *job)
{
    if (!reading_has(from, "dealt_to")) {
        return NULL; /* and a null is unknown */
    }
    size_t count;
    int64_t *dealt_to = reading_whole_numbers(from, "dealt_to", &count);
    if (!job->due || (int64_t)count != job_warm(job)) {
        fail(BAD_INPUT, "%s: dealt_to must be there for each of gaps_ns", from->where);
    }
    for (size_t i = 0; i < count; i++) {
        if (dealt_to[i] >= job->connections) {
            fail(BAD_INPUT, "%s: dealt_to must be indices of the connections", from->where);
        }
    }
    return dealt_to;
}

/* Which requests are given up, by their numbers, where any are. */
static bool *read_abandoned(struct reading *from, const struct job *job)
{
    size_t count;
    int64_t *numbers = reading_whole_numbers(from, "abandoned", &count);
    bool *abandoned = calloc((size_t)job_warm(job) + 1, sizeof *abandoned);
    for (size_t i = 0; i < count; i++) {
        if (numbers[i] >= job_warm(job) || numbers[i] % job_per_user(job) < job->warmup ||
            (i && numbers[i] <= numbers[i - 1])) {
            fail(BAD_INPUT, "%s: abandoned must be numbers of warm requests, in order", from->where);
        }
        abandoned[numbers[i]] = true;
    }
    free(numbers);
    return abandoned;
}

static void read_abandon(struct reading *from, struct job *job)
{
    if (job->kind == PAGE || !reading_has(from, "abandon_ns")) {
        return; /* and what is there all the same is unknown */
    }
    job->abandon_ns = (int64_t)reading_large(from, "abandon_ns", 1);
    if (job->abandon_ns >= job->timeout_ns) {
        fail(BAD_INPUT, "%s: abandon_ns must be less than timeout_ns", from->where);
    }
    job->abandoned = read_abandoned(from, job);
}

static void read_retry(struct reading *from, struct job *job)
{
    if (job->kind == PAGE || job->abandoned || !reading_has(from, "retry_ns")) {
        return; /* and what is there all the same is unknown */
    }
    uint64_t retries = reading_large(from, "retries", 1);
    if (retries > MOST_RETRIES) {
        fail(BAD_INPUT, "%s: retries must be %d at most", from->where, MOST_RETRIES);
    }
    job->retries = (int)retries;
    job->retry_ns = (int64_t)reading_large(from, "retry_ns", 1);
    if (job->retry_ns > (job->timeout_ns - 1) / job->retries) {
        fail(BAD_INPUT, "%s: retry_ns must be so short that all retries are made before timeout_ns", from->where);
    }
}

/* An HTTP/1.1 connection carries one request at a time, so there sharing gives each user one. */
static int read_connections(struct reading *from, const struct job *job)
{
    const char *value = reading_text(from, "connections");
    if (job->kind == PAGE && !atoi(value)) {
        fail(BAD_INPUT, "%s: connections must be a number with the kind page", from->where);
    }
    if (strcmp(value, "shared") == 0) {
        return job->http == 1 ? job->users : 1;
    }
    if (strcmp(value, "per-user") == 0) {
        return job->users;
    }
    int number = atoi(value);
    if (number < 1) {
        fail(BAD_INPUT, "%s: connections must be shared, per-user or a number from 1, not %s", from->where, value);
    }
    return number;
}

static enum sessions read_sessions(struct reading *from, const struct job *job)
{
    static const char *const names[] = {[RESUMED] = "resumed", [FAST_OPEN] = "fast-open", [EARLY] = "early"};
    if (!reading_has(from, "sessions")) {
        return FULL;
    }
    const char *value = reading_text(from, "sessions");
    enum sessions sessions = EARLY;
    while (sessions > FULL && strcmp(value, names[sessions]) != 0) {
        sessions--;
    }
    if (sessions == FULL) {
        fail(UNSUPPORTED, "%s: sessions %s is not supported", from->where, value);
    }
    if (sessions == (job->http == 3 ? FAST_OPEN : EARLY)) {
        fail(UNSUPPORTED, "%s: sessions %s is not supported over h%d", from->where, value, job->http);
    }
    if (job->kind != REQUESTS || !job->cold || (sessions == EARLY && strcmp(job->entries->method, "GET") != 0)) {
        fail(BAD_INPUT, "%s: sessions are of the kind requests, with cold requests, and early with GET", from->where);
    }
    return sessions;
}

/* What a field must be for the rest to be understood; the index of what it is. */
static int check_form(struct reading *from, const char *name, const char *const wanted[])
{
    const char *value = reading_has(from, name) ? reading_text(from, name) : "(none)";
    for (int i = 0; wanted[i]; i++) {
        if (strcmp(value, wanted[i]) == 0) {
            return i;
        }
    }
    fail(UNSUPPORTED, "%s: %s %s is not supported", from->where, name, value);
}

struct job job_read(const char *path)
{
    size_t length;
    struct reading from = reading_begin(path, job_file(path, &length));
    struct job job = {0};
    check_form(&from, "h123", (const char *const[]){"workload/2", NULL});
    job.kind = (enum kind)check_form(&from, "kind", (const char *const[]){"requests", "mix", "page", NULL});
    job.http = read_protocol(&from);
    job_host(&job, reading_text(&from, "host"));
    job.authority = reading_has(&from, "authority") ? reading_text(&from, "authority") : NULL; /* null is unknown */
    job.address = reading_text(&from, "address");
    job.ca = reading_text(&from, "ca");
    if (reading_has(&from, "key_share")) {
        check_form(&from, "key_share", (const char *const[]){"X25519MLKEM768", NULL});
        job.key_share = "X25519MLKEM768";
    } else {
        job.key_share = "X25519";
    }
    job.port = (int)reading_number(&from, "port", 1);
    job.users = (int)reading_number(&from, "users", 1);
    job.requests = (int)reading_number(&from, "requests", 0);
    job.warmup = (int)reading_number(&from, "warmup", 0);
    job.rate = reading_has(&from, "rate") ? reading_number(&from, "rate", 0) : 0;
    reading_pass(&from, "rate");
    job.due = read_gaps(&from, &job);
    job.cold = reading_truth(&from, "cold");
    job.timeout_ns = (int64_t)reading_large(&from, "timeout_ns", 1);
    read_abandon(&from, &job);
    read_retry(&from, &job);
    job.seed = reading_large(&from, "seed", 0);
    job.connections = read_connections(&from, &job);
    job.dealt_to = read_dealing(&from, &job);
    read_entries(&from, &job);
    job.sessions = read_sessions(&from, &job);
    reading_end(&from);
    return job;
}
