#ifndef H123_ENTRIES_H
#define H123_ENTRIES_H

#include "job.h"
#include "reading.h"

/* Reads the requests that the job makes: the one of the kind requests, those of a mix, or the resources of a page. The
 * rest of the job must be read before, but for its sessions. */
void read_entries(struct reading *from, struct job *job);

#endif
