#include "tls.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "workload.h"

static int memory_mark = -1;

static int on_session(SSL *ssl, SSL_SESSION *session)
{
    struct memory *memory = SSL_CTX_get_ex_data(SSL_get_SSL_CTX(ssl), memory_mark);
    SSL_SESSION_free(memory->session);
    memory->session = SSL_SESSION_dup(session);
    return 0; /* it is the connection's alone */
}

static FILE *key_log;

/* Goes to the disk when the buffer is full or the program ends. */
static void on_key_line(const SSL *ssl, const char *line)
{
    (void)ssl;
    fprintf(key_log, "%s\n", line);
}

/* Logs the secrets of connections into the file that SSLKEYLOGFILE names, so that the lab can read frames. */
static void log_keys(SSL_CTX *context)
{
    const char *name = getenv("SSLKEYLOGFILE");
    if (!name || !*name) {
        return;
    }
    key_log = key_log ? key_log : fopen(name, "a");
    if (!key_log) {
        fail(FAILED, "SSLKEYLOGFILE: %s cannot be written", name);
    }
    SSL_CTX_set_keylog_callback(context, on_key_line);
}

/* The names of the protocol as TLS has them, each with its length before it. */
static const char *alpn(int http)
{
    static const char *const names[] = {NULL, "\x08http/1.1", "\x02h2", "\x02h3"};
    return names[http];
}

/* A subject has one cipher and one key exchange; of another server nobody knows what it has. */
static const char *ciphers(const struct job *job)
{
    return job->authority ? "TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256"
                          : "TLS_AES_128_GCM_SHA256";
}

static const char *groups(const struct job *job) { return job->authority ? "X25519:P-256:P-384" : job->key_share; }

SSL_CTX *tls_context(const struct job *job, struct memory *memory)
{
    OPENSSL_init_ssl(OPENSSL_INIT_NO_LOAD_CONFIG, NULL); /* the machine's settings are for its own version */
    SSL_CTX *context = SSL_CTX_new(TLS_client_method());
    const char *protocol = alpn(job->http);
    if (!context || !SSL_CTX_set_min_proto_version(context, TLS1_3_VERSION) ||
        !SSL_CTX_set_ciphersuites(context, ciphers(job)) || !SSL_CTX_set1_groups_list(context, groups(job)) ||
        SSL_CTX_set_alpn_protos(context, (const unsigned char *)protocol, (unsigned)strlen(protocol)) != 0) {
        fail(FAILED, "OpenSSL has not the TLS that is wanted");
    }
    if (!SSL_CTX_load_verify_file(context, job->ca)) {
        fail(BAD_INPUT, "ca: %s has no certificates", job->ca);
    }
    SSL_CTX_set_verify(context, job->authority ? SSL_VERIFY_NONE : SSL_VERIFY_PEER, NULL);
    SSL_CTX_set_mode(context, SSL_MODE_RELEASE_BUFFERS | SSL_MODE_ENABLE_PARTIAL_WRITE);
    SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
    log_keys(context);
    if (job->sessions != FULL) {
        memory_mark = SSL_CTX_get_ex_new_index(0, NULL, NULL, NULL, NULL);
        SSL_CTX_set_ex_data(context, memory_mark, memory);
        SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL);
        SSL_CTX_sess_set_new_cb(context, on_session);
    }
    return context;
}

/* Addresses are no names, which alone a server can be asked for (RFC 6066, section 3). */
static bool named(const char *host)
{
    unsigned char address[sizeof(struct in6_addr)];
    return inet_pton(AF_INET, host, address) != 1 && inet_pton(AF_INET6, host, address) != 1;
}

/* Copies, here and above: OpenSSL takes a session for spent when a connection has resumed it, or the one that earned it has
 * ended, and the next connection may begin before there is another. */
static bool resume(SSL *ssl, const struct memory *memory)
{
    SSL_SESSION *session = memory->session ? SSL_SESSION_dup(memory->session) : NULL;
    bool set = !memory->session || (session && SSL_set_session(ssl, session));
    SSL_SESSION_free(session);
    return set;
}

SSL *tls_new(SSL_CTX *context, const char *host, const struct memory *memory)
{
    SSL *ssl = SSL_new(context);
    if (!ssl || (named(host) && !SSL_set_tlsext_host_name(ssl, host)) || !SSL_set1_host(ssl, host) ||
        !resume(ssl, memory)) {
        fail(FAILED, "OpenSSL makes no connection for %s", host);
    }
    SSL_set_connect_state(ssl);
    return ssl;
}

bool tls_agreed(const SSL *ssl, const struct job *job)
{
    const unsigned char *chosen;
    unsigned length;
    const char *wanted = alpn(job->http) + 1;
    SSL_get0_alpn_selected(ssl, &chosen, &length);
    return length ? length == strlen(wanted) && memcmp(chosen, wanted, length) == 0 : job->http == 1;
}
