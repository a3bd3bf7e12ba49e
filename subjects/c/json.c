/* As much JSON as workload.json needs: one object of strings, numbers, true, false and null; what is nested stays text. */
#include "json.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static const char *skip(const char *at)
{
    while (isspace((unsigned char)*at)) {
        at++;
    }
    return at;
}

/* Four hexadecimal digits, or -1. */
static long code_unit(const char *at)
{
    char digits[5] = {0}, *end;
    strncpy(digits, at, 4);
    long unit = strtol(digits, &end, 16);
    return end == digits + 4 ? unit : -1;
}

static char *put_utf8(char *to, long code)
{
    if (code < 0x80) {
        *to++ = (char)code;
    } else if (code < 0x800) {
        *to++ = (char)(0xc0 | code >> 6);
        *to++ = (char)(0x80 | (code & 0x3f));
    } else if (code < 0x10000) {
        *to++ = (char)(0xe0 | code >> 12);
        *to++ = (char)(0x80 | (code >> 6 & 0x3f));
        *to++ = (char)(0x80 | (code & 0x3f));
    } else {
        *to++ = (char)(0xf0 | code >> 18);
        *to++ = (char)(0x80 | (code >> 12 & 0x3f));
        *to++ = (char)(0x80 | (code >> 6 & 0x3f));
        *to++ = (char)(0x80 | (code & 0x3f));
    }
    return to;
}

/* Puts what stands after a backslash, and moves past it. */
static bool unescape(const char **at, char **to)
{
    static const char letters[] = "\"\\/bfnrt", meant[] = "\"\\/\b\f\n\r\t";
    char letter = *(*at)++;
    if (letter != 'u') {
        const char *known = letter ? strchr(letters, letter) : NULL;
        if (known) {
            *(*to)++ = meant[known - letters];
        }
        return known != NULL;
    }
    long code = code_unit(*at);
    if (code < 0) {
        return false;
    }
    *at += 4;
    if (code >= 0xd800 && code < 0xdc00 && (*at)[0] == '\\' && (*at)[1] == 'u') {
        long low = code_unit(*at + 2);
        if (low < 0xdc00 || low > 0xdfff) {
            return false;
        }
        code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
        *at += 6;
    }
    *to = put_utf8(*to, code);
    return true;
}

/* A string from its first quotation mark on, moving past the last; NULL where it has none. */
static char *string(const char **at)
{
    char *text = malloc(strlen(*at) + 1), *to = text;
    for ((*at)++; **at && **at != '"';) {
        if (**at != '\\') {
            *to++ = *(*at)++;
        } else if ((*at)++, !unescape(at, &to)) {
            break;
        }
    }
    if (**at != '"') {
        free(text);
        return NULL;
    }
    (*at)++;
    *to = '\0';
    return text;
}

/* A list or an object from its first bracket on, moving past the last; NULL where it has none. */
static char *nested(const char **at)
{
    const char *from = *at;
    int depth = 0;
    do {
        if (**at == '"') {
            char *passed = string(at);
            if (!passed) {
                return NULL;
            }
            free(passed);
            continue;
        }
        depth += (**at == '[' || **at == '{') - (**at == ']' || **at == '}');
        (*at) += **at != '\0';
    } while (depth > 0 && **at);
    return depth == 0 ? strndup(from, (size_t)(*at - from)) : NULL;
}

static char *value(const char **at)
{
    if (**at == '"') {
        return string(at);
    }
    if (**at == '[' || **at == '{') {
        return nested(at);
    }
    size_t length = strspn(*at, "+-.0123456789Eaeflnrstu");
    char *text = length ? strndup(*at, length) : NULL;
    *at += length;
    return text;
}

struct field *json_fields(const char *text)
{
    struct field *fields = calloc(1, sizeof *fields);
    const char *at = skip(text);
    if (*at != '{') {
        return NULL;
    }
    for (size_t count = 0; *at == (count ? ',' : '{'); count++) {
        at = skip(at + 1);
        char *name = *at == '"' ? string(&at) : NULL;
        at = skip(at);
        if (!name || *at != ':') {
            return NULL;
        }
        at = skip(at + 1);
        fields = realloc(fields, (count + 2) * sizeof *fields);
        bool list = *at == '[' || *at == '{';
        fields[count] = (struct field){name, value(&at), list};
        fields[count + 1] = (struct field){0};
        if (!fields[count].value) {
            return NULL;
        }
        at = skip(at);
    }
    return *at == '}' && !*skip(at + 1) ? fields : NULL;
}
