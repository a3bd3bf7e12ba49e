/* Many datagrams at once: the kernel puts together what has come (GRO) and takes apart what is sent (GSO). */
#include "datagrams.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/udp.h>
#include <string.h>

#include "stamps.h"

enum { SOCKET_BUFFER = 7500000 }; /* as far as the machine allows, and as others set */

/* Room for what is told beside datagrams. */
union beside {
    char room[CMSG_SPACE(sizeof(int)) + STAMP_ROOM];
    struct cmsghdr aligned;
};

int datagrams_open(const struct sockaddr *server, socklen_t length)
{
    const int room = SOCKET_BUFFER, yes = 1, uncut = IP_PMTUDISC_DO;
    int descriptor = socket(server->sa_family, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (descriptor < 0 || connect(descriptor, server, length) != 0) {
        return -1;
    }
    setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &room, sizeof room);
    setsockopt(descriptor, SOL_SOCKET, SO_SNDBUF, &room, sizeof room);
    setsockopt(descriptor, IPPROTO_UDP, UDP_GRO, &yes, sizeof yes);
    stamps_ask(descriptor);
    if (server->sa_family == AF_INET) {
        setsockopt(descriptor, IPPROTO_IP, IP_MTU_DISCOVER, &uncut, sizeof uncut);
    } else {
        setsockopt(descriptor, IPPROTO_IPV6, IPV6_MTU_DISCOVER, &uncut, sizeof uncut);
    }
    return descriptor;
}

ssize_t datagrams_take(int descriptor, uint8_t *to, size_t room, size_t *segment, int64_t *arrived)
{
    union beside beside;
    struct iovec into = {to, room};
    struct msghdr message = {
        .msg_iov = &into, .msg_iovlen = 1, .msg_control = &beside, .msg_controllen = sizeof beside};
    ssize_t length = recvmsg(descriptor, &message, 0);
    *segment = length > 0 ? (size_t)length : 1;
    if (length < 0) {
        return -1;
    }
    *arrived = stamps_read(&message);
    for (struct cmsghdr *told = CMSG_FIRSTHDR(&message); told; told = CMSG_NXTHDR(&message, told)) {
        if (told->cmsg_level == IPPROTO_UDP && told->cmsg_type == UDP_GRO) {
            int bytes;
            memcpy(&bytes, CMSG_DATA(told), sizeof bytes);
            *segment = (size_t)bytes;
        }
    }
    return length;
}

static bool send_at_once(int descriptor, const uint8_t *bytes, size_t length, size_t segment)
{
    union beside beside = {{0}};
    struct iovec from = {(void *)bytes, length};
    struct msghdr message = {.msg_iov = &from, .msg_iovlen = 1};
    if (length > segment) {
        const uint16_t size = (uint16_t)segment;
        message.msg_control = &beside;
        message.msg_controllen = CMSG_SPACE(sizeof size);
        struct cmsghdr *told = CMSG_FIRSTHDR(&message);
        told->cmsg_level = IPPROTO_UDP;
        told->cmsg_type = UDP_SEGMENT;
        told->cmsg_len = CMSG_LEN(sizeof size);
        memcpy(CMSG_DATA(told), &size, sizeof size);
    }
    return sendmsg(descriptor, &message, 0) >= 0;
}

/* A device without checksums of its own takes no batches, which the kernel says by EIO. */
bool datagrams_give(int descriptor, const uint8_t *bytes, size_t length, size_t segment)
{
    if (send_at_once(descriptor, bytes, length, segment)) {
        return true;
    }
    if (length <= segment || (errno != EIO && errno != EINVAL)) {
        return false;
    }
    for (; length > segment; bytes += segment, length -= segment) {
        if (!send_at_once(descriptor, bytes, segment, segment)) {
            return false;
        }
    }
    return send_at_once(descriptor, bytes, length, segment);
}
