#ifndef H123_COMPARISON_H
#define H123_COMPARISON_H

#include <stdbool.h>
#include <stddef.h>

/* A body on its way in, held against the block of the contract, repeated. All zero, it is at its beginning. */
struct comparison {
    size_t at; /* in the block */
    bool wrong;
};

/* Whether the answer to GET for this path is the block, repeated and cut. */
bool comparison_is_for(const char *path);

/* Makes the block now, so that no request has to wait for it. */
void comparison_prepare(void);

/* The next piece. What differs shows in the body's end. */
void comparison_take(struct comparison *comparison, const char *piece, size_t length);

#endif
