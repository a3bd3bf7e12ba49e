#define _GNU_SOURCE
#include "job.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "block.h"
#include "reading.h"
#include "workload.h"

/* More than an answer has that is no download: a count, or words about an error; and than any has. */
static const int64_t SHORT_ANSWER = 65536, LONG_ANSWER = INT64_C(1) << 40;

static char *contents(const char *path, size_t *length)
{
    FILE *file = fopen(path, "r");
    char *text = NULL;
    size_t room = 0;
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

static char *place(const char *format, const char *where, const char *list, size_t index)
{
    char *made;
    if (asprintf(&made, format, where, list, index) < 0) {
        abort();
    }
    return made;
}

static void read_header(struct reading from, struct named *header)
{
    header->name = reading_text(&from, "name");
    header->value = reading_text(&from, "value");
    header->changes = reading_truth(&from, "changes");
    header->name_length = strlen(header->name);
    header->value_length = strlen(header->value);
    reading_end(&from);
    if (!header->name_length || (header->changes && header->value_length < NUMBER_DIGITS)) {
        fail(BAD_INPUT, "%s must have a name, and %d characters to change", from.where, NUMBER_DIGITS);
    }
    for (char *letter = header->name; *letter; letter++) {
        *letter = (char)tolower((unsigned char)*letter);
    }
}

static void read_headers(struct reading *from, struct entry *entry)
{
    char **list = reading_list(from, "headers");
    for (size_t i = 0; list[i]; i++) {
        entry->headers = realloc(entry->headers, (i + 1) * sizeof *entry->headers);
        read_header(reading_begin(place("%s: %s[%zu]", from->where, "headers", i), list[i]), &entry->headers[i]);
        entry->header_count = i + 1;
    }
}

/* The n of the path /bytes/<n>, which alone is answered by the block; -1 of any other. */
static int64_t block_bytes(const char *path)
{
    static const char beginning[] = "/bytes/";
    const char *digits = path + sizeof beginning - 1;
    if (strncmp(path, beginning, sizeof beginning - 1) != 0 || !*digits || digits[strspn(digits, "0123456789")]) {
        return -1;
    }
    errno = 0;
    int64_t bytes = strtoll(digits, NULL, 10);
    return errno ? -1 : bytes;
}

static void complete(const struct reading *from, struct entry *entry, const struct job *job)
{
    bool post = strcmp(entry->method, "POST") == 0;
    int64_t bytes = job->authority ? -1 : block_bytes(entry->path);
    bool of_a_service = job->kind != REQUESTS || job->authority; /* or a page's real documents */
    if (!post && strcmp(entry->method, "GET") != 0) {
        fail(BAD_INPUT, "%s: method must be GET or POST, not %s", from->where, entry->method);
    }
    if (entry->path[0] != '/') {
        fail(BAD_INPUT, "%s: path must be a path from /, not %s", from->where, entry->path);
    }
    if (!post && entry->body_bytes) {
        fail(BAD_INPUT, "%s: only POST uploads something", from->where);
    }
    entry->compared = !post && bytes >= 0;
    entry->most = bytes > SHORT_ANSWER ? bytes : of_a_service && bytes < 0 ? LONG_ANSWER : SHORT_ANSWER;
    if (!entry->content) {
        entry->content = (const char *)block;
        entry->content_bytes = BLOCK_SIZE;
    }
}

/* What the kind requests asks for again and again. */
static void read_request(struct reading *from, struct job *job)
{
    struct entry *entry = job->entries = calloc(1, sizeof *entry);
    job->entry_count = 1;
    entry->method = reading_text(from, "method");
    entry->path = reading_text(from, "path");
    entry->body_bytes = (int64_t)reading_large(from, "upload_bytes", 0);
    read_headers(from, entry);
    complete(from, entry, job);
}

static void read_body(struct reading *from, struct entry *entry)
{
    entry->body_bytes = (int64_t)reading_large(from, "body_bytes", 0);
    if (reading_has(from, "body_file")) {
        const char *file = reading_text(from, "body_file");
        entry->content = contents(file, &entry->content_bytes);
        if ((int64_t)entry->content_bytes != entry->body_bytes) {
            fail(BAD_INPUT, "%s: %s has %zu bytes, not body_bytes", from->where, file, entry->content_bytes);
        }
    }
    reading_pass(from, "body_file");
}

static void read_entry(struct reading from, struct entry *entry, const struct job *job)
{
    *entry = (struct entry){.method = reading_text(&from, "method"), .path = reading_text(&from, "path")};
    read_headers(&from, entry);
    read_body(&from, entry);
    entry->status = (int)reading_number(&from, "status", 0);
    entry->think_ns = (int64_t)reading_large(&from, "think_ns", 0);
    reading_end(&from);
    complete(&from, entry, job);
}

static void read_mix(struct reading *from, struct job *job)
{
    char **list = reading_list(from, "mix"), **order = reading_list(from, "order");
    struct entry none = {0};
    read_headers(from, &none);
    if (none.header_count) {
        fail(BAD_INPUT, "%s: headers are each request's own with the kind mix", from->where);
    }
    for (size_t i = 0; list[i]; i++) {
        job->entries = realloc(job->entries, (i + 1) * sizeof *job->entries);
        read_entry(reading_begin(place("%s: %s[%zu]", from->where, "mix", i), list[i]), &job->entries[i], job);
        job->entry_count = i + 1;
    }
    for (size_t i = 0; order[i]; i++) {
        job->order = realloc(job->order, (i + 1) * sizeof *job->order);
        long index = job->order[i] = atoi(order[i]);
        if (index < 0 || (size_t)index >= job->entry_count) {
            fail(BAD_INPUT, "%s: order has %s, which is no index of mix", from->where, order[i]);
        }
        job->order_count = i + 1;
    }
    if (!job->order_count) {
        fail(BAD_INPUT, "%s: order must have one or more indices of mix", from->where);
    }
}

/* The index of a name of the server's, new or not. */
static int host_index(struct job *job, char *host)
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

static void read_resource(struct reading from, struct job *job, int index)
{
    struct entry *resource = &job->entries[index];
    bool document = index == 0;
    *resource = (struct entry){.method = "GET", .path = reading_text(&from, "path")};
    read_headers(&from, resource);
    resource->urgency = (int)reading_number(&from, "urgency", 0);
    resource->run_ns = (int64_t)reading_large(&from, "run_ns", 0);
    resource->host = reading_has(&from, "host") ? host_index(job, reading_text(&from, "host")) : 0; /* null is unknown */
    if (reading_has(&from, "initiator") == document) {
        fail(BAD_INPUT, "%s: initiator must be null of the first, and of no other", from.where);
    }
    resource->asked_by = document ? 0 : (int)reading_number(&from, "initiator", 0);
    reading_pass(&from, "initiator");
    reading_end(&from);
    complete(&from, resource, job);
}

/* Each resource is asked for by one that is, in the end, asked for by the first. */
static void check_initiators(const struct reading *from, const struct job *job)
{
    for (size_t i = 0; i < job->entry_count; i++) {
        size_t at = i, steps = 0;
        while (at && steps++ < job->entry_count) {
            at = (size_t)job->entries[at].asked_by;
            if (at >= job->entry_count) {
                fail(BAD_INPUT, "%s: page[%zu]: initiator must be an index of page", from->where, i);
            }
        }
        if (at) {
            fail(BAD_INPUT, "%s: page[%zu]: initiator must lead to the first, not round in a circle", from->where, i);
        }
    }
}

static void read_page(struct reading *from, struct job *job)
{
    char **list = reading_list(from, "page");
    struct entry none = {0};
    read_headers(from, &none);
    if (none.header_count || job->rate > 0 || job->due) {
        fail(BAD_INPUT, "%s: with the kind page, headers are each request's own, and there is no rate and no gaps_ns",
             from->where);
    }
    for (size_t i = 0; list[i]; i++) {
        job->entries = realloc(job->entries, (i + 1) * sizeof *job->entries);
        read_resource(reading_begin(place("%s: %s[%zu]", from->where, "page", i), list[i]), job, (int)i);
        job->entry_count = i + 1;
    }
    if (!job->entry_count) {
        fail(BAD_INPUT, "%s: page must have a document", from->where);
    }
    check_initiators(from, job);
    for (size_t i = job->entry_count; --i > 0;) { /* from the end, so that each comes before those after it */
        struct entry *resource = &job->entries[i], *initiator = &job->entries[resource->asked_by];
        resource->next_asked = initiator->first_asked;
        initiator->first_asked = (int)i;
    }
    job->at_once = (int)reading_number(from, "at_once", 1);
    job->pause_ns = reading_has(from, "pause_ns") ? (int64_t)reading_large(from, "pause_ns", 1) : 0; /* likewise */
}

static int read_protocol(struct reading *from)
{
    const char *value = reading_text(from, "protocol");
    if (value[0] == 'h' && value[1] >= '1' && value[1] <= '3' && !value[2]) {
        return value[1] - '0';
    }
    fail(UNSUPPORTED, "protocol %s is not supported", value);
}

/* When requests are due, where that is told. */
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

/* On which connection each of them is made, where that is told. */
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
    enum sessions asked = EARLY;
    while (asked > FULL && strcmp(value, names[asked]) != 0) {
        asked--;
    }
    if (asked == FULL) {
        fail(UNSUPPORTED, "%s: sessions %s is not supported", from->where, value);
    }
    if (asked == (job->http == 3 ? FAST_OPEN : EARLY)) {
        fail(UNSUPPORTED, "%s: sessions %s is not supported over h%d", from->where, value, job->http);
    }
    if (job->kind != REQUESTS || !job->cold || (asked == EARLY && strcmp(job->entries->method, "GET") != 0)) {
        fail(BAD_INPUT, "%s: sessions are of the kind requests, with cold requests, and early with GET", from->where);
    }
    return asked;
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
    size_t length = 0;
    struct reading from = reading_begin(path, contents(path, &length));
    struct job job = {0};
    check_form(&from, "h123", (const char *const[]){"workload/2", NULL});
    job.kind = (enum kind)check_form(&from, "kind", (const char *const[]){"requests", "mix", "page", NULL});
    job.http = read_protocol(&from);
    host_index(&job, reading_text(&from, "host"));
    job.authority = reading_has(&from, "authority") ? reading_text(&from, "authority") : NULL; /* null is unknown */
    job.address = reading_text(&from, "address");
    job.ca = reading_text(&from, "ca");
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
    if (job.kind == MIX) {
        read_mix(&from, &job);
    } else if (job.kind == PAGE) {
        read_page(&from, &job);
    } else {
        read_request(&from, &job);
    }
    job.sessions = read_sessions(&from, &job);
    reading_end(&from);
    return job;
}
