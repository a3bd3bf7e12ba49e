#include "refusal.h"

#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

enum { PATIENCE_MS = 1000 };

bool server_refuses(const struct workload *work)
{
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons((uint16_t)work->port)};
    inet_pton(AF_INET, work->address, &to.sin_addr);
    int descriptor = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0), error = 0;
    socklen_t length = sizeof error;
    if (connect(descriptor, (struct sockaddr *)&to, sizeof to) != 0 && errno != EINPROGRESS) {
        error = errno;
    } else if (poll(&(struct pollfd){.fd = descriptor, .events = POLLOUT}, 1, PATIENCE_MS) > 0) {
        getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &error, &length);
    }
    close(descriptor);
    return error == ECONNREFUSED;
}
