/* h123-load: the load generator for HTTP/1.1, HTTP/2 and HTTP/3 with the least processor time: one event loop, one TLS
 * library, one send for each connection and turn. */
#include <stdlib.h>
#include <string.h>

#include "block.h"
#include "files.h"
#include "load.h"
#include "options.h"
#include "workload.h"

enum { LEAST_DATAGRAM = 1200, LARGEST_DATAGRAM = 1452 };

static struct sending read_sending(const char *congestion, const char *max_datagram)
{
    struct sending sending = {.congestion = congestion, .max_datagram = (size_t)atoi(max_datagram)};
    if (strcmp(congestion, "cubic") != 0 && strcmp(congestion, "reno") != 0 && strcmp(congestion, "bbr") != 0) {
        fail(UNSUPPORTED, "congestion control %s is not supported", congestion);
    }
    if (*max_datagram && (sending.max_datagram < LEAST_DATAGRAM || sending.max_datagram > LARGEST_DATAGRAM)) {
        fail(UNSUPPORTED, "datagrams of %s bytes are not supported, only %d to %d", max_datagram, LEAST_DATAGRAM,
             LARGEST_DATAGRAM);
    }
    return sending;
}

int main(int count, char **words)
{
    const char *from = NULL, *to = NULL, *described = NULL, *congestion = NULL, *max_datagram = NULL;
    options_read(count, words,
                 (struct option_value[]){{"--workload", &from},
                                         {"--samples", &to},
                                         {"--facts", &described},
                                         {"--congestion", &congestion},
                                         {"--max-datagram", &max_datagram},
                                         {0}});
    block_make();
    struct job job = job_read(from);
    struct sending sending = read_sending(congestion, max_datagram);
    FILE *samples = file_to_write(to), *facts = file_to_write(described);
    struct load *load = load_run(&job, &sending);
    record_write(load->record, samples);
    file_save(samples, to);
    facts_write(&load->facts, facts);
    file_save(facts, described);
    record_summary(load->record, stderr);
    return DONE;
}
