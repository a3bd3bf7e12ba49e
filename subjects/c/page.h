#ifndef H123_PAGE_H
#define H123_PAGE_H

#include <stdint.h>

#include "reading.h"

/* A header that a request has besides those that its protocol needs. */
struct header {
    char *name, *value;
};

/* What a visit asks for. */
struct resource {
    char *path;
    int host; /* an index of the page's hosts */
    struct header *headers;
    int header_count;
    int urgency;    /* the least goes first */
    int64_t run_ns; /* from its end until it asks for others */
    int asked_by;   /* its initiator; 0 of the first too, which has none */
    int first_asked, next_asked; /* by this one; by the one that asks for this one: indices of resources, 0: none */
};

/* What users visit: a document, the first of the resources, and what it asks for. */
struct page {
    struct resource *resources;
    int resource_count;
    char **hosts; /* the workload's first */
    int host_count;
    int at_once;      /* the most requests under way on a connection */
    int64_t pause_ns; /* from the end of a user's visit to its next one */
};

/* Reads what a workload of the kind `page` has beside what every one has. Ends the program as workload_read() does. */
struct page *page_read(struct reading *from, char *host);

#endif
