#ifndef H123_OPTIONS_H
#define H123_OPTIONS_H

/* A command line option `--name value`. */
struct option_value {
    const char *name, **value;
};

/* Reads the command line, in which every option of the list must stand; one without a name ends the list. */
void options_read(int count, char **words, const struct option_value *options);

#endif
