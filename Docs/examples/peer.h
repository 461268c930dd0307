/* A connection to a Waymark gateway: frames, keepalive, and commands from standard input, one a line.
 * Shared by cluster.c and navigate.c. Written from Docs/protocol.md and Protos/ alone; bodies by libprotobuf-c. */
#pragma once
#include <poll.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <netdb.h>
#include <sys/socket.h>
#include <sys/un.h>
#include "waymark/v1/connection.pb-c.h"
#include "waymark/v1/session.pb-c.h"
#include "waymark/v1/vehicle.pb-c.h"

enum { HEADER_BYTES = 24, FRAME_BYTES_MAX = 1 << 24 };
enum { HELLO = 1, WELCOME, GOODBYE, PING, PONG, ERROR };

enum { IS_STATE = 8, RETAINED = 16 }; /* flags */
/* The extension of these examples: a gauge, which the key names, and its percentage as the only byte. */
enum { EXTENSION = 0x1E0 };
static char *extensions[] = { "org.example.gauges" };

struct frame {
    uint8_t flags;
    uint16_t type, key;
    uint32_t session;
    uint64_t sequence;
    size_t length;
    const uint8_t *body;
};

/* The two programs differ in these. */
static void say_hello(void);
static void welcomed(const Waymark__V1__Welcome *welcome);
static void received(const struct frame *frame);
static void refused(const Waymark__V1__Error *error);
static bool obey(const char *command, double latitude, double longitude);

static struct {
    const char *address;
    size_t receive_frame_bytes_max; /* the largest frame that it takes; 0: any */
    int socket;
    bool active;
    int64_t sent, heard, keepalive; /* milliseconds */
    uint8_t data[FRAME_BYTES_MAX];
    size_t count;
    char typed[4096];
    size_t typed_count;
    uint8_t token[16];
    size_t token_length;
} peer;

static void say(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vprintf(format, arguments);
    va_end(arguments);
    putchar('\n');
    fflush(stdout);
}

static _Noreturn void fail(const char *reason) {
    fprintf(stderr, "%s\n", reason);
    exit(1);
}

static int64_t now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (int64_t)time.tv_sec * 1000 + time.tv_nsec / 1000000;
}

static void put(uint8_t *to, uint64_t value, int bytes) {
    while (bytes-- > 0) { to[bytes] = (uint8_t)value; value >>= 8; }
}

static uint64_t get(const uint8_t *from, int bytes) {
    uint64_t value = 0;
    for (int i = 0; i < bytes; i++) value = value << 8 | from[i];
    return value;
}

static void send_frame(uint16_t type, uint8_t flags, uint16_t key, uint32_t session, uint64_t sequence, const uint8_t *body,
                       size_t length) {
    uint8_t header[HEADER_BYTES] = { 'W', 'M', 1, flags };
    put(header + 4, type, 2);
    put(header + 6, key, 2);
    put(header + 8, length, 4);
    put(header + 12, session, 4);
    put(header + 16, sequence, 8);
    if (send(peer.socket, header, sizeof header, MSG_NOSIGNAL | (length ? MSG_MORE : 0)) < 0) fail("cannot send");
    for (size_t done = 0; done < length;) {
        ssize_t count = send(peer.socket, body + done, length - done, MSG_NOSIGNAL);
        if (count < 0) fail("cannot send");
        done += (size_t)count;
    }
    peer.sent = now();
}

static void send_bytes(uint16_t type, uint32_t session, uint64_t sequence, const uint8_t *body, size_t length) {
    send_frame(type, 0, 0, session, sequence, body, length);
}

/* Sends a message of libprotobuf-c. */
static void send_message(uint16_t type, uint32_t session, uint64_t sequence, const void *message) {
    static uint8_t body[FRAME_BYTES_MAX - HEADER_BYTES];
    if (protobuf_c_message_get_packed_size(message) > sizeof body) fail("the message is too long");
    send_bytes(type, session, sequence, body, protobuf_c_message_pack(message, body));
}

/* Reads a frame's body as a message, or NULL; free it with protobuf_c_message_free_unpacked(message, NULL). */
static void *read_message(const struct frame *frame, const ProtobufCMessageDescriptor *descriptor) {
    return protobuf_c_message_unpack(descriptor, NULL, frame->length, frame->body);
}

/* Runs the statements with `m`, the frame's body as a message of the type; not if the body is something else. */
#define WITH(Type, type, statements) do { \
        Waymark__V1__##Type *m = read_message(frame, &waymark__v1__##type##__descriptor); \
        if (!m) break; \
        statements \
        waymark__v1__##type##__free_unpacked(m, NULL); \
    } while (0)

static void connect_peer(void) {
    if (strncmp(peer.address, "unix:", 5) == 0) {
        struct sockaddr_un to = { .sun_family = AF_UNIX };
        snprintf(to.sun_path, sizeof to.sun_path, "%s", peer.address + 5);
        peer.socket = socket(AF_UNIX, SOCK_STREAM, 0);
        if (connect(peer.socket, (struct sockaddr *)&to, sizeof to) < 0) fail("cannot connect");
    } else {
        char host[256] = "";
        const char *text = strncmp(peer.address, "tcp:", 4) == 0 ? peer.address + 4 : peer.address;
        const char *colon = strrchr(text, ':');
        if (!colon) fail("an address is tcp:HOST:PORT or unix:/PATH");
        bool bracketed = *text == '[';
        snprintf(host, sizeof host, "%.*s", (int)(colon - text) - 2 * bracketed, text + bracketed);
        struct addrinfo hints = { .ai_socktype = SOCK_STREAM }, *to;
        if (getaddrinfo(host, colon + 1, &hints, &to) != 0) fail("no such host");
        peer.socket = socket(to->ai_family, SOCK_STREAM, 0);
        if (connect(peer.socket, to->ai_addr, to->ai_addrlen) < 0) fail("cannot connect");
        freeaddrinfo(to);
    }
    peer.active = false;
    peer.count = 0;
    peer.keepalive = 10000;
    peer.heard = now();
    say_hello();
}

static void handle_welcome(const struct frame *frame) {
    Waymark__V1__Welcome *welcome = read_message(frame, &waymark__v1__welcome__descriptor);
    if (!welcome) fail("the gateway sent a Welcome that cannot be read");
    peer.active = true;
    peer.keepalive = welcome->keepalive_milliseconds;
    peer.token_length = welcome->resumption_token.len == sizeof peer.token ? sizeof peer.token : 0;
    memcpy(peer.token, welcome->resumption_token.data, peer.token_length);
    say(welcome->resumed ? "resumed" : "connected");
    welcomed(welcome);
    waymark__v1__welcome__free_unpacked(welcome, NULL);
}

static void handle(const struct frame *frame) {
    if (frame->type == WELCOME) {
        handle_welcome(frame);
    } else if (frame->type == PING) {
        send_bytes(PONG, 0, 0, frame->body, frame->length);
    } else if (frame->type == ERROR) {
        WITH(Error, error, say("error %d %s: %s", (int)m->code, m->field, m->reason); refused(m););
    } else if (frame->type == GOODBYE) {
        WITH(Goodbye, goodbye, say("goodbye %d %s", (int)m->code, m->reason););
        exit(1);
    } else {
        received(frame);
    }
}

/* Reads what has come and handles the frames that are whole. */
static void read_frames(void) {
    ssize_t news = read(peer.socket, peer.data + peer.count, sizeof peer.data - peer.count);
    if (news <= 0) fail("the gateway closed the connection");
    peer.heard = now();
    peer.count += (size_t)news;
    size_t at = 0;
    while (peer.count - at >= HEADER_BYTES) {
        const uint8_t *header = peer.data + at;
        if (memcmp(header, "WM\1", 3) != 0) fail("this is not the Waymark protocol");
        struct frame frame = {
            .flags = header[3], .type = (uint16_t)get(header + 4, 2), .key = (uint16_t)get(header + 6, 2),
            .length = get(header + 8, 4), .session = (uint32_t)get(header + 12, 4),
            .sequence = get(header + 16, 8), .body = header + HEADER_BYTES,
        };
        size_t most = peer.receive_frame_bytes_max ? peer.receive_frame_bytes_max : FRAME_BYTES_MAX;
        if (frame.length > most - HEADER_BYTES) fail("a frame is longer than agreed");
        if (peer.count - at < HEADER_BYTES + frame.length) break;
        handle(&frame);
        at += HEADER_BYTES + frame.length;
    }
    peer.count -= at;
    memmove(peer.data, peer.data + at, peer.count);
}

static void obey_line(char *line) {
    char word[32] = "";
    double latitude = 0, longitude = 0;
    int count = sscanf(line, "%31s %lf %lf", word, &latitude, &longitude);
    if (strcmp(word, "quit") == 0) {
        Waymark__V1__Goodbye goodbye = WAYMARK__V1__GOODBYE__INIT;
        goodbye.code = WAYMARK__V1__CLOSE_CODE__CLOSE_CODE_NORMAL;
        send_message(GOODBYE, 0, 0, &goodbye);
        exit(0);
    } else if (strcmp(word, "cut") == 0) { /* as if the network had failed: no Goodbye */
        close(peer.socket);
        connect_peer();
    } else if (count > 0 && !obey(word, latitude, longitude)) {
        say("unknown command");
    }
}

static void read_commands(void) {
    ssize_t news = read(0, peer.typed + peer.typed_count, sizeof peer.typed - 1 - peer.typed_count);
    if (news <= 0) news = snprintf(peer.typed, sizeof peer.typed, "quit\n");
    peer.typed_count += (size_t)news;
}

static void run(void) {
    connect_peer();
    for (;;) {
        int64_t patience = (peer.active ? peer.sent + peer.keepalive / 2 : peer.heard + 3 * peer.keepalive) - now();
        struct pollfd sources[] = { { peer.socket, POLLIN, 0 }, { 0, POLLIN, 0 } };
        poll(sources, peer.active ? 2 : 1, patience > 0 ? (int)patience + 1 : 0); /* nothing is sent before Welcome */
        if (now() > peer.heard + 3 * peer.keepalive) fail("the gateway is silent");
        if (peer.active && now() >= peer.sent + peer.keepalive / 2) {
            Waymark__V1__Ping ping = WAYMARK__V1__PING__INIT;
            ping.nonce = 1;
            send_message(PING, 0, 0, &ping);
        }
        if (sources[0].revents) read_frames();
        if (sources[1].revents && peer.active) read_commands();
        char *end;
        while (peer.active && (end = memchr(peer.typed, '\n', peer.typed_count))) {
            char line[sizeof peer.typed] = "";
            size_t length = (size_t)(end - peer.typed) + 1;
            memcpy(line, peer.typed, length - 1);
            peer.typed_count -= length;
            memmove(peer.typed, end + 1, peer.typed_count);
            obey_line(line);
        }
    }
}
