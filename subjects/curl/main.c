/* h123-curl: the load generator on libcurl. One connection of the workload is one multi handle of libcurl, and one event loop
 * in one thread drives them all; what it measures is what `curl -w` prints. */
#include <curl/curl.h>

#include "facts.h"
#include "files.h"
#include "journal.h"
#include "load.h"
#include "options.h"
#include "visits.h"
#include "workload.h"

static void check_supported(const struct workload *work)
{
    int needed = work->http == 3 ? CURL_VERSION_HTTP3 : work->http == 2 ? CURL_VERSION_HTTP2 : 0;
    if ((curl_version_info(CURLVERSION_NOW)->features & needed) != needed) {
        fail(UNSUPPORTED, "this libcurl does not speak HTTP/%d: %s", work->http, curl_version());
    }
}

int main(int count, char **words)
{
    const char *from = NULL, *to = NULL, *described = NULL, *quic = NULL;
    options_read(count, words,
                 (struct option_value[]){{"--workload", &from},
                                         {"--samples", &to},
                                         {"--facts", &described},
                                         {"--quic-congestion", &quic}, /* what the library's QUIC has */
                                         {0}});
    struct workload work = workload_read_with_pages(from);
    FILE *samples = file_to_write(to), *facts = file_to_write(described);
    curl_global_init(CURL_GLOBAL_ALL);
    check_supported(&work);
    (work.page ? visits_run : load_run)(&work);
    journal_write(samples);
    file_save(samples, to);
    facts_write(facts, work.http, quic);
    file_save(facts, described);
    journal_summary(stderr);
    return DONE;
}
