#ifndef H123_REQUEST_H
#define H123_REQUEST_H

#include <nghttp3/nghttp3.h>
#include <stdint.h>

/* A request and its answer, which the contract of a server prescribes. */
struct request {
    char method[8], path[64]; /* cut: what is longer is asked for by no client of the contract */
    uint64_t received;        /* bytes of its body */
    uint64_t left;            /* bytes of the answer's body that are still to be sent, of the block */
    char text[24];            /* or the answer's body is this */
};

/* Takes note of a header field. */
void request_header(struct request *request, int32_t token, nghttp3_vec value);

/* Answers a request that is whole. 0, or an error of nghttp3. */
int request_answer(struct request *request, nghttp3_conn *http, int64_t stream);

#endif
