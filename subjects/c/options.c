#include "options.h"

#include <string.h>

#include "workload.h"

void options_read(int count, char **words, const struct option_value *options)
{
    for (const struct option_value *option = options; option->name; option++) {
        for (int i = 1; i + 1 < count; i += 2) {
            if (strcmp(words[i], option->name) == 0) {
                *option->value = words[i + 1];
            }
        }
        if (!*option->value) {
            fail(BAD_INPUT, "%s is missing; every option is `--name value`", option->name);
        }
    }
}
