#ifndef H123_NOISE_H
#define H123_NOISE_H

enum { NOISE = 65536 };

/* What is uploaded, repeated: noise, so that nothing on the way can make it smaller. To be called once before threads are. */
const char *noise(void);

#endif
