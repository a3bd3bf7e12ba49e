#include "files.h"

#include <errno.h>
#include <string.h>

#include "workload.h"

FILE *file_to_write(const char *path)
{
    FILE *file = fopen(path, "w");
    if (!file) {
        fail(FAILED, "cannot write %s: %s", path, strerror(errno));
    }
    return file;
}

void file_save(FILE *file, const char *path)
{
    if (fflush(file) != 0 || ferror(file) || fclose(file) != 0) {
        fail(FAILED, "cannot write %s: %s; free some space, or choose another place", path, strerror(errno));
    }
}
