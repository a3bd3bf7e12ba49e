#ifndef H123_FACTS_H
#define H123_FACTS_H

#include <curl/curl.h>

/* Has libcurl tell this module of each TLS handshake that a handle's transfers make. */
void facts_watch(CURL *easy);

/* Notes the congestion control that the kernel gave a transfer's TCP connection. */
void facts_of_socket(CURL *easy);

/* Writes client.json. `quic` is the congestion control of the QUIC library, for HTTP/3. */
void facts_write(FILE *to, int http, const char *quic);

#endif
