#include "connections.h"

#include <stdlib.h>

int connections_number(struct sample *samples, int count, bool told)
{
    int *known = calloc((size_t)count + 1, sizeof *known), found = 0;
    for (struct sample *row = samples; row < samples + count; row++) {
        int index = 0;
        if (row->connection < 0) {
            continue;
        }
        while (index < found && known[index] != row->connection) {
            index++;
        }
        if (index == found) {
            known[found++] = row->connection;
        }
        row->connection = told ? index : -1;
    }
    free(known);
    return found;
}
