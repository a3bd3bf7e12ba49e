#ifndef H123_REFUSAL_H
#define H123_REFUSAL_H

#include <stdbool.h>

#include "workload.h"

/* Whether the server refuses a TCP connection now: for programs that do not say why they got none. */
bool server_refuses(const struct workload *work);

#endif
