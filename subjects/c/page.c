#define _GNU_SOURCE
#include "page.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "workload.h"

/* Readies the reading of a list's element. */
static struct reading element(const struct reading *from, const char *list, int index, const char *text)
{
    char *where;
    if (asprintf(&where, "%s: %s[%d]", from->where, list, index) < 0) {
        abort();
    }
    return reading_begin(where, text);
}

static struct header read_header(struct reading from)
{
    struct header header = {reading_text(&from, "name"), reading_text(&from, "value")};
    if (reading_truth(&from, "changes")) {
        fail(UNSUPPORTED, "%s: a page's header that changes is not supported", from.where);
    }
    reading_end(&from);
    return header;
}

static void read_headers(struct reading *from, struct resource *resource)
{
    char **list = reading_list(from, "headers");
    for (int i = 0; list[i]; i++) {
        resource->headers = realloc(resource->headers, (size_t)(i + 1) * sizeof *resource->headers);
        resource->headers[i] = read_header(element(from, "headers", i, list[i]));
        resource->header_count = i + 1;
    }
}

static int host_index(struct page *page, char *host)
{
    for (int i = 0; i < page->host_count; i++) {
        if (strcmp(page->hosts[i], host) == 0) {
            return i;
        }
    }
    page->hosts = realloc(page->hosts, (size_t)(page->host_count + 1) * sizeof *page->hosts);
    page->hosts[page->host_count] = host;
    return page->host_count++;
}

static struct resource read_resource(struct page *page, struct reading from, bool document)
{
    struct resource resource = {.path = reading_text(&from, "path")};
    read_headers(&from, &resource);
    resource.urgency = (int)reading_number(&from, "urgency", 0);
    resource.run_ns = (int64_t)reading_large(&from, "run_ns", 0);
    if (reading_has(&from, "host")) { /* a null is unknown */
        resource.host = host_index(page, reading_text(&from, "host"));
    }
    if (reading_has(&from, "initiator") == document) {
        fail(BAD_INPUT, "%s: initiator must be null of the first, and of no other", from.where);
    }
    resource.asked_by = document ? 0 : (int)reading_number(&from, "initiator", 0);
    reading_pass(&from, "initiator");
    reading_end(&from);
    return resource;
}

/* Each resource is asked for by one that is, in the end, asked for by the first. */
static void check_initiators(const struct reading *from, const struct page *page)
{
    for (int i = 0; i < page->resource_count; i++) {
        int at = i;
        for (int steps = 0; at && steps < page->resource_count; steps++) {
            at = page->resources[at].asked_by;
            if (at >= page->resource_count) {
                fail(BAD_INPUT, "%s: page[%d]: initiator must be an index of page", from->where, i);
            }
        }
        if (at) {
            fail(BAD_INPUT, "%s: page[%d]: initiator must lead to the first, not round in a circle", from->where, i);
        }
    }
}

/* From the end, so that each comes before those after it. */
static void link_asked(struct page *page)
{
    for (int i = page->resource_count; --i > 0;) {
        struct resource *resource = &page->resources[i], *initiator = &page->resources[resource->asked_by];
        resource->next_asked = initiator->first_asked;
        initiator->first_asked = i;
    }
}

struct page *page_read(struct reading *from, char *host)
{
    struct page *page = calloc(1, sizeof *page);
    char **list = reading_list(from, "page");
    host_index(page, host);
    for (int i = 0; list[i]; i++) {
        page->resources = realloc(page->resources, (size_t)(i + 1) * sizeof *page->resources);
        page->resources[i] = read_resource(page, element(from, "page", i, list[i]), i == 0);
        page->resource_count = i + 1;
    }
    if (!page->resource_count) {
        fail(BAD_INPUT, "%s: page must have a document", from->where);
    }
    check_initiators(from, page);
    link_asked(page);
    page->at_once = (int)reading_number(from, "at_once", 1);
    page->pause_ns = reading_has(from, "pause_ns") ? (int64_t)reading_large(from, "pause_ns", 1) : 0;
    return page;
}
