#define _GNU_SOURCE
#include "workload.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "json.h"

void fail(enum exit_status status, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fprintf(stderr, "%s: ", program_invocation_short_name);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
    exit(status);
}

static char *contents(const char *path)
{
    FILE *file = fopen(path, "r");
    if (!file) {
        fail(BAD_INPUT, "cannot read the workload %s: %s", path, strerror(errno));
    }
    char *text = NULL;
    size_t room = 0;
    if (getdelim(&text, &room, '\0', file) < 0) {
        fail(BAD_INPUT, "%s is empty", path);
    }
    fclose(file);
    return text;
}

/* The file's fields; those that have been asked for have no value any more. */
struct reading {
    const char *path;
    struct field *fields;
};

/* NULL if it is not there. */
static char *found(struct reading *from, const char *name)
{
    for (struct field *field = from->fields; field->name; field++) {
        if (strcmp(field->name, name) == 0 && field->value) {
            char *value = field->value;
            field->value = NULL;
            if (field->nested) {
                fail(BAD_INPUT, "%s: %s must be one value", from->path, name);
            }
            return value;
        }
    }
    return NULL;
}

static char *text(struct reading *from, const char *name)
{
    char *value = found(from, name);
    if (!value) {
        fail(BAD_INPUT, "%s: %s is missing", from->path, name);
    }
    return value;
}

static double number(struct reading *from, const char *name, double least)
{
    char *value = text(from, name), *end;
    double number = strtod(value, &end);
    if (end == value || *end || number < least) {
        fail(BAD_INPUT, "%s: %s must be a number from %g, not %s", from->path, name, least, value);
    }
    return number;
}

static int whole(struct reading *from, const char *name, int least)
{
    return (int)number(from, name, least);
}

/* A whole number too large for a double. */
static uint64_t large(struct reading *from, const char *name)
{
    char *value = text(from, name), *end;
    uint64_t number = strtoull(value, &end, 10);
    if (end == value || *end) {
        fail(BAD_INPUT, "%s: %s must be a whole number, not %s", from->path, name, value);
    }
    return number;
}

static double rate(struct reading *from)
{
    char *value = text(from, "rate");
    return strcmp(value, "null") == 0 ? 0 : strtod(value, NULL);
}

static int protocol(struct reading *from)
{
    char *value = text(from, "protocol");
    if (value[0] == 'h' && strchr("123", value[1]) && value[1] && !value[2]) {
        return value[1] - '0';
    }
    fail(UNSUPPORTED, "protocol %s is not supported", value);
}

/* An HTTP/1.1 connection carries one request at a time, so there sharing gives each user one. */
static int connections(struct reading *from, struct workload *of)
{
    char *value = text(from, "connections");
    if (strcmp(value, "shared") == 0) {
        return of->http == 1 ? of->users : 1;
    }
    if (strcmp(value, "per-user") == 0) {
        return of->users;
    }
    int number = atoi(value);
    if (number < 1) {
        fail(BAD_INPUT, "%s: connections must be shared, per-user or a number from 1, not %s", from->path, value);
    }
    of->numbered = true;
    return number;
}

/* Nothing that is asked for and not known is passed over, and no header is sent that a workload names. */
static void check_rest(const struct reading *from)
{
    for (const struct field *field = from->fields; field->name; field++) {
        bool none = field->value && strcmp(field->name, "headers") == 0 && strcmp(field->value, "[]") == 0;
        if (field->value && !none) {
            fail(UNSUPPORTED, "%s: %s is not supported", from->path, field->name);
        }
    }
}

/* What a field must be for the rest to be understood. */
static void check_form(struct reading *from, const char *name, const char *wanted)
{
    const char *value = found(from, name);
    if (!value || strcmp(value, wanted) != 0) {
        fail(UNSUPPORTED, "%s: %s %s is not supported, only %s", from->path, name, value ? value : "(none)", wanted);
    }
}

struct workload workload_read(const char *path)
{
    struct reading from = {path, json_fields(contents(path))};
    if (!from.fields) {
        fail(BAD_INPUT, "%s is not a JSON object", path);
    }
    check_form(&from, "h123", "workload/2");
    check_form(&from, "kind", "requests");
    struct workload read = {
        .http = protocol(&from),
        .host = text(&from, "host"),
        .address = text(&from, "address"),
        .ca = text(&from, "ca"),
        .path = text(&from, "path"),
        .port = whole(&from, "port", 1),
        .post = strcmp(text(&from, "method"), "POST") == 0,
        .upload_bytes = (int64_t)large(&from, "upload_bytes"),
        .users = whole(&from, "users", 1),
        .requests = whole(&from, "requests", 0),
        .warmup = whole(&from, "warmup", 0),
        .rate = rate(&from),
        .cold = strcmp(text(&from, "cold"), "true") == 0,
        .timeout_ns = (int64_t)large(&from, "timeout_ns"),
        .seed = large(&from, "seed"),
    };
    read.connections = connections(&from, &read);
    check_rest(&from);
    return read;
}
