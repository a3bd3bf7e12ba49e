#ifndef H123_LOAD_H
#define H123_LOAD_H

#include "workload.h"

/* Carries a workload of the kind `requests` out; the journal has its requests afterwards. */
void load_run(const struct workload *work);

#endif
