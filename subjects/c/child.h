#ifndef H123_CHILD_H
#define H123_CHILD_H

#include <stdio.h>
#include <sys/types.h>

/* A program that was started, whose standard output is read here. */
struct child {
    pid_t pid;
    FILE *output;
};

/* Starts a program by its path, with arguments that NULL ends. */
struct child child_start(char *const *arguments);

/* Waits for the program's end; the status as a shell would say it. */
int child_end(struct child child);

#endif
