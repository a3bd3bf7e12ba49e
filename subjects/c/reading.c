#include "reading.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "workload.h"

static const char SPACES[] = " \t\r\n";

struct reading reading_begin(const char *where, const char *text)
{
    struct reading reading = {where, json_fields(text)};
    if (!reading.fields) {
        fail(BAD_INPUT, "%s is not a JSON object", where);
    }
    return reading;
}

static struct field *find(const struct reading *from, const char *name)
{
    for (struct field *field = from->fields; field->name; field++) {
        if (strcmp(field->name, name) == 0 && field->value) {
            return field;
        }
    }
    return NULL;
}

bool reading_has(const struct reading *from, const char *name)
{
    const struct field *field = find(from, name);
    return field && strcmp(field->value, "null") != 0;
}

static char *take(struct reading *from, const char *name, bool nested)
{
    struct field *field = find(from, name);
    if (!field) {
        fail(BAD_INPUT, "%s: %s is missing", from->where, name);
    }
    if (field->nested != nested) {
        fail(BAD_INPUT, "%s: %s must be %s", from->where, name, nested ? "a list" : "one value");
    }
    char *value = field->value;
    field->value = NULL;
    return value;
}

char *reading_text(struct reading *from, const char *name) { return take(from, name, false); }

double reading_number(struct reading *from, const char *name, double least)
{
    char *value = reading_text(from, name), *end;
    double number = strtod(value, &end);
    if (end == value || *end || !(number >= least)) {
        fail(BAD_INPUT, "%s: %s must be a number from %g, not %s", from->where, name, least, value);
    }
    return number;
}

uint64_t reading_large(struct reading *from, const char *name, uint64_t least)
{
    char *value = reading_text(from, name), *end;
    uint64_t number = strtoull(value, &end, 10);
    if (!isdigit((unsigned char)*value) || *end || number < least) {
        fail(BAD_INPUT, "%s: %s must be a whole number from %ju, not %s", from->where, name, (uintmax_t)least, value);
    }
    return number;
}

bool reading_truth(struct reading *from, const char *name)
{
    const char *value = reading_text(from, name);
    if (strcmp(value, "true") != 0 && strcmp(value, "false") != 0) {
        fail(BAD_INPUT, "%s: %s must be true or false, not %s", from->where, name, value);
    }
    return *value == 't';
}

/* Where the element ends that begins here: at the comma or bracket behind it. */
static const char *element_end(const char *at)
{
    bool quoted = false;
    for (int depth = 0; *at; at++) {
        if (quoted && *at == '\\' && at[1]) {
            at++;
        } else if (quoted) {
            quoted = *at != '"';
        } else if (*at == '"') {
            quoted = true;
        } else if (depth == 0 && (*at == ',' || *at == ']')) {
            break;
        } else {
            depth += (*at == '[' || *at == '{') - (*at == ']' || *at == '}');
        }
    }
    return at;
}

char **reading_list(struct reading *from, const char *name)
{
    const char *at = take(from, name, true);
    char **elements = calloc(1, sizeof *elements);
    size_t count = 0;
    if (*at != '[') {
        fail(BAD_INPUT, "%s: %s must be a list", from->where, name);
    }
    for (at++; *at; at++) {
        at += strspn(at, SPACES);
        const char *end = element_end(at);
        if (end > at) {
            elements = realloc(elements, (count + 2) * sizeof *elements);
            elements[count++] = strndup(at, (size_t)(end - at));
            elements[count] = NULL;
        }
        at = end;
        if (*at != ',') {
            break;
        }
    }
    return elements;
}

int64_t *reading_whole_numbers(struct reading *from, const char *name, size_t *count)
{
    const char *list = take(from, name, true), *at = list;
    size_t room = 1;
    for (const char *comma = at; (comma = strchr(comma, ',')); comma++) {
        room++;
    }
    int64_t *numbers = calloc(room, sizeof *numbers);
    bool whole = numbers && *at++ == '[';
    at += strspn(at, SPACES);
    for (*count = 0; whole && *at != ']';) {
        char *end;
        errno = 0;
        numbers[*count] = strtoll(at, &end, 10);
        whole = isdigit((unsigned char)*at) && !errno && *count < room;
        *count += 1;
        at = end + strspn(end, SPACES);
        whole = whole && (*at == ',' || *at == ']');
        at += whole && *at == ',';
        at += strspn(at, SPACES);
    }
    if (!whole) {
        fail(BAD_INPUT, "%s: %s must be a list of whole numbers from 0", from->where, name);
    }
    return numbers;
}

void reading_pass(struct reading *from, const char *name)
{
    struct field *field = find(from, name);
    if (field && !field->nested && strcmp(field->value, "null") == 0) {
        field->value = NULL;
    }
}

void reading_end(const struct reading *from)
{
    for (const struct field *field = from->fields; field->name; field++) {
        if (field->value) {
            fail(UNSUPPORTED, "%s: %s is not supported", from->where, field->name);
        }
    }
}
