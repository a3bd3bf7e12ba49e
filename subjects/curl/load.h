#ifndef H123_LOAD_H
#define H123_LOAD_H

#include "workload.h"

struct load;
struct seat;

/* Carries a workload out; the journal has its requests afterwards. */
void load_run(const struct workload *work);

/* For seats: so many of their requests have ended. */
void load_ended(struct load *load, struct seat *seat, int requests);

#endif
