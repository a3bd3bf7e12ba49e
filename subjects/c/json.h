#ifndef H123_JSON_H
#define H123_JSON_H

#include <stdbool.h>

/* A field of a JSON object, as text: strings without their quotation marks and escapes, all else as written. */
struct field {
    char *name, *value;
    bool nested; /* a list or an object */
};

/* The fields of the object, ended by one without a name; NULL where the text is not a JSON object. */
struct field *json_fields(const char *text);

#endif
