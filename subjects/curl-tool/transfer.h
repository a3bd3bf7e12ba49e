#ifndef H123_TRANSFER_H
#define H123_TRANSFER_H

#include <stdbool.h>

#include "journal.h"

/* What curl is asked to print of each transfer when it is over (`--write-out`), a line with tabs, handed on at once: standard
 * output itself would be written when a buffer is full. curl's %{json} has the same among fifty other variables, and takes
 * tens of microseconds, which would be a part of the rate. */
#define TRANSFER_FORMAT                                                                                                \
    "%output{>>/proc/self/fd/1}%{exitcode}\\t%{response_code}\\t%{http_version}\\t%{num_connects}\\t"                 \
    "%{size_upload}\\t%{size_download}\\t%{time_posttransfer}\\t%{time_starttransfer}\\t%{time_total}\\n"

/* Reads such a line, which came at the time `came`: curl tells how long each step took, and none of its
 * variables is a time of day (8.16 and newer have %time{}), so the transfer is taken to have ended when the line came, and its
 * other times follow. Which connection it had is not told: curl forgets that of one that others use too.
 * False: it is no such line. */
bool transfer_read(const char *line, int64_t came, struct sample *sample);

/* Sets all times that are known back. */
void transfer_set_back(struct sample *sample, int64_t by);

#endif
