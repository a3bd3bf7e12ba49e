#define _GNU_SOURCE
#include "journal.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

static struct sample *samples;
static size_t count, room;

void journal_add(const struct sample *sample)
{
    if (count == room) {
        room = room ? 2 * room : 1024;
        samples = realloc(samples, room * sizeof *samples);
        if (!samples) {
            abort();
        }
    }
    samples[count++] = *sample;
}

static void write_time(FILE *to, int64_t time)
{
    if (time) {
        fprintf(to, "%" PRId64, time);
    }
    fputc(',', to);
}

static void write_known(FILE *to, int number)
{
    if (number >= 0) {
        fprintf(to, "%d", number);
    }
    fputc(',', to);
}

static void write_quoted(FILE *to, const char *text)
{
    if (!*text) {
        return;
    }
    fputc('"', to);
    for (; *text; text++) {
        if (*text == '"') {
            fputc('"', to);
        }
        fputc(*text == '\n' ? ' ' : *text, to);
    }
    fputc('"', to);
}

void journal_write(FILE *to)
{
    fputs("phase,user,start_ns,connected_ns,sent_ns,first_byte_ns,end_ns,status,bytes_up,bytes_down,protocol,"
          "connection,reused,error,group,resource\n", to);
    for (const struct sample *each = samples; each < samples + count; each++) {
        fprintf(to, "%s,%d,", each->phase, each->user);
        write_time(to, each->start);
        write_time(to, each->connected);
        write_time(to, each->sent);
        write_time(to, each->first_byte);
        write_time(to, each->end);
        fprintf(to, "%ld,%" PRId64 ",%" PRId64 ",%s,", each->status, each->up, each->down, each->protocol);
        write_known(to, each->connection);
        write_known(to, each->reused);
        write_quoted(to, each->error);
        if (each->of_page) {
            fprintf(to, ",%d,%d\n", each->visit, each->resource);
        } else {
            fputs(",,\n", to);
        }
    }
}

void journal_summary(FILE *to)
{
    size_t failed = 0;
    const char *first = "";
    for (size_t i = 0; i < count; i++) {
        if (samples[i].error[0] && failed++ == 0) {
            first = samples[i].error;
        }
    }
    fprintf(to, "%s: %zu requests", program_invocation_short_name, count);
    if (failed) {
        fprintf(to, ", %zu of them failed, the first: %s", failed, first);
    }
    fputc('\n', to);
}
