#ifndef H123_USERS_H
#define H123_USERS_H

#include "exchange.h"

struct load;

/* Who asks, and when: cold requests one after another, then all users, in a closed or an open loop. */
struct users;

struct users *users_new(struct load *load);

/* Earns the session that later connections resume, and is back when it is there. */
void users_earn(struct users *users);

void users_begin(struct users *users);

/* A request has ended. */
void users_next(struct users *users, struct exchange *ended);

/* It has failed, and somebody else may have its place until it is made again. */
void users_rest(struct users *users, struct exchange *failed);

/* It is made again, behind all that wait. */
void users_again(struct users *users, struct exchange *exchange);

#endif
