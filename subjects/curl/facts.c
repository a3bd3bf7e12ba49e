/* What the connections were like. libcurl lends its TLS context, and the TLS library tells of each handshake that is
 * complete; that works alike over TCP and QUIC. */
#include "facts.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/ssl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "workload.h"

enum { KINDS = 16, WORD = 48 };

/* Connections with the same handshake. */
struct kind {
    char version[WORD], cipher[WORD], key_exchange[WORD], alpn[WORD];
    int connections;
};

static struct kind kinds[KINDS];
static char congestion[WORD];
static int seen_mark = -1; /* marks a TLS connection that was counted: later messages look like handshakes too */

static const char *key_exchange(const SSL *ssl)
{
#ifdef OPENSSL_IS_BORINGSSL
    const char *name = SSL_get_curve_name(SSL_get_curve_id(ssl));
#else
    const char *name = SSL_get0_group_name((SSL *)ssl);
#endif
    name = name ? name : "";
    return strcmp(name, "x25519") == 0 ? "X25519" : name; /* OpenSSL's spelling, and that of others */
}

static void describe(const SSL *ssl, struct kind *kind)
{
    const unsigned char *alpn;
    unsigned int length;
    const char *version = SSL_get_version(ssl);
    /* OpenSSL names QUIC, whose TLS is 1.3. */
    version = strncmp(version, "QUIC", 4) == 0 ? "TLSv1.3" : version;
    snprintf(kind->version, WORD, "%s", version + (strncmp(version, "TLSv", 4) == 0 ? 4 : 0));
    snprintf(kind->cipher, WORD, "%s", SSL_CIPHER_standard_name(SSL_get_current_cipher(ssl)));
    snprintf(kind->key_exchange, WORD, "%s", key_exchange(ssl));
    SSL_get0_alpn_selected(ssl, &alpn, &length);
    snprintf(kind->alpn, WORD, "%.*s", (int)length, alpn ? (const char *)alpn : "");
}

static bool alike(const struct kind *a, const struct kind *b)
{
    return !strcmp(a->version, b->version) && !strcmp(a->cipher, b->cipher) &&
           !strcmp(a->key_exchange, b->key_exchange) && !strcmp(a->alpn, b->alpn);
}

static void on_event(const SSL *ssl, int where, int result)
{
    (void)result;
    if (!(where & SSL_CB_HANDSHAKE_DONE) || SSL_get_ex_data(ssl, seen_mark)) {
        return;
    }
    SSL_set_ex_data((SSL *)ssl, seen_mark, kinds);
    struct kind kind = {.connections = 0};
    describe(ssl, &kind);
    struct kind *same = kinds;
    while (same < kinds + KINDS - 1 && same->connections && !alike(same, &kind)) {
        same++;
    }
    kind.connections = same->connections + 1;
    *same = kind;
}

static CURLcode on_context(CURL *easy, void *context, void *nothing)
{
    (void)easy, (void)nothing;
    SSL_CTX_set_info_callback(context, on_event);
    return CURLE_OK;
}

void facts_watch(CURL *easy)
{
    if (seen_mark < 0) {
        seen_mark = SSL_get_ex_new_index(0, NULL, NULL, NULL, NULL);
    }
    if (curl_easy_setopt(easy, CURLOPT_SSL_CTX_FUNCTION, on_context) != CURLE_OK) {
        fail(FAILED, "this libcurl does not lend its TLS context");
    }
}

void facts_of_socket(CURL *easy)
{
    curl_socket_t socket;
    if (curl_easy_getinfo(easy, CURLINFO_ACTIVESOCKET, &socket) != CURLE_OK || socket == CURL_SOCKET_BAD) {
        return;
    }
    char name[WORD] = "";
    socklen_t length = WORD - 1;
    if (getsockopt(socket, IPPROTO_TCP, TCP_CONGESTION, name, &length) == 0) {
        memcpy(congestion, name, WORD);
    }
}

void facts_write(FILE *to, int http, const char *quic)
{
    fputs("{\"h123\": \"client/1\", \"tls\": [", to);
    for (const struct kind *kind = kinds; kind < kinds + KINDS && kind->connections; kind++) {
        fprintf(to,
                "%s{\"version\": \"%s\", \"cipher\": \"%s\", \"key_exchange\": \"%s\", \"alpn\": \"%s\", "
                "\"connections\": %d}",
                kind == kinds ? "" : ", ", kind->version, kind->cipher, kind->key_exchange, kind->alpn,
                kind->connections);
    }
    const char *named = http == 3 ? quic : congestion;
    fputs("], \"congestion\": ", to);
    fprintf(to, *named ? "\"%s\"" : "null%s", named);
    fprintf(to, ", \"notes\": [\"%s\"]}\n", curl_version());
}
