/* curl's command line, as its own scorecard has it: one URL with a range, all at once or one after the other, nothing
 * saved. What is added makes its handshakes those of other clients here, and keeps the machine's settings out. */
#define _GNU_SOURCE
#include "command.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "transfer.h"

enum { MOST_WORDS = 64 };

struct words {
    char *list[MOST_WORDS + 1];
    int count;
};

static void add(struct words *to, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void add(struct words *to, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    if (to->count == MOST_WORDS || vasprintf(&to->list[to->count++], format, arguments) < 0) {
        abort();
    }
    va_end(arguments);
}

static void add_option(struct words *to, const char *name, const char *value)
{
    add(to, "%s", name);
    add(to, "%s", value);
}

static void add_target(struct words *to, const struct workload *work)
{
    static const char *versions[] = {"", "--http1.1", "--http2", "--http3-only"};
    add(to, "%s", work->falls_back ? "--http3" : versions[work->http]);
    add_option(to, "--cacert", work->ca);
    add_option(to, "--noproxy", "*");
    add(to, "--resolve");
    add(to, "%s:%d:%s", work->host, work->port, work->address);
    add(to, "--max-time");
    add(to, "%.3f", (double)work->timeout_ns / 1e9);
}

/* As other clients here: TLS 1.3, X25519, AES-128, and every handshake a full one. */
static void add_tls(struct words *to, const char *ciphers)
{
    add(to, "--tlsv1.3");
    add_option(to, "--curves", "X25519");
    if (strcmp(ciphers, "own") != 0) {
        add_option(to, "--tls13-ciphers", ciphers);
    }
    add(to, "--no-sessionid");
}

static void add_upload(struct words *to, const char *file)
{
    add_option(to, "--upload-file", file);
    add_option(to, "--request", "POST");
    add_option(to, "--header", "content-type: application/octet-stream");
    /* curl would first ask whether it may send a large body: a round trip that other clients do not make. */
    add_option(to, "--header", "expect:");
}

int command_requests(const struct workload *work) { return work->users * (work->warmup + work->requests); }

char **command_of(const struct workload *work, const struct tool *tool, const char *upload)
{
    struct words *words = calloc(1, sizeof *words);
    add(words, "%s", tool->run);
    add(words, "%s", tool->curl);
    add(words, "--disable"); /* no settings of whoever runs it; it has to come first */
    add(words, "--silent");
    add(words, "--show-error");
    add(words, "--path-as-is");
    add_target(words, work);
    add_tls(words, tool->ciphers);
    add_option(words, "--user-agent", "h123");
    add_option(words, "--output", "/dev/null");
    add_option(words, "--write-out", TRANSFER_FORMAT);
    if (work->users > 1) {
        add(words, "--parallel");
        add(words, "--parallel-max");
        add(words, "%d", work->users);
    }
    if (work->post) {
        add_upload(words, upload);
    }
    /* A range behind #, which no server is told of: all requests are for the path that the workload has. */
    add(words, "https://%s:%d%s#[1-%d]", work->host, work->port, work->path, command_requests(work));
    return words->list;
}
