/* The kernel stamps packets by the time of day, as they come from the device; samples are of the monotonic clock. */
#include "stamps.h"

#include <string.h>

#include "clock.h"

void stamps_ask(int descriptor)
{
    const int yes = 1;
    setsockopt(descriptor, SOL_SOCKET, SO_TIMESTAMPNS, &yes, sizeof yes);
}

int64_t stamps_read(struct msghdr *message)
{
    int64_t time = now();
    for (struct cmsghdr *told = CMSG_FIRSTHDR(message); told; told = CMSG_NXTHDR(message, told)) {
        if (told->cmsg_level == SOL_SOCKET && told->cmsg_type == SCM_TIMESTAMPNS) {
            struct timespec at;
            memcpy(&at, CMSG_DATA(told), sizeof at);
            int64_t lay = time_of_day() - (at.tv_sec * INT64_C(1000000000) + at.tv_nsec);
            return time - (lay > 0 ? lay : 0); /* the time of day may have been set meanwhile */
        }
    }
    return time;
}
