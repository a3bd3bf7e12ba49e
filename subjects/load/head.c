#define _GNU_SOURCE
#include "head.h"

#include <stdarg.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *text(const char *format, ...) __attribute__((format(printf, 1, 2)));
static char *text(const char *format, ...)
{
    char *made;
    va_list arguments;
    va_start(arguments, format);
    if (vasprintf(&made, format, arguments) < 0) {
        abort();
    }
    va_end(arguments);
    return made;
}

static struct named named(const char *name, char *value)
{
    return (struct named){(char *)name, value, strlen(name), strlen(value), false};
}

static char *authority(const struct job *job, const struct entry *entry)
{
    const char *host = job->hosts[entry->host];
    if (job->authority) {
        return job->authority;
    }
    return text(strchr(host, ':') ? "[%s]:%d" : "%s:%d", host, job->port);
}

static bool names_itself(const struct entry *entry)
{
    for (size_t i = 0; i < entry->header_count; i++) {
        if (strcmp(entry->headers[i].name, "user-agent") == 0) {
            return true;
        }
    }
    return false;
}

static void add_number(struct head *head, char *end)
{
    head->numbers = realloc(head->numbers, (head->number_count + 1) * sizeof *head->numbers);
    head->numbers[head->number_count++] = end - NUMBER_DIGITS;
}

static void add_fields(struct head *head, const struct named *fields, size_t count)
{
    head->count = count;
    head->fields2 = calloc(count, sizeof *head->fields2);
    head->fields3 = calloc(count, sizeof *head->fields3);
    for (size_t i = 0; i < count; i++) {
        const struct named *field = &fields[i];
        uint8_t *name = (uint8_t *)field->name, *value = (uint8_t *)field->value;
        /* What changes has to be copied: it changes again before it is sent. */
        uint8_t keep2 = field->changes ? 0 : NGHTTP2_NV_FLAG_NO_COPY_VALUE;
        uint8_t keep3 = field->changes ? 0 : NGHTTP3_NV_FLAG_NO_COPY_VALUE;
        head->fields2[i] = (nghttp2_nv){.name = name, .value = value, .namelen = field->name_length,
                                        .valuelen = field->value_length, .flags = NGHTTP2_NV_FLAG_NO_COPY_NAME | keep2};
        head->fields3[i] = (nghttp3_nv){.name = name, .value = value, .namelen = field->name_length,
                                        .valuelen = field->value_length, .flags = NGHTTP3_NV_FLAG_NO_COPY_NAME | keep3};
        if (field->changes) {
            add_number(head, field->value + field->value_length);
        }
    }
}

/* The fields that begin with a colon are the request line. */
static void add_text(struct head *head, const struct named *fields, size_t count)
{
    FILE *to = open_memstream(&head->text, &head->length);
    size_t *ends = calloc(count, sizeof *ends);
    fprintf(to, "%s %s HTTP/1.1\r\nhost: %s\r\n", fields[0].value, fields[3].value, fields[2].value);
    for (size_t i = 4; i < count; i++) {
        fprintf(to, "%s: %s", fields[i].name, fields[i].value);
        ends[i] = (size_t)ftell(to);
        fputs("\r\n", to);
    }
    fputs("\r\n", to);
    fclose(to);
    for (size_t i = 4; i < count; i++) {
        if (fields[i].changes) {
            add_number(head, head->text + ends[i]);
        }
    }
    free(ends);
}

static struct head make(const struct job *job, const struct entry *entry, const char *method)
{
    struct head head = {0};
    struct named *fields = calloc(entry->header_count + 6, sizeof *fields);
    size_t count = 0;
    fields[count++] = named(":method", (char *)method);
    fields[count++] = named(":scheme", "https");
    fields[count++] = named(":authority", authority(job, entry));
    fields[count++] = named(":path", entry->path);
    if (!names_itself(entry)) {
        fields[count++] = named("user-agent", "h123");
    }
    if (strcmp(method, "POST") == 0) {
        fields[count++] = named("content-length", text("%jd", (intmax_t)entry->body_bytes));
    }
    for (size_t i = 0; i < entry->header_count; i++) {
        fields[count++] = entry->headers[i];
    }
    if (job->http == 1) {
        add_text(&head, fields, count);
    } else {
        add_fields(&head, fields, count);
    }
    free(fields);
    return head;
}

struct head *heads_make(const struct job *job)
{
    struct head *heads = calloc(job->entry_count + 1, sizeof *heads);
    for (size_t i = 0; i < job->entry_count; i++) {
        heads[i] = make(job, &job->entries[i], job->entries[i].method);
    }
    heads[job->entry_count] = make(job, job->entries, "HEAD");
    return heads;
}

const struct head *head_of(struct head *heads, const struct job *job, const struct exchange *exchange)
{
    const struct sample *sample = &exchange->sample;
    struct head *head = &heads[sample->phase == EARNING ? job->entry_count : (size_t)sample->resource];
    for (size_t i = 0; i < head->number_count; i++) {
        int64_t number = exchange->number;
        for (char *digit = head->numbers[i] + NUMBER_DIGITS; digit > head->numbers[i]; number /= 10) {
            *--digit = (char)('0' + number % 10);
        }
    }
    return head;
}
