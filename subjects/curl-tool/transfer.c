#include "transfer.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* curl's statuses, as its manual has them. */
enum {
    PROTOCOL_UNKNOWN = 1,
    NO_CONNECTION = 7,
    STRANGE_REPLY = 8,
    HTTP2_ERROR = 16,
    CUT_SHORT = 18,
    TIMED_OUT = 28,
    NO_HANDSHAKE = 35,
    NOTHING_CAME = 52,
    NOT_SENT = 55,
    NOT_RECEIVED = 56,
    BAD_CERTIFICATE = 58,
    BAD_CIPHER = 59,
    UNTRUSTED = 60,
    STREAM_RESET = 92,
    HTTP3_ERROR = 95
};

/* The contract's word for a failure, or NULL where it has none. */
static const char *word(int status)
{
    switch (status) {
    case NO_CONNECTION:
        return "refused";
    case TIMED_OUT:
        return "timeout";
    case NO_HANDSHAKE:
    case BAD_CERTIFICATE:
    case BAD_CIPHER:
    case UNTRUSTED:
        return "tls";
    case CUT_SHORT:
    case NOTHING_CAME:
    case NOT_SENT:
    case NOT_RECEIVED:
    case STREAM_RESET:
        return "reset";
    case PROTOCOL_UNKNOWN:
    case STRANGE_REPLY:
    case HTTP2_ERROR:
    case HTTP3_ERROR:
        return "protocol";
    default:
        return NULL;
    }
}

static void set_error(struct sample *sample, int status)
{
    const char *known = word(status);
    if (status != 0 && known) {
        snprintf(sample->error, sizeof sample->error, "%s", known);
    } else if (status != 0) {
        snprintf(sample->error, sizeof sample->error, "other: curl's status %d", status);
    } else if (sample->status < 200 || sample->status > 299) {
        snprintf(sample->error, sizeof sample->error, "other: status %ld", sample->status);
    }
}

static const char *protocol(const char *version)
{
    return strcmp(version, "1.1") == 0 ? "h1" : strcmp(version, "2") == 0 ? "h2" : strcmp(version, "3") == 0 ? "h3" : "";
}

/* The time at `seconds` after the transfer's beginning, no later than something that came of it; 0, unknown, where curl did
 * not get there. */
static int64_t after(int64_t start, double seconds, int64_t latest)
{
    int64_t at = start + (int64_t)(seconds * 1e9);
    return seconds <= 0 ? 0 : latest && at > latest ? latest : at;
}

bool transfer_read(const char *line, int64_t came, struct sample *sample)
{
    char version[8];
    int status, dials;
    double sent, answered, took;
    *sample = (struct sample){.end = came};
    if (sscanf(line, "%d\t%ld\t%7[0-9.]\t%d\t%" SCNd64 "\t%" SCNd64 "\t%lf\t%lf\t%lf", &status, &sample->status, version,
               &dials, &sample->up, &sample->down, &sent, &answered, &took) != 9) {
        return false;
    }
    sample->start = came - (int64_t)(took * 1e9);
    sample->first_byte = after(sample->start, answered, came);
    /* An upload may be answered before it has been sent. */
    sample->sent = after(sample->start, sent, sample->up > 0 ? came : sample->first_byte);
    sample->protocol = protocol(version);
    sample->connection = -1;
    sample->reused = sample->protocol[0] && dials == 0;
    set_error(sample, status);
    return true;
}

void transfer_set_back(struct sample *sample, int64_t by)
{
    sample->start -= by;
    sample->end -= by;
    sample->first_byte -= sample->first_byte ? by : 0;
    sample->sent -= sample->sent ? by : 0;
}
