#ifndef H123_HEAD_H
#define H123_HEAD_H

#include <nghttp2/nghttp2.h>
#include <nghttp3/nghttp3.h>

#include "exchange.h"
#include "job.h"

/* What goes before a request's body, made once, in the form that the job's protocol takes. */
struct head {
    nghttp2_nv *fields2;
    nghttp3_nv *fields3;
    size_t count; /* of the fields */
    char *text;   /* of HTTP/1.1 */
    size_t length;
    char **numbers; /* where the request's number stands in it */
    size_t number_count;
};

/* Of each of the job's entries; behind them that of the request that earns a session, which moves no body. */
struct head *heads_make(const struct job *job);

/* The one of an exchange, its number in it. It is good until the next one is asked for. */
const struct head *head_of(struct head *heads, const struct job *job, const struct exchange *exchange);

#endif
