#ifndef H123_TRANSFER_H
#define H123_TRANSFER_H

#include <curl/curl.h>

#include "comparison.h"
#include "journal.h"
#include "page.h"
#include "workload.h"

/* A place for one request at a time: a libcurl handle and the row that its request becomes. */
struct transfer {
    CURL *easy;
    struct curl_slist *address; /* of its host */
    const struct workload *work;
    struct sample sample;
    int64_t answered;      /* when libcurl handed over the first line of the answer */
    curl_off_t connection; /* libcurl's number of it, -1 without one */
    bool compared;         /* whether the answer is the block */
    struct comparison held;
    int64_t given;         /* bytes of the body that libcurl has taken */
    struct transfer *next; /* in a list of spare ones, or of those that wait for the connection */
};

/* For requests of the kind `requests`, or for those of a page's resource. */
struct transfer *transfer_new(const struct workload *work);
struct transfer *transfer_of(const struct workload *work, const struct resource *resource);

/* Readies it for a request that was due at `start`. */
void transfer_ready(struct transfer *transfer, const char *phase, int user, int64_t start);

/* Just before its handle is added to a multi handle, which makes the request: `fresh`, if that has made none before. */
void transfer_hand_over(struct transfer *transfer, bool fresh);

/* Completes the sample, but for the connection's index, from what libcurl measured. */
void transfer_ended(struct transfer *transfer, CURLcode code);

#endif
