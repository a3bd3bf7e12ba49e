#ifndef H123_VISITS_H
#define H123_VISITS_H

#include "exchange.h"

struct load;

/* Users that visit a page again and again, all at once: a document, and what it asks for (the kind `page`). */
struct visits;

struct visits *visits_new(struct load *load);

void visits_begin(struct visits *visits);

/* A request of a visit has ended. */
void visits_next(struct visits *visits, const struct exchange *ended);

#endif
