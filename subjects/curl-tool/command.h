#ifndef H123_COMMAND_H
#define H123_COMMAND_H

#include "workload.h"

/* The curl that is asked to do it. */
struct tool {
    const char *run;     /* starts a program on its own libraries */
    const char *curl;    /* the program */
    const char *ciphers; /* of TLS 1.3, to be offered; "own": those that it has by itself */
};

/* Requests that the workload comes to. */
int command_requests(const struct workload *work);

/* The command line that makes them; `upload` is the file to upload. */
char **command_of(const struct workload *work, const struct tool *tool, const char *upload);

#endif
