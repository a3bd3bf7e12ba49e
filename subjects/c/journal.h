#ifndef H123_JOURNAL_H
#define H123_JOURNAL_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* One request: a row of samples.csv. Times are of the monotonic clock, 0 where unknown. */
struct sample {
    const char *phase;
    int user;
    int64_t start, connected, sent, first_byte, end;
    long status;
    int64_t up, down;
    const char *protocol;
    int connection; /* -1 without one */
    int reused; /* whether the connection had served a request before; -1: not known */
    char error[128];
    bool of_page; /* so that it has these: */
    int visit, resource;
};

/* Keeps a finished request, in memory: writing while measuring would take processor time from the server. */
void journal_add(const struct sample *sample);

/* Writes samples.csv. */
void journal_write(FILE *to);

/* Says in one line what became of the requests. */
void journal_summary(FILE *to);

#endif
