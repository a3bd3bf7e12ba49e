#ifndef H123_WORKLOAD_H
#define H123_WORKLOAD_H

#include <stdbool.h>
#include <stdint.h>

struct page;

enum exit_status { DONE = 0, FAILED = 1, BAD_INPUT = 2, UNSUPPORTED = 127 };

/* What the client is to do: workload.json, as docs/contracts/workload.md describes it. */
struct workload {
    int http; /* 1, 2 or 3 */
    bool falls_back; /* 3, and where that does not come through, 2 */
    char *host, *address, *ca, *path;
    int port;
    bool post;
    int64_t upload_bytes;
    int users, requests, warmup;
    double rate;     /* requests a second; 0: closed loop */
    int connections; /* their number... */
    bool numbered;   /* ...which was asked for as such */
    bool cold;
    int64_t timeout_ns;
    uint64_t seed;
    struct page *page; /* of the kind `page`, which has no method, path and upload_bytes; NULL: the kind is `requests` */
};

/* Reads a workload of the kind `requests`. Ends the program where the file is wrong, or asks for what this client cannot
 * do. */
struct workload workload_read(const char *path);

/* The same for a client that can do the kind `page` too. Its connections are those of a visit, to each host. */
struct workload workload_read_with_pages(const char *path);

/* The same as the first for a client that can fall back from HTTP/3 to HTTP/2. */
struct workload workload_read_with_fallback(const char *path);

/* Says why on standard error and ends the program. */
_Noreturn void fail(enum exit_status status, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
