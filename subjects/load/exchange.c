#define _GNU_SOURCE
#include "exchange.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "block.h"
#include "clock.h"

const char TIMEOUT[] = "timeout", RESET[] = "reset", REFUSED[] = "refused", TLS_FAILED[] = "tls",
           PROTOCOL[] = "protocol", WRONG_BYTES[] = "wrong-bytes", ABANDONED[] = "abandoned";

const char *other_error(const char *format, ...)
{
    char *text, *whole;
    va_list arguments;
    va_start(arguments, format);
    if (vasprintf(&text, format, arguments) < 0 || asprintf(&whole, "other: %s", text) < 0) {
        abort();
    }
    va_end(arguments);
    free(text);
    return whole;
}

void queue_push(struct queue *queue, struct exchange *exchange)
{
    exchange->queue = queue;
    exchange->next = NULL;
    exchange->previous = queue->last;
    *(queue->last ? &queue->last->next : &queue->first) = exchange;
    queue->last = exchange;
}

struct exchange *queue_pop(struct queue *queue)
{
    struct exchange *exchange = queue->first;
    if (exchange) {
        queue_remove(queue, exchange);
    }
    return exchange;
}

void queue_remove(struct queue *queue, struct exchange *exchange)
{
    *(exchange->previous ? &exchange->previous->next : &queue->first) = exchange->next;
    *(exchange->next ? &exchange->next->previous : &queue->last) = exchange->previous;
    exchange->next = exchange->previous = NULL;
    exchange->queue = NULL;
}

void exchange_reset(struct exchange *exchange)
{
    struct sample *sample = &exchange->sample;
    sample->sent = sample->first_byte = sample->up = sample->down = 0;
    sample->status = sample->protocol = sample->reused = 0;
    sample->connection = -1;
    exchange->announced = -1;
    exchange->wrong = false;
}

void exchange_first_byte(struct exchange *exchange)
{
    if (!exchange->sample.first_byte) {
        exchange->sample.first_byte = now();
    }
}

bool exchange_announce(struct exchange *exchange, const char *text, size_t length)
{
    int64_t bytes = 0;
    if (!length || length > 18) {
        return false;
    }
    for (size_t i = 0; i < length; i++) {
        if (text[i] < '0' || text[i] > '9') {
            return false;
        }
        bytes = 10 * bytes + (text[i] - '0');
    }
    if (exchange->announced >= 0 && exchange->announced != bytes) {
        return false;
    }
    exchange->announced = bytes;
    return true;
}

bool exchange_take(struct exchange *exchange, const uint8_t *bytes, size_t length)
{
    struct sample *sample = &exchange->sample;
    if (exchange->asked->compared && sample->status == 200 && !exchange->wrong) {
        exchange->wrong = !block_is(bytes, length, (uint64_t)sample->down);
    }
    sample->down += (int64_t)length;
    return sample->down <= exchange->asked->most;
}

int64_t upload_of(const struct exchange *exchange)
{
    return exchange->sample.phase == EARNING ? 0 : exchange->asked->body_bytes;
}

const uint8_t *exchange_part(struct exchange *exchange, size_t *length)
{
    const struct entry *asked = exchange->asked;
    size_t at = (size_t)exchange->sample.up % asked->content_bytes, most = asked->content_bytes - at;
    int64_t left = upload_of(exchange) - exchange->sample.up;
    most = most < *length ? most : *length;
    *length = left < (int64_t)most ? (size_t)left : most;
    exchange->sample.up += (int64_t)*length;
    return (const uint8_t *)asked->content + at;
}

size_t exchange_give(struct exchange *exchange, uint8_t *to, size_t room)
{
    size_t given = 0;
    while (given < room && exchange->sample.up < upload_of(exchange)) {
        size_t length = room - given;
        const uint8_t *part = exchange_part(exchange, &length);
        memcpy(to + given, part, length);
        given += length;
    }
    return given;
}

const char *exchange_judge(const struct exchange *exchange)
{
    const struct sample *sample = &exchange->sample;
    int status = sample->status;
    if (exchange->announced >= 0 && sample->down != exchange->announced) {
        return PROTOCOL;
    }
    if (exchange->wrong) {
        return WRONG_BYTES;
    }
    if (exchange->asked->status ? status != exchange->asked->status : status < 200 || status > 299) {
        return other_error("status %d", status);
    }
    return NULL;
}
