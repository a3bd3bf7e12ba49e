#ifndef H123_VISITS_H
#define H123_VISITS_H

#include "workload.h"

/* Has users visit a page again and again, all at once (the kind `page`); the journal has their requests afterwards. */
void visits_run(const struct workload *work);

#endif
