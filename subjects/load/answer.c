#include "answer.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { LINE = 1 << 16, HEADER = 1 << 18 }; /* longer ones than these nobody sends in earnest */

/* Bytes that have come, of which less and less is left. */
struct piece {
    const uint8_t *bytes;
    size_t length;
};

/* The next line, without its end; NULL where its end has not come. */
static const char *take_line(struct answer *answer, struct piece *from, size_t *length)
{
    const uint8_t *end = memchr(from->bytes, '\n', from->length);
    size_t part = end ? (size_t)(end - from->bytes) + 1 : from->length;
    const char *line = (const char *)from->bytes;
    from->bytes += part;
    from->length -= part;
    answer->header += part;
    *length = part;
    if (!end || answer->length) {
        if (answer->length + part > LINE) {
            answer->header = HEADER + 1;
            return NULL;
        }
        answer->line = realloc(answer->line, answer->length + part);
        memcpy(answer->line + answer->length, line, part);
        *length = answer->length += part;
        line = answer->line;
    }
    if (!end) {
        return NULL;
    }
    answer->length = 0;
    *length -= *length > 1 && line[*length - 2] == '\r' ? 2 : 1;
    return line;
}

static bool take_status(struct answer *answer, struct exchange *exchange, const char *line, size_t length)
{
    if (length < 12 || memcmp(line, "HTTP/1.", 7) != 0 || line[8] != ' ' || (length > 12 && line[12] != ' ')) {
        return false;
    }
    int status = 0;
    for (int i = 9; i < 12; i++) {
        if (line[i] < '0' || line[i] > '9') {
            return false;
        }
        status = 10 * status + line[i] - '0';
    }
    exchange->sample.status = status;
    answer->closes = line[7] == '0';
    answer->state = FIELDS;
    return status >= 100 && status != 101; /* what follows 101 is no HTTP */
}

static bool is(const char *text, size_t length, const char *wanted)
{
    return length == strlen(wanted) && strncasecmp(text, wanted, length) == 0;
}

static bool take_field(struct answer *answer, struct exchange *exchange, const char *line, size_t length)
{
    const char *colon = memchr(line, ':', length);
    if (!colon || colon == line) {
        return false;
    }
    size_t name = (size_t)(colon - line);
    const char *value = colon + 1;
    length -= name + 1;
    while (length && (*value == ' ' || *value == '\t')) {
        value++, length--;
    }
    while (length && (value[length - 1] == ' ' || value[length - 1] == '\t')) {
        length--;
    }
    if (is(line, name, "content-length")) {
        return exchange_announce(exchange, value, length);
    }
    if (is(line, name, "transfer-encoding")) {
        answer->chunked = is(value, length, "chunked");
        return answer->chunked;
    }
    if (is(line, name, "connection")) {
        answer->closes |= is(value, length, "close");
    }
    return true;
}

/* The header is whole: what follows? */
static void end_header(struct answer *answer, struct exchange *exchange)
{
    int status = exchange->sample.status;
    if (status < 200) { /* the real one is yet to come */
        exchange->announced = -1;
        answer->state = STATUS;
    } else if (exchange->sample.phase == EARNING || status == 204 || status == 304) {
        exchange->announced = -1;
        answer->state = WHOLE;
    } else if (answer->chunked) {
        exchange->announced = -1;
        answer->state = CHUNK_SIZE;
    } else if (exchange->announced >= 0) {
        answer->left = exchange->announced;
        answer->state = answer->left ? FIXED : WHOLE;
    } else {
        answer->closes = true;
        answer->state = UNTIL_CLOSE;
    }
}

static bool take_chunk_size(struct answer *answer, const char *line, size_t length)
{
    size_t digits = 0;
    answer->left = 0;
    for (; digits < length && digits < 16 && strchr("0123456789abcdefABCDEF", line[digits]) && line[digits]; digits++) {
        int digit = line[digits] <= '9' ? line[digits] - '0' : (line[digits] | 32) - 'a' + 10;
        answer->left = answer->left << 4 | digit;
    }
    answer->header = 0;
    answer->state = answer->left ? CHUNK : TRAILERS;
    return digits && digits < 16 && (digits == length || line[digits] == ';' || line[digits] == ' ');
}

static bool take_body(struct answer *answer, struct exchange *exchange, struct piece *from)
{
    size_t part = from->length;
    if (answer->state != UNTIL_CLOSE && (int64_t)part > answer->left) {
        part = (size_t)answer->left;
    }
    bool taken = exchange_take(exchange, from->bytes, part);
    from->bytes += part;
    from->length -= part;
    answer->left -= (int64_t)part;
    if (answer->state != UNTIL_CLOSE && !answer->left) {
        answer->state = answer->state == FIXED ? WHOLE : CHUNK_END;
    }
    return taken;
}

static bool take_any_line(struct answer *answer, struct exchange *exchange, const char *line, size_t length)
{
    switch (answer->state) {
    case STATUS:
        return take_status(answer, exchange, line, length);
    case FIELDS:
        if (length) {
            return take_field(answer, exchange, line, length);
        }
        end_header(answer, exchange);
        return true;
    case CHUNK_SIZE:
        return take_chunk_size(answer, line, length);
    case CHUNK_END:
        answer->state = CHUNK_SIZE;
        return length == 0;
    default: /* trailers, which say nothing that is wanted */
        answer->state = length ? TRAILERS : WHOLE;
        return true;
    }
}

ssize_t answer_take(struct answer *answer, struct exchange *exchange, const uint8_t *bytes, size_t length)
{
    struct piece left = {bytes, length};
    while (left.length && answer->state != WHOLE) {
        bool body = answer->state == FIXED || answer->state == CHUNK || answer->state == UNTIL_CLOSE;
        size_t line_length;
        const char *line = body ? NULL : take_line(answer, &left, &line_length);
        if (answer->header > HEADER || (body && !take_body(answer, exchange, &left)) ||
            (line && !take_any_line(answer, exchange, line, line_length))) {
            return -1;
        }
    }
    return (ssize_t)(length - left.length);
}

void answer_clear(struct answer *answer)
{
    free(answer->line);
    *answer = (struct answer){0};
}
