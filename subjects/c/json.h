#ifndef H123_JSON_H
#define H123_JSON_H

/* A field of a flat JSON object, as text: strings without their quotation marks and escapes, all else as written. */
struct field {
    char *name, *value;
};

/* The fields of the object, ended by one without a name; NULL where the text is not a flat JSON object. */
struct field *json_fields(const char *text);

#endif
