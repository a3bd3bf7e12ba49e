#define _GNU_SOURCE
#include "child.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "workload.h"

struct child child_start(char *const *arguments)
{
    struct child child;
    int ends[2];
    posix_spawn_file_actions_t actions;
    if (pipe2(ends, O_CLOEXEC) != 0) {
        fail(FAILED, "cannot make a pipe: %s", strerror(errno));
    }
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    int error = posix_spawn(&child.pid, arguments[0], &actions, NULL, arguments, environ);
    if (error) {
        fail(FAILED, "cannot start %s: %s", arguments[0], strerror(error));
    }
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    child.output = fdopen(ends[0], "r");
    return child;
}

int child_end(struct child child)
{
    int status;
    fclose(child.output);
    while (waitpid(child.pid, &status, 0) < 0 && errno == EINTR) {
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
