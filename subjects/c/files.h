#ifndef H123_FILES_H
#define H123_FILES_H

#include <stdio.h>

/* Opens a file to write. It should be done before the measurement, so that what cannot be written fails before it. */
FILE *file_to_write(const char *path);

/* Writes the rest of a file and closes it. */
void file_save(FILE *file, const char *path);

#endif
