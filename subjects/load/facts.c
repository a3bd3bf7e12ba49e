#include "facts.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/socket.h>

static void describe(SSL *ssl, struct handshake *to)
{
    const unsigned char *alpn;
    unsigned length;
    const char *version = SSL_get_version(ssl), *group = SSL_get0_group_name(ssl);
    group = group ? group : "";
    snprintf(to->version, WORD, "%s", version + (strncmp(version, "TLSv", 4) == 0 ? 4 : 0));
    snprintf(to->cipher, WORD, "%s", SSL_CIPHER_standard_name(SSL_get_current_cipher(ssl)));
    snprintf(to->key_exchange, WORD, "%s", strcmp(group, "x25519") == 0 ? "X25519" : group);
    SSL_get0_alpn_selected(ssl, &alpn, &length);
    snprintf(to->alpn, WORD, "%.*s", (int)length, alpn ? (const char *)alpn : "");
    to->resumed = SSL_session_reused(ssl);
}

static bool alike(const struct handshake *a, const struct handshake *b)
{
    return !strcmp(a->version, b->version) && !strcmp(a->cipher, b->cipher) &&
           !strcmp(a->key_exchange, b->key_exchange) && !strcmp(a->alpn, b->alpn) && a->resumed == b->resumed &&
           a->early == b->early;
}

void facts_add(struct facts *facts, SSL *ssl, bool early)
{
    struct handshake seen = {.early = early}, *same = facts->kinds;
    describe(ssl, &seen);
    while (same < facts->kinds + KINDS - 1 && same->connections && !alike(same, &seen)) {
        same++;
    }
    seen.connections = same->connections + 1;
    *same = seen;
}

void facts_of_socket(struct facts *facts, int descriptor)
{
    socklen_t length = WORD - 1;
    getsockopt(descriptor, IPPROTO_TCP, TCP_CONGESTION, facts->congestion, &length);
}

void facts_of_sender(struct facts *facts, const char *congestion)
{
    snprintf(facts->congestion, WORD, "%s", congestion);
}

static void put_spread(const char *name, const struct spread *spread, FILE *to)
{
    fprintf(to, "%s\": {\"p50\": %jd, \"p99\": %jd, \"max\": %jd}", name, (intmax_t)spread->p50, (intmax_t)spread->p99,
            (intmax_t)spread->most);
}

void facts_write(const struct facts *facts, FILE *to)
{
    fputs("{\"h123\": \"client/1\", \"tls\": [", to);
    for (const struct handshake *kind = facts->kinds; kind < facts->kinds + KINDS && kind->connections; kind++) {
        fprintf(to, "%s{\"version\": \"%s\", \"cipher\": \"%s\", \"key_exchange\": \"%s\", \"alpn\": \"%s\", "
                "\"connections\": %d, \"resumed\": %s, \"early\": %s}",
                kind == facts->kinds ? "" : ", ", kind->version, kind->cipher, kind->key_exchange, kind->alpn,
                kind->connections, kind->resumed ? "true" : "false", kind->early ? "true" : "false");
    }
    fputs("], \"congestion\": ", to);
    fprintf(to, *facts->congestion ? "\"%s\"" : "null%s", facts->congestion);
    fputs(", \"delay\": {", to);
    put_spread("\"late_ns", &facts->delay.late, to);
    put_spread(", \"held_ns", &facts->delay.held, to);
    put_spread(", \"both_ns", &facts->delay.both, to);
    fputs("}, \"notes\": [", to);
    if (facts->moves) {
        fprintf(to, "\"requests that the server had not taken were made again %jd times\"", (intmax_t)facts->moves);
    }
    fputs("]}\n", to);
}
