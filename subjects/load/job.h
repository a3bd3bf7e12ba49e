#ifndef H123_JOB_H
#define H123_JOB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum kind { REQUESTS, MIX, PAGE };
enum sessions { FULL, RESUMED, FAST_OPEN, EARLY };

enum { NUMBER_DIGITS = 12 }; /* of a header that changes: the end, which is the request's number */
enum { MOST_RETRIES = 100 };

/* A header of a request, its name in small letters. */
struct named {
    char *name, *value;
    size_t name_length, value_length;
    bool changes;
};

/* A request that is made again and again. */
struct entry {
    char *method, *path;
    int host; /* whose it is: an index of the job's hosts */
    struct named *headers; /* besides those that its protocol needs */
    size_t header_count;
    int64_t body_bytes;
    const char *content; /* of the body, repeated */
    size_t content_bytes;
    int status; /* that the answer must have; 0: any from 200 to 299 */
    int64_t think_ns;
    int64_t most;  /* bytes that an answer's body can have */
    bool compared; /* whether the answer is the block, repeated */
    int urgency;    /* of a page's resource, as is what follows: the least goes first */
    int64_t run_ns; /* from its end until it asks for others */
    int asked_by;   /* its initiator; 0 of the first too, which has none */
    int first_asked, next_asked; /* by this one; by the one that asks for this one: indices of entries, 0: none */
};

/* What the client is to do: workload.json, as docs/contracts/workload.md describes it. */
struct job {
    enum kind kind;
    int http; /* 1, 2 or 3 */
    char *address, *ca;
    const char *key_share; /* what keys are exchanged by with a subject */
    char **hosts; /* the server's names: the first, and those besides that a page's resources have */
    int host_count;
    char *authority; /* what requests call a server that is no subject, of which nothing is known; NULL: it is one */
    int port;
    int users, requests, warmup;
    double rate;     /* requests a second, at random; 0: see `due` */
    int64_t *due;    /* ns from the beginning at which each request is due; NULL, and no rate: closed loop */
    int64_t *dealt_to; /* the connection that each of these is made on; NULL: it does not matter */
    int connections; /* their number; of the kind page, that of each user to each host */
    int at_once;     /* of the kind page, the most requests under way on one */
    int64_t pause_ns; /* of the kind page, from the end of a user's visit until its next one */
    int64_t abandon_ns; /* from when a request is due that is to be given up, until then */
    bool *abandoned;    /* of each warm-up and warm request by its number, whether it is one; NULL: none is */
    int64_t retry_ns;   /* from when a request is made until it is made again, if it has no answer by then */
    int retries;        /* so often at most; 0: none is made again */
    bool cold;
    enum sessions sessions;
    int64_t timeout_ns;
    uint64_t seed;
    struct entry *entries;
    size_t entry_count;
    int *order; /* whose turn it is, over and over: indices of entries */
    size_t order_count;
};

/* Reads a workload. Ends the program where the file is wrong, or asks for what this client cannot do. */
struct job job_read(const char *path);

/* The index of a name of the server, which becomes one of the job's hosts if it is new. */
int job_host(struct job *job, char *host);

/* The whole file, ended by a zero byte. Ends the program if it cannot be read. */
char *job_file(const char *path, size_t *length);

/* How many requests, or visits of a page, each user makes once the users have started. */
static inline int job_per_user(const struct job *job) { return job->warmup + job->requests; }

/* How many requests all of them make then. */
static inline int64_t job_warm(const struct job *job)
{
    int64_t all = (int64_t)job->users * job_per_user(job);
    return job->kind == PAGE ? all * (int64_t)job->entry_count : all;
}

/* How many cold requests come before: a page has none. */
static inline int job_cold(const struct job *job) { return job->cold && job->kind != PAGE ? job->connections : 0; }

/* How many connections there can be at once. */
static inline int64_t job_seats(const struct job *job)
{
    return job->kind == PAGE ? (int64_t)job->users * job->host_count * job->connections : job->connections;
}

/* The number of a user's nth request or visit; `users` itself stands for the cold requests, one for each connection. */
static inline int64_t job_number(const struct job *job, int user, int n)
{
    return (int64_t)user * job_per_user(job) + n;
}

/* The index of the entry that the request with this number is for. */
static inline int job_resource(const struct job *job, int64_t number)
{
    if (job->kind == PAGE) {
        return (int)((size_t)number % job->entry_count);
    }
    return job->order_count ? job->order[(size_t)number % job->order_count] : 0;
}

/* The visit of its user that the request with this number is a part of; -1: of none. */
static inline int job_visit(const struct job *job, int64_t number)
{
    return job->kind == PAGE ? (int)(number / (int64_t)job->entry_count % job_per_user(job)) : -1;
}

#endif
