#ifndef H123_CONNECTIONS_H
#define H123_CONNECTIONS_H

#include <stdbool.h>

#include "journal.h"

/* Numbers the samples' connections from 0, in the order of their first requests, instead of as curl does; returns how many
 * there were. Where they are not `told`, because users are not on connections of their own, samples have none. */
int connections_number(struct sample *samples, int count, bool told);

#endif
