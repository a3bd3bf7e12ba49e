#include "request.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "block.h"

#define LONGEST_NUMBER 12

static void keep(char *to, size_t room, nghttp3_vec value)
{
    size_t length = value.len < room ? value.len : room - 1;
    memcpy(to, value.base, length);
    to[length] = 0;
}

void request_header(struct request *request, int32_t token, nghttp3_vec value)
{
    if (token == NGHTTP3_QPACK_TOKEN__METHOD) {
        keep(request->method, sizeof request->method, value);
    } else if (token == NGHTTP3_QPACK_TOKEN__PATH) {
        keep(request->path, sizeof request->path, value);
    }
}

/* The body of an answer, for nghttp3: as many blocks as it has room for. Nothing is copied. */
static nghttp3_ssize read_block(nghttp3_conn *http, int64_t stream, nghttp3_vec *parts, size_t room, uint32_t *flags,
                                void *connection, void *user)
{
    struct request *request = user;
    (void)http, (void)stream, (void)connection;
    size_t count = 0;
    for (; count < room && request->left > 0; count++) {
        parts[count].base = block;
        parts[count].len = request->left < BLOCK_SIZE ? request->left : BLOCK_SIZE;
        request->left -= parts[count].len;
    }
    if (request->left == 0) {
        *flags |= NGHTTP3_DATA_FLAG_EOF;
    }
    return (nghttp3_ssize)count;
}

static nghttp3_ssize read_text(nghttp3_conn *http, int64_t stream, nghttp3_vec *parts, size_t room, uint32_t *flags,
                               void *connection, void *user)
{
    struct request *request = user;
    (void)http, (void)stream, (void)connection, (void)room;
    parts[0].base = (uint8_t *)request->text;
    parts[0].len = strlen(request->text);
    *flags |= NGHTTP3_DATA_FLAG_EOF;
    return 1;
}

static nghttp3_nv field(const char *name, const char *value)
{
    return (nghttp3_nv){.name = (uint8_t *)name, .namelen = strlen(name), .value = (uint8_t *)value, .valuelen = strlen(value)};
}

/* Sends the header and arranges for the body, which HEAD and an empty answer do not have. */
static int respond(struct request *request, nghttp3_conn *http, int64_t stream, const char *status, uint64_t length,
                   nghttp3_read_data_callback body)
{
    char number[24];
    snprintf(number, sizeof number, "%" PRIu64, length);
    nghttp3_nv header[] = {field(":status", status), field("content-length", number)};
    const nghttp3_data_reader reader = {.read_data = body};
    int bodiless = length == 0 || strcmp(request->method, "HEAD") == 0;
    return nghttp3_conn_submit_response(http, stream, header, 2, bodiless ? NULL : &reader);
}

static int respond_text(struct request *request, nghttp3_conn *http, int64_t stream, const char *status)
{
    return respond(request, http, stream, status, strlen(request->text), read_text);
}

/* Whether the path is /bytes/<n>, and n. */
static int asks_bytes(const char *path, uint64_t *count)
{
    const char prefix[] = "/bytes/";
    const char *number = path + sizeof prefix - 1;
    if (strncmp(path, prefix, sizeof prefix - 1) != 0 || *number == 0) {
        return 0;
    }
    size_t digits = strspn(number, "0123456789");
    return number[digits] == 0 && digits <= LONGEST_NUMBER && sscanf(number, "%" SCNu64, count) == 1;
}

int request_answer(struct request *request, nghttp3_conn *http, int64_t stream)
{
    int get = strcmp(request->method, "GET") == 0 || strcmp(request->method, "HEAD") == 0;
    if (get && asks_bytes(request->path, &request->left)) {
        return respond(request, http, stream, "200", request->left, read_block);
    }
    if (strcmp(request->method, "POST") == 0 && strcmp(request->path, "/upload") == 0) {
        snprintf(request->text, sizeof request->text, "%" PRIu64, request->received);
        return respond_text(request, http, stream, "200");
    }
    if (get && strcmp(request->path, "/health") == 0) {
        strcpy(request->text, "ok");
        return respond_text(request, http, stream, "200");
    }
    strcpy(request->text, "not found");
    return respond_text(request, http, stream, "404");
}
