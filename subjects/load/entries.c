#define _GNU_SOURCE
#include "entries.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "block.h"
#include "workload.h"

/* More bytes than an answer has that is no download, such as a count or an error's text; and more than any has. */
static const int64_t SHORT_ANSWER = 65536, LONG_ANSWER = INT64_C(1) << 40;

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
        entry->content = job_file(file, &entry->content_bytes);
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

static void read_resource(struct reading from, struct job *job, int index)
{
    struct entry *resource = &job->entries[index];
    bool document = index == 0;
    *resource = (struct entry){.method = "GET", .path = reading_text(&from, "path")};
    read_headers(&from, resource);
    resource->urgency = (int)reading_number(&from, "urgency", 0);
    resource->run_ns = (int64_t)reading_large(&from, "run_ns", 0);
    resource->host = reading_has(&from, "host") ? job_host(job, reading_text(&from, "host")) : 0; /* null: unknown */
    if (reading_has(&from, "initiator") == document) {
        fail(BAD_INPUT, "%s: initiator must be null of the first, and of no other", from.where);
    }
    resource->asked_by = document ? 0 : (int)reading_number(&from, "initiator", 0);
    reading_pass(&from, "initiator");
    reading_end(&from);
    complete(&from, resource, job);
}

/* The initiators of each resource lead to the first one. */
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
    job->pause_ns = reading_has(from, "pause_ns") ? (int64_t)reading_large(from, "pause_ns", 1) : 0; /* null: unknown */
}

void read_entries(struct reading *from, struct job *job)
{
    switch (job->kind) {
    case MIX:
        read_mix(from, job);
        break;
    case PAGE:
        read_page(from, job);
        break;
    default:
        read_request(from, job);
    }
}
