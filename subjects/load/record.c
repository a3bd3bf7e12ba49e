/* The record of a run costs a few stores a request while it lasts, and the text is made afterwards. */
#define _GNU_SOURCE
#include "record.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct record {
    size_t count;
    bool tells_tries;
    int64_t *start, *connected, *sent, *first_byte, *end, *up, *down;
    int32_t *user, *visit, *resource, *connection;
    uint16_t *status;
    uint8_t *phase, *protocol, *reused, *tries;
    const char **error;
    uint32_t *late, *held; /* LONGEST stands for more */
};

enum { ROW = 512, CHUNK = 1 << 18 };

static const int64_t LONGEST = UINT32_MAX; /* 4.3 s */

struct record *record_new(size_t room, bool tries)
{
    struct record *record = calloc(1, sizeof *record);
    record->tells_tries = tries;
#define COLUMN(name) (record->name = calloc(room, sizeof *record->name))
    if (!COLUMN(start) || !COLUMN(connected) || !COLUMN(sent) || !COLUMN(first_byte) || !COLUMN(end) || !COLUMN(up) ||
        !COLUMN(down) || !COLUMN(user) || !COLUMN(visit) || !COLUMN(resource) || !COLUMN(connection) || !COLUMN(status) ||
        !COLUMN(phase) || !COLUMN(protocol) || !COLUMN(reused) || !COLUMN(tries) || !COLUMN(error) || !COLUMN(late) ||
        !COLUMN(held)) {
        abort();
    }
#undef COLUMN
    return record;
}

void record_add(struct record *record, const struct sample *sample)
{
    size_t row = record->count++;
    record->start[row] = sample->start;
    record->connected[row] = sample->connected;
    record->sent[row] = sample->sent;
    record->first_byte[row] = sample->first_byte;
    record->end[row] = sample->end;
    record->up[row] = sample->up;
    record->down[row] = sample->down;
    record->user[row] = sample->user;
    record->visit[row] = sample->visit;
    record->resource[row] = sample->resource;
    record->connection[row] = sample->connection;
    record->status[row] = (uint16_t)sample->status;
    record->phase[row] = (uint8_t)sample->phase;
    record->protocol[row] = (uint8_t)sample->protocol;
    record->reused[row] = (uint8_t)sample->reused;
    record->tries[row] = (uint8_t)sample->tries;
    record->error[row] = sample->error;
    record->late[row] = (uint32_t)(sample->late < LONGEST ? sample->late : LONGEST);
    record->held[row] = (uint32_t)(sample->held < LONGEST ? sample->held : LONGEST);
}

static int by_size(const void *a, const void *b)
{
    uint64_t first = *(const uint64_t *)a, second = *(const uint64_t *)b;
    return (first > second) - (first < second);
}

static struct spread spread_of(uint64_t *values, size_t count)
{
    if (!count) {
        return (struct spread){0};
    }
    qsort(values, count, sizeof *values, by_size);
    return (struct spread){(int64_t)values[(count - 1) / 2], (int64_t)values[(count - 1) * 99 / 100],
                           (int64_t)values[count - 1]};
}

struct own_delay record_delay(const struct record *record)
{
    uint64_t *values = malloc((record->count + 1) * sizeof *values);
    struct own_delay delay;
    struct spread *const spreads[] = {&delay.late, &delay.held, &delay.both};
    for (int which = 0; which < 3; which++) {
        size_t count = 0;
        for (size_t row = 0; row < record->count; row++) {
            if (record->phase[row] == WARM && !record->error[row]) {
                values[count++] = (which != 1 ? (uint64_t)record->late[row] : 0) +
                                  (which != 0 ? (uint64_t)record->held[row] : 0);
            }
        }
        *spreads[which] = spread_of(values, count);
    }
    free(values);
    return delay;
}

static char *put_text(char *to, const char *text)
{
    size_t length = strlen(text);
    memcpy(to, text, length);
    return to + length;
}

static char *put_number(char *to, int64_t number)
{
    char digits[20], *at = digits + sizeof digits;
    do {
        *--at = (char)('0' + number % 10);
    } while (number /= 10);
    size_t length = (size_t)(digits + sizeof digits - at);
    memcpy(to, at, length);
    to[length] = ',';
    return to + length + 1;
}

/* A time, or nothing where it is not known. */
static char *put_time(char *to, int64_t time)
{
    if (time) {
        return put_number(to, time);
    }
    *to = ',';
    return to + 1;
}

/* An index, or nothing where there is none. */
static char *put_index(char *to, int32_t index) { return index < 0 ? put_text(to, ",") : put_number(to, index); }

/* As CSV wants it, in one line, and cut where it is long. */
static char *put_quoted(char *to, const char *text)
{
    *to++ = '"';
    for (int left = ROW / 4; *text && left; text++, left--) {
        if (*text == '"') {
            *to++ = '"';
        }
        *to++ = (unsigned char)*text < ' ' ? ' ' : *text;
    }
    *to++ = '"';
    return to;
}

static char *put_row(const struct record *of, size_t row, char *to)
{
    static const char *const phases[] = {"", "cold,", "warmup,", "warm,", "leaving,"};
    static const char *const protocols[] = {",", "h1,", "h2,", "h3,"};
    to = put_text(to, phases[of->phase[row]]);
    to = put_number(to, of->user[row]);
    to = put_time(to, of->start[row]);
    to = put_time(to, of->connected[row]);
    to = put_time(to, of->sent[row]);
    to = put_time(to, of->first_byte[row]);
    to = put_time(to, of->end[row]);
    to = put_number(to, of->status[row]);
    to = put_number(to, of->up[row]);
    to = put_number(to, of->down[row]);
    to = put_text(to, protocols[of->protocol[row]]);
    to = put_index(to, of->connection[row]);
    to = put_number(to, of->reused[row]);
    if (of->error[row]) {
        to = put_quoted(to, of->error[row]);
    }
    *to++ = ',';
    to = put_index(to, of->visit[row]);
    to = put_number(to, of->resource[row]);
    if (of->tells_tries) {
        to = put_number(to, of->tries[row]);
    }
    to[-1] = '\n';
    return to;
}

void record_write(const struct record *record, FILE *to)
{
    char *chunk = malloc(CHUNK), *at = chunk;
    fputs("phase,user,start_ns,connected_ns,sent_ns,first_byte_ns,end_ns,status,bytes_up,bytes_down,protocol,"
          "connection,reused,error,group,resource", to);
    fputs(record->tells_tries ? ",tries\n" : "\n", to);
    for (size_t row = 0; row < record->count; row++) {
        at = put_row(record, row, at);
        if (at > chunk + CHUNK - ROW) {
            fwrite(chunk, 1, (size_t)(at - chunk), to);
            at = chunk;
        }
    }
    fwrite(chunk, 1, (size_t)(at - chunk), to);
    free(chunk);
}

void record_summary(const struct record *record, FILE *to)
{
    size_t failed = 0;
    const char *first = "";
    for (size_t row = 0; row < record->count; row++) {
        if (record->error[row] && record->error[row] != ABANDONED && failed++ == 0) {
            first = record->error[row];
        }
    }
    fprintf(to, "%s: %zu requests", program_invocation_short_name, record->count);
    if (failed) {
        fprintf(to, ", %zu of them failed, the first: %s", failed, first);
    }
    fputc('\n', to);
}
