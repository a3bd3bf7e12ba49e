#ifndef H123_READING_H
#define H123_READING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "json.h"

/* An object of workload.json. A field that has been asked for has no value any more: what is left is unknown. */
struct reading {
    const char *where; /* the file, and the place in it */
    struct field *fields;
};

struct reading reading_begin(const char *where, const char *text);

/* Whether the field is there, and not null. */
bool reading_has(const struct reading *from, const char *name);

/* Each ends the program where the field is missing or is something else. */
char *reading_text(struct reading *from, const char *name);
double reading_number(struct reading *from, const char *name, double least);
uint64_t reading_large(struct reading *from, const char *name, uint64_t least);
bool reading_truth(struct reading *from, const char *name);

/* The elements of a list as text, ended by NULL; strings keep their quotation marks. */
char **reading_list(struct reading *from, const char *name);

/* The elements of a list of whole numbers from 0. */
int64_t *reading_whole_numbers(struct reading *from, const char *name, size_t *count);

/* Takes a field that is null or not there as known. */
void reading_pass(struct reading *from, const char *name);

/* Nothing that is asked for and not known is passed over: ends the program if there is such a field. */
void reading_end(const struct reading *from);

#endif
