#ifndef H123_ANSWER_H
#define H123_ANSWER_H

#include "exchange.h"

/* An answer of HTTP/1.1 on its way in. All zero, it is at its beginning. */
struct answer {
    enum { STATUS, FIELDS, FIXED, CHUNK_SIZE, CHUNK, CHUNK_END, TRAILERS, UNTIL_CLOSE, WHOLE } state;
    int64_t left; /* of the body, or of the chunk */
    size_t header; /* bytes of lines so far */
    bool chunked, closes;
    char *line; /* of which only the beginning has come */
    size_t length;
};

/* Takes what has come for the exchange, and says how much of it was the answer's; -1: it is none. */
ssize_t answer_take(struct answer *answer, struct exchange *exchange, const uint8_t *bytes, size_t length);

/* Makes it ready for the next one. */
void answer_clear(struct answer *answer);

#endif
