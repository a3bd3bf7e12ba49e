/* One request. libcurl measures its steps from the request's beginning; they become times of the monotonic clock by the
 * one step that is seen from here too: the moment at which it hands over the answer's first line. */
#define _GNU_SOURCE
#include "transfer.h"

#include <errno.h>
#include <openssl/ssl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "clock.h"
#include "facts.h"
#include "noise.h"

enum {
    READ_BUFFER = 102400,   /* the curl tool's, instead of the library's 16 KiB */
    SOCKET_BUFFER = 7500000 /* of QUIC: as far as the machine allows, and as others set */
};

static size_t on_body(char *bytes, size_t size, size_t count, void *transfer)
{
    struct transfer *self = transfer;
    if (self->compared) {
        comparison_take(&self->held, bytes, size * count);
    }
    return size * count;
}

static size_t on_header(char *line, size_t size, size_t count, void *transfer)
{
    (void)line;
    struct transfer *self = transfer;
    if (!self->answered) {
        self->answered = now();
    }
    return size * count;
}

/* libcurl has a connection for the request, its handshake complete. It forgets the number of one that others use too. */
static int on_connection(void *transfer, char *to, char *from, int to_port, int from_port)
{
    (void)to, (void)from, (void)to_port, (void)from_port;
    struct transfer *self = transfer;
    curl_easy_getinfo(self->easy, CURLINFO_CONN_ID, &self->connection);
    if (strcmp(self->sample.phase, "cold") == 0) {
        self->sample.connected = now();
    }
    return CURL_PREREQFUNC_OK;
}

/* libcurl leaves its sockets the kernel's own buffer, which a burst of datagrams overflows. */
static int on_udp_socket(void *nothing, curl_socket_t socket, curlsocktype purpose)
{
    (void)nothing, (void)purpose;
    const int room = SOCKET_BUFFER;
    setsockopt(socket, SOL_SOCKET, SO_RCVBUF, &room, sizeof room);
    return CURL_SOCKOPT_OK;
}

static size_t on_upload(char *to, size_t size, size_t count, void *transfer)
{
    struct transfer *self = transfer;
    int64_t position = self->given % NOISE, wanted = (int64_t)(size * count);
    int64_t left = self->work->upload_bytes - self->given;
    int64_t part = NOISE - position < wanted ? NOISE - position : wanted;
    if (part > left) {
        part = left;
    }
    memcpy(to, noise() + position, (size_t)part);
    self->given += part;
    return (size_t)part;
}

static int on_rewind(void *transfer, curl_off_t offset, int origin)
{
    struct transfer *self = transfer;
    if (origin != SEEK_SET) {
        return CURL_SEEKFUNC_CANTSEEK;
    }
    self->given = offset;
    return CURL_SEEKFUNC_OK;
}

#define SET(option, value)                                                                                             \
    do {                                                                                                               \
        CURLcode code = curl_easy_setopt(self->easy, option, value);                                                   \
        if (code != CURLE_OK) {                                                                                        \
            fail(FAILED, "libcurl does not take " #option ": %s", curl_easy_strerror(code));                           \
        }                                                                                                              \
    } while (0)

static char *printed(const char *format, ...)
{
    va_list arguments;
    char *text;
    va_start(arguments, format);
    if (vasprintf(&text, format, arguments) < 0) {
        abort();
    }
    va_end(arguments);
    return text;
}

static void set_target(struct transfer *self, const char *host, const char *path)
{
    const struct workload *work = self->work;
    static const long versions[] = {0, CURL_HTTP_VERSION_1_1, CURL_HTTP_VERSION_2_PRIOR_KNOWLEDGE,
                                    CURL_HTTP_VERSION_3ONLY};
    char *url = printed("https://%s:%d%s", host, work->port, path);
    char *address = printed("%s:%d:%s", host, work->port, work->address);
    self->address = curl_slist_append(NULL, address);
    SET(CURLOPT_URL, url); /* of which libcurl makes a copy */
    free(url);
    free(address);
    SET(CURLOPT_PROXY, "");
    SET(CURLOPT_HTTP_VERSION, versions[work->http]);
    SET(CURLOPT_PIPEWAIT, (long)(work->http > 1));
}

/* As other clients here: TLS 1.3, X25519, AES-128, and every handshake a full one. */
static void set_tls(struct transfer *self)
{
    SET(CURLOPT_CAINFO, self->work->ca);
    SET(CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_3);
    SET(CURLOPT_SSL_EC_CURVES, "X25519");
#ifndef OPENSSL_IS_BORINGSSL /* which lets nobody choose among the ciphers of TLS 1.3 */
    SET(CURLOPT_TLS13_CIPHERS, "TLS_AES_128_GCM_SHA256");
#endif
    SET(CURLOPT_SSL_SESSIONID_CACHE, 0L);
}

static void set_callbacks(struct transfer *self)
{
    SET(CURLOPT_PRIVATE, self);
    SET(CURLOPT_WRITEFUNCTION, on_body);
    SET(CURLOPT_WRITEDATA, self);
    SET(CURLOPT_HEADERFUNCTION, on_header);
    SET(CURLOPT_HEADERDATA, self);
    SET(CURLOPT_PREREQFUNCTION, on_connection);
    SET(CURLOPT_PREREQDATA, self);
    SET(CURLOPT_BUFFERSIZE, (long)READ_BUFFER);
    SET(CURLOPT_NOSIGNAL, 1L);
    if (self->work->http == 3) { /* only, so that no socket is TCP's */
        SET(CURLOPT_SOCKOPTFUNCTION, on_udp_socket);
    }
    facts_watch(self->easy);
}

static void set_upload(struct transfer *self)
{
    SET(CURLOPT_POST, 1L);
    SET(CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)self->work->upload_bytes);
    SET(CURLOPT_READFUNCTION, on_upload);
    SET(CURLOPT_READDATA, self);
    SET(CURLOPT_SEEKFUNCTION, on_rewind);
    SET(CURLOPT_SEEKDATA, self);
}

static struct transfer *make(const struct workload *work, const char *host, const char *path)
{
    struct transfer *self = calloc(1, sizeof *self);
    self->work = work;
    self->compared = !work->post && comparison_is_for(path);
    self->easy = curl_easy_init();
    set_target(self, host, path);
    set_tls(self);
    set_callbacks(self);
    SET(CURLOPT_USERAGENT, "h123");
    comparison_prepare();
    return self;
}

struct transfer *transfer_new(const struct workload *work)
{
    struct transfer *self = make(work, work->host, work->path);
    struct curl_slist *headers = curl_slist_append(NULL, "Content-Type: application/octet-stream");
    /* curl would first ask whether it may send a large body: a round trip that other clients do not make. */
    headers = curl_slist_append(headers, "Expect:");
    if (work->post) {
        set_upload(self);
        SET(CURLOPT_HTTPHEADER, headers);
    } else {
        curl_slist_free_all(headers);
    }
    noise();
    return self;
}

struct transfer *transfer_of(const struct workload *work, const struct resource *resource)
{
    struct transfer *self = make(work, work->page->hosts[resource->host], resource->path);
    struct curl_slist *headers = NULL;
    for (const struct header *header = resource->headers; header < resource->headers + resource->header_count; header++) {
        /* curl's way to say that a header has no value; with a colon it would be none. */
        char *line = printed(*header->value ? "%s: %s" : "%s;", header->name, header->value);
        headers = curl_slist_append(headers, line);
        free(line);
    }
    SET(CURLOPT_HTTPHEADER, headers);
    return self;
}

void transfer_ready(struct transfer *self, const char *phase, int user, int64_t start)
{
    self->sample = (struct sample){.phase = phase, .user = user, .start = start, .protocol = "", .connection = -1};
    self->answered = 0;
    self->connection = -1;
    self->held = (struct comparison){0};
    self->given = 0;
}

/* libcurl tells a multi handle of an address once for each time that it is set, and the multi handle keeps it. How much of the
 * request's time is left, it has to know too. */
void transfer_hand_over(struct transfer *self, bool fresh)
{
    if (fresh) {
        SET(CURLOPT_RESOLVE, self->address);
    }
    int64_t left = (self->work->timeout_ns - (now() - self->sample.start)) / 1000000;
    long milliseconds = left < 1 ? 1 : (long)left;
    SET(CURLOPT_TIMEOUT_MS, milliseconds);
    SET(CURLOPT_CONNECTTIMEOUT_MS, milliseconds);
}

static curl_off_t measured(CURL *easy, CURLINFO what)
{
    curl_off_t value = 0;
    curl_easy_getinfo(easy, what, &value);
    return value;
}

static void set_times(struct transfer *self, CURLcode code)
{
    struct sample *sample = &self->sample;
    sample->end = now();
    sample->first_byte = self->answered;
    if (!self->answered) {
        return;
    }
    int64_t begun = self->answered - 1000 * measured(self->easy, CURLINFO_STARTTRANSFER_TIME_T);
    int64_t sent = begun + 1000 * measured(self->easy, CURLINFO_POSTTRANSFER_TIME_T);
    if (sent > begun) {
        sample->sent = sent < self->answered ? sent : self->answered;
    }
    int64_t end = begun + 1000 * measured(self->easy, CURLINFO_TOTAL_TIME_T);
    if (code == CURLE_OK && end < sample->end) {
        sample->end = end < self->answered ? self->answered : end;
    }
}

static const char *protocol(long version)
{
    return version == CURL_HTTP_VERSION_1_1 ? "h1"
           : version == CURL_HTTP_VERSION_2_0 ? "h2"
           : version == CURL_HTTP_VERSION_3   ? "h3"
                                              : "";
}

/* The contract's word for a failure, or NULL where it has none. The QUIC libraries do not say why a socket of theirs failed
 * before there was a connection; over UDP there is no other reason than that nobody listens. */
static const char *word(const struct transfer *self, CURLcode code)
{
    long cause = 0;
    curl_easy_getinfo(self->easy, CURLINFO_OS_ERRNO, &cause);
    if (cause == ECONNREFUSED || (cause == 0 && code == CURLE_COULDNT_CONNECT && self->work->http == 3)) {
        return "refused";
    }
    switch (code) {
    case CURLE_OPERATION_TIMEDOUT:
        return "timeout";
    case CURLE_SSL_CONNECT_ERROR:
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CERTPROBLEM:
    case CURLE_SSL_CIPHER:
        return "tls";
    case CURLE_SEND_ERROR:
    case CURLE_RECV_ERROR:
    case CURLE_GOT_NOTHING:
    case CURLE_PARTIAL_FILE:
    case CURLE_HTTP2_STREAM:
        return "reset";
    case CURLE_HTTP2:
    case CURLE_HTTP3:
    case CURLE_WEIRD_SERVER_REPLY:
    case CURLE_UNSUPPORTED_PROTOCOL:
        return "protocol";
    default:
        return NULL;
    }
}

static bool good(const struct transfer *self)
{
    long status = self->sample.status;
    return self->work->page ? status == 200 : status >= 200 && status <= 299;
}

static void set_error(struct transfer *self, CURLcode code)
{
    struct sample *sample = &self->sample;
    const char *known = word(self, code);
    if (code != CURLE_OK && known) {
        snprintf(sample->error, sizeof sample->error, "%s", known);
    } else if (code != CURLE_OK) {
        snprintf(sample->error, sizeof sample->error, "other: %s", curl_easy_strerror(code));
    } else if (!good(self)) {
        snprintf(sample->error, sizeof sample->error, "other: status %ld", sample->status);
    } else if (sample->status == 200 && self->held.wrong) {
        snprintf(sample->error, sizeof sample->error, "wrong-bytes");
    }
}

void transfer_ended(struct transfer *self, CURLcode code)
{
    struct sample *sample = &self->sample;
    long dials = 0, version = 0;
    set_times(self, code);
    curl_easy_getinfo(self->easy, CURLINFO_RESPONSE_CODE, &sample->status);
    curl_easy_getinfo(self->easy, CURLINFO_HTTP_VERSION, &version);
    curl_easy_getinfo(self->easy, CURLINFO_NUM_CONNECTS, &dials);
    sample->protocol = protocol(version);
    /* A request that never had a connection dialled none either. */
    sample->reused = self->connection >= 0 && dials == 0;
    sample->up = measured(self->easy, CURLINFO_SIZE_UPLOAD_T);
    sample->down = measured(self->easy, CURLINFO_SIZE_DOWNLOAD_T);
    set_error(self, code);
}
