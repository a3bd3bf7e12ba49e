#define _GNU_SOURCE
#include "workload.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "page.h"
#include "reading.h"

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

static int protocol(struct reading *from, bool can_fall_back, bool *falls_back)
{
    const char *value = reading_text(from, "protocol");
    *falls_back = can_fall_back && strcmp(value, "h3-or-h2") == 0;
    if (*falls_back) {
        return 3;
    }
    if (value[0] == 'h' && strchr("123", value[1]) && value[1] && !value[2]) {
        return value[1] - '0';
    }
    fail(UNSUPPORTED, "protocol %s is not supported", value);
}

/* An HTTP/1.1 connection carries one request at a time, so there sharing gives each user one. */
static int connections(struct reading *from, struct workload *of, bool only_numbers)
{
    const char *value = reading_text(from, "connections");
    if (only_numbers && atoi(value) < 1) {
        fail(BAD_INPUT, "%s: connections must be a number from 1 with the kind page, not %s", from->where, value);
    }
    if (strcmp(value, "shared") == 0) {
        return of->http == 1 ? of->users : 1;
    }
    if (strcmp(value, "per-user") == 0) {
        return of->users;
    }
    int number = atoi(value);
    if (number < 1) {
        fail(BAD_INPUT, "%s: connections must be shared, per-user or a number from 1, not %s", from->where, value);
    }
    of->numbered = true;
    return number;
}

/* What a field must be for the rest to be understood; the index of what it is. */
static int form(struct reading *from, const char *name, const char *const wanted[])
{
    const char *value = reading_has(from, name) ? reading_text(from, name) : "(none)";
    for (int i = 0; wanted[i]; i++) {
        if (strcmp(value, wanted[i]) == 0) {
            return i;
        }
    }
    fail(UNSUPPORTED, "%s: %s %s is not supported", from->where, name, value);
}

static double rate(struct reading *from)
{
    double rate = reading_has(from, "rate") ? reading_number(from, "rate", 0) : 0;
    reading_pass(from, "rate");
    return rate;
}

/* No header is sent that all requests would have. */
static void check_headers(struct reading *from)
{
    if (reading_list(from, "headers")[0]) {
        fail(UNSUPPORTED, "%s: headers is not supported", from->where);
    }
}

static void read_request(struct reading *from, struct workload *read)
{
    read->path = reading_text(from, "path");
    read->post = strcmp(reading_text(from, "method"), "POST") == 0;
    read->upload_bytes = (int64_t)reading_large(from, "upload_bytes", 0);
}

static void read_page(struct reading *from, struct workload *read)
{
    if (read->rate > 0) {
        fail(BAD_INPUT, "%s: rate must be null with the kind page", from->where);
    }
    read->page = page_read(from, read->host);
}

static struct workload read_kind(const char *path, const char *const kinds[], bool can_fall_back)
{
    struct reading from = reading_begin(path, contents(path));
    form(&from, "h123", (const char *const[]){"workload/2", NULL});
    bool page = strcmp(kinds[form(&from, "kind", kinds)], "page") == 0;
    bool falls_back;
    int http = protocol(&from, can_fall_back, &falls_back);
    struct workload read = {
        .http = http,
        .falls_back = falls_back,
        .host = reading_text(&from, "host"),
        .address = reading_text(&from, "address"),
        .ca = reading_text(&from, "ca"),
        .port = (int)reading_number(&from, "port", 1),
        .users = (int)reading_number(&from, "users", 1),
        .requests = (int)reading_number(&from, "requests", 0),
        .warmup = (int)reading_number(&from, "warmup", 0),
        .rate = rate(&from),
        .cold = reading_truth(&from, "cold"),
        .timeout_ns = (int64_t)reading_large(&from, "timeout_ns", 0),
        .seed = reading_large(&from, "seed", 0),
    };
    read.connections = connections(&from, &read, page);
    check_headers(&from);
    (page ? read_page : read_request)(&from, &read);
    reading_end(&from);
    return read;
}

struct workload workload_read(const char *path)
{
    return read_kind(path, (const char *const[]){"requests", NULL}, false);
}

struct workload workload_read_with_pages(const char *path)
{
    return read_kind(path, (const char *const[]){"requests", "page", NULL}, false);
}

struct workload workload_read_with_fallback(const char *path)
{
    return read_kind(path, (const char *const[]){"requests", NULL}, true);
}
