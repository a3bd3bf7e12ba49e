#ifndef H123_WINDOWS_H
#define H123_WINDOWS_H

/* As all clients here have them, over all protocols. */
enum { STREAM_WINDOW = 6 << 20, CONNECTION_WINDOW = 15 << 20 };

#endif
