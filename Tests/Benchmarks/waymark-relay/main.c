/*
 * waymark-relay PATH: forwards frames at the lowest possible cost, on one thread with epoll(7) and Unix sockets.
 *
 * It reads the frames of Docs/protocol.md, but only their length, type and session. Nothing is checked, kept or counted. All the
 * frames of one read are sent to each endpoint unchanged, in one system call.
 *
 * The first byte of Hello is the role: 1 for an endpoint, 2 for a publisher. A request is forwarded to the session's publisher with
 * the endpoint's number in place of the session id; the answer has the same number, which identifies the endpoint.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { HEADER = 24, CONNECTIONS = 1 << 17, SESSIONS = 1 << 12, BUFFER = 4 << 20, READ_MAX = 64 << 10 };
enum { HELLO = 0x0001, WELCOME = 0x0002, REQUEST = 0x0200, ANSWER = 0x0203 };
enum { PUBLISHED_MIN = 0x0100, PUBLISHED_MAX = 0x01FF };

/* Pending bytes: the start of a frame, or bytes that a socket did not accept. */
struct bytes {
    uint8_t *data;
    size_t count;
};

struct connection {
    uint32_t session;
    uint32_t place; /* in its session's list */
    uint8_t role;   /* 0 before Hello */
    struct bytes in, out;
};

struct session {
    int publisher;
    int *endpoints;
    uint32_t count, capacity;
};

static struct connection *connections[CONNECTIONS]; /* by descriptor */
static struct session sessions[SESSIONS];
static uint8_t buffer[BUFFER];
static int epoll;

static void *need(void *memory)
{
    if (!memory) abort();
    return memory;
}

static uint16_t get16(const uint8_t *at)
{
    uint16_t value;
    memcpy(&value, at, sizeof value);
    return ntohs(value);
}

static uint32_t get32(const uint8_t *at)
{
    uint32_t value;
    memcpy(&value, at, sizeof value);
    return ntohl(value);
}

static void put32(uint8_t *at, uint32_t value)
{
    value = htonl(value);
    memcpy(at, &value, sizeof value);
}

static void keep(struct bytes *bytes, const uint8_t *more, size_t count)
{
    bytes->data = need(realloc(bytes->data, bytes->count + count));
    memcpy(bytes->data + bytes->count, more, count);
    bytes->count += count;
}

static void forget(struct bytes *bytes)
{
    free(bytes->data);
    *bytes = (struct bytes){0};
}

static void watch(int descriptor, int operation, uint32_t events)
{
    struct epoll_event event = {.events = events, .data.fd = descriptor};
    epoll_ctl(epoll, operation, descriptor, &event);
}

/* A broken connection is detected when it is read. */
static void pass(int to, const uint8_t *bytes, size_t count)
{
    struct connection *connection = connections[to];
    ssize_t sent = 0;

    if (!connection->out.count) {
        sent = send(to, bytes, count, MSG_NOSIGNAL);
        if (sent == (ssize_t)count) return;
        if (sent < 0 && errno != EAGAIN) return;
        if (sent < 0) sent = 0;
        watch(to, EPOLL_CTL_MOD, EPOLLIN | EPOLLOUT);
    }
    keep(&connection->out, bytes + sent, count - (size_t)sent);
}

static void drain(int descriptor)
{
    struct bytes *out = &connections[descriptor]->out;
    ssize_t sent = send(descriptor, out->data, out->count, MSG_NOSIGNAL);

    if (sent <= 0) return;
    memmove(out->data, out->data + sent, out->count - (size_t)sent);
    out->count -= (size_t)sent;
    if (out->count) return;
    forget(out);
    watch(descriptor, EPOLL_CTL_MOD, EPOLLIN);
}

static void fan_out(const struct session *session, const uint8_t *bytes, size_t count)
{
    for (uint32_t i = 0; count && i < session->count; i++) pass(session->endpoints[i], bytes, count);
}

static void leave(int descriptor)
{
    struct connection *connection = connections[descriptor];
    struct session *session = &sessions[connection->session];

    if (connection->role == 1) {
        int last = session->endpoints[--session->count];
        session->endpoints[connection->place] = last;
        connections[last]->place = connection->place;
    } else if (connection->role == 2) {
        session->publisher = -1;
    }
    forget(&connection->in);
    forget(&connection->out);
    free(connection);
    connections[descriptor] = NULL;
    close(descriptor);
}

static void join(int descriptor, const uint8_t *frame)
{
    static const uint8_t welcome[HEADER] = {'W', 'M', 1, 0, 0, WELCOME};
    struct connection *connection = connections[descriptor];
    struct session *session = &sessions[get32(frame + 12) % SESSIONS];

    if (connection->role) return;
    connection->session = (uint32_t)(session - sessions);
    connection->role = frame[HEADER];
    if (connection->role == 2) {
        session->publisher = descriptor;
    } else {
        if (session->count == session->capacity) {
            session->capacity = session->capacity ? 2 * session->capacity : 16;
            session->endpoints = need(realloc(session->endpoints, session->capacity * sizeof(int)));
        }
        connection->place = session->count;
        session->endpoints[session->count++] = descriptor;
    }
    pass(descriptor, welcome, HEADER);
}

/* Handles all frames except publications. */
static void route(int descriptor, uint8_t *frame, size_t count)
{
    struct connection *connection = connections[descriptor];
    uint32_t to = get32(frame + 12);

    switch (get16(frame + 4)) {
    case HELLO:
        join(descriptor, frame);
        break;
    case REQUEST:
        put32(frame + 12, (uint32_t)descriptor);
        pass(sessions[connection->session].publisher, frame, count);
        break;
    case ANSWER:
        if (to < CONNECTIONS && connections[to]) pass((int)to, frame, count);
        break;
    }
}

static void receive(int descriptor)
{
    struct connection *connection = connections[descriptor];
    size_t count = connection->in.count, start = 0, end = 0;

    if (count) memcpy(buffer, connection->in.data, count);
    ssize_t more = recv(descriptor, buffer + count, count < BUFFER - READ_MAX ? READ_MAX : BUFFER - count, 0);
    if (more <= 0) {
        if (more == 0 || errno != EAGAIN) leave(descriptor);
        return;
    }
    count += (size_t)more;
    /* buffer[start ..< end] are complete publications that are not forwarded yet. */
    while (count - end >= HEADER) {
        size_t length = HEADER + get32(buffer + end + 8);
        uint16_t type = get16(buffer + end + 4);
        if (length > count - end) break;
        if (type < PUBLISHED_MIN || type > PUBLISHED_MAX) {
            fan_out(&sessions[connection->session], buffer + start, end - start);
            route(descriptor, buffer + end, length);
            start = end + length;
        }
        end += length;
    }
    fan_out(&sessions[connection->session], buffer + start, end - start);
    if (connection->in.count) forget(&connection->in);
    if (end < count) keep(&connection->in, buffer + end, count - end);
}

static void accept_all(int listener)
{
    int descriptor;

    while ((descriptor = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC)) >= 0) {
        connections[descriptor] = need(calloc(1, sizeof(struct connection)));
        watch(descriptor, EPOLL_CTL_ADD, EPOLLIN);
    }
}

static int listen_on(const char *path)
{
    struct sockaddr_un name = {.sun_family = AF_UNIX};
    int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

    snprintf(name.sun_path, sizeof name.sun_path, "%s", path);
    unlink(path);
    if (bind(listener, (struct sockaddr *)&name, sizeof name) || listen(listener, 4096)) {
        perror(path);
        exit(1);
    }
    return listener;
}

int main(int count, char **arguments)
{
    struct epoll_event events[256];
    struct rlimit limit;

    if (count != 2) {
        fprintf(stderr, "usage: %s PATH\n", arguments[0]);
        return 2;
    }
    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = limit.rlim_max < CONNECTIONS ? limit.rlim_max : CONNECTIONS;
    setrlimit(RLIMIT_NOFILE, &limit);
    epoll = epoll_create1(EPOLL_CLOEXEC);
    int listener = listen_on(arguments[1]);
    watch(listener, EPOLL_CTL_ADD, EPOLLIN);
    for (;;) {
        int happened = epoll_wait(epoll, events, 256, -1);
        for (int i = 0; i < happened; i++) {
            int descriptor = events[i].data.fd;
            if (descriptor == listener) {
                accept_all(listener);
                continue;
            }
            if (!connections[descriptor]) continue;
            if (events[i].events & EPOLLOUT) drain(descriptor);
            if (events[i].events & ~(uint32_t)EPOLLOUT) receive(descriptor);
        }
    }
}
