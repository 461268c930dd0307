// A vehicle endpoint in C: says Hello, holds what it is sent, prints what it would show. Does what cluster.py does.
//
//     wire=../../Sources/CWaymarkWire
//     cc -o cluster cluster.c $wire/waymark/v1/*.c -I$wire/include $(pkg-config --cflags --libs libprotobuf-c)
//
//     ./cluster unix:/run/user/1000/waymark/vehicle.sock car
//     ./cluster tcp:127.0.0.1:7227 car cluster 4096     takes frames of at most 4 096 bytes
#include "peer.h"

enum { SESSION_ENDED = 0x13, SNAPSHOT_BEGIN, SNAPSHOT_END, SUSPENDED, RESTORED };
enum { START_GUIDANCE = 0x101, UPDATE_TRIP, ADD_MANEUVERS, ADD_LANES, ADD_SEGMENTS, UPCOMING, LANES, ROAD, STATE };
enum { ESTIMATES = 0x10B, PAUSE = 0x10D, RESUME, SHARE = 0x111, FINISH, CANCEL };
enum { WAYPOINT = 0x200, DESTINATION, WITHDRAW, PROMPT = 0x204, PROMPT_ANSWER, PROMPT_OVER, OUTCOME };
enum { CANCEL_NAVIGATION = 0x208, ALLOW_NAVIGATION, SHARE_ANSWER = 0x20E };
enum { NONE, FULL, MISSED }; /* kinds of snapshots */
enum { MORE = 32 };           /* a flag */

/* What is held of the route: one entry per id. */
struct entry {
    uint32_t id;
    char words[128];   /* of a maneuver */
    size_t lanes;      /* of a lane guidance */
    uint32_t distance; /* of estimates */
};
struct entries {
    struct entry *list;
    size_t count;
};

static struct {
    struct entries maneuvers, lanes, distances;
    struct { char id[129]; size_t points; } segments[1024];
    size_t segment_count;
    uint32_t generation, first, current_lanes;
    bool any_upcoming;
    int state;
} route;

static const char *vehicle, *endpoint = "cluster";
static uint32_t session;
static uint64_t sequence, snapshot_end; /* the cursor, and what it becomes at the end of a snapshot */
static unsigned requests;
static struct { uint16_t type; char id[32]; double place[2]; uint32_t session; } asked[8]; /* without an outcome; type 0: none */
static int snapshot;
static bool awaits_more; /* more parts of the last publication are to come */
static bool paused;
static uint8_t gauges[4]; /* by key: the percentage plus 1, 0 for none */
static char trip[129], road[128], prompt[65], shown[512];
static int64_t prompt_deadline; /* milliseconds */

static struct entry *find(struct entries *in, uint32_t id) {
    for (size_t i = 0; i < in->count; i++) if (in->list[i].id == id) return &in->list[i];
    return NULL;
}

/* The entry with the id, made if there is none. */
static struct entry *entry(struct entries *in, uint32_t id) {
    struct entry *found = find(in, id);
    if (found) return found;
    in->list = realloc(in->list, (in->count + 1) * sizeof *in->list);
    if (!in->list) fail("out of memory");
    in->list[in->count] = (struct entry){ .id = id };
    return &in->list[in->count++];
}

static void add_segment(const Waymark__V1__RouteSegment *segment) {
    size_t at = 0;
    while (at < route.segment_count && strcmp(route.segments[at].id, segment->id) != 0) at++;
    if (at == sizeof route.segments / sizeof *route.segments) fail("too many segments");
    if (at == route.segment_count) route.segment_count++;
    snprintf(route.segments[at].id, sizeof route.segments[at].id, "%s", segment->id);
    route.segments[at].points = segment->coordinates ? segment->coordinates->n_latitude_e6_deltas : 0;
}

static void add(size_t maneuvers, Waymark__V1__Maneuver **maneuver, size_t guidances, Waymark__V1__LaneGuidance **guidance,
                size_t segments, Waymark__V1__RouteSegment **segment) {
    for (size_t i = 0; i < maneuvers; i++) {
        const char *words = maneuver[i]->n_instruction_variants ? maneuver[i]->instruction_variants[0] : "-";
        struct entry *at = entry(&route.maneuvers, maneuver[i]->id);
        snprintf(at->words, sizeof at->words, "%s", words);
    }
    for (size_t i = 0; i < guidances; i++) entry(&route.lanes, guidance[i]->id)->lanes = guidance[i]->n_lanes;
    for (size_t i = 0; i < segments; i++) add_segment(segment[i]);
}

/* The first of the ids that is held. */
static void set_upcoming(size_t count, const uint32_t *ids) {
    size_t at = 0;
    while (at < count && !find(&route.maneuvers, ids[at])) at++;
    route.any_upcoming = at < count;
    route.first = at < count ? ids[at] : 0;
}

/* A new generation voids everything that spoke of the route. */
static void begin_route(const Waymark__V1__RouteInformation *news, uint32_t generation) {
    route.maneuvers.count = route.lanes.count = route.distances.count = route.segment_count = 0;
    route.generation = generation;
    route.state = 0;
    route.current_lanes = 0;
    set_upcoming(0, NULL);
    if (!news) return;
    add(news->n_maneuvers, news->maneuvers, news->n_lane_guidances, news->lane_guidances, news->n_segments, news->segments);
    route.current_lanes = news->current_lane_guidance_id;
    set_upcoming(news->n_upcoming_maneuver_ids, news->upcoming_maneuver_ids);
    if (route.any_upcoming && route.first == news->upcoming_maneuver_ids[0] && news->maneuver_travel_estimates)
        entry(&route.distances, route.first)->distance = news->maneuver_travel_estimates->distance_remaining_meters;
}

static void forget(void) {
    *trip = *road = 0;
    paused = false;
    memset(gauges, 0, sizeof gauges);
    begin_route(NULL, 0);
}

/* Holds no session any more. */
static void leave(void) {
    forget();
    session = 0;
    sequence = 0;
    snapshot = NONE;
    awaits_more = false;
}

static void say_hello(void) {
    Waymark__V1__Feature features[] = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, /* all content; requests, prompts, resumption: */ 11, 12, 16 };
    Waymark__V1__VehicleHello about = WAYMARK__V1__VEHICLE_HELLO__INIT;
    about.vehicle_id = (char *)vehicle;
    about.endpoint = (char *)endpoint;
    about.features = features;
    about.n_features = sizeof features / sizeof *features;
    about.guidance_wanted = true;
    Waymark__V1__Hello hello = WAYMARK__V1__HELLO__INIT;
    hello.version_min = hello.version_max = 2;
    hello.role = WAYMARK__V1__ROLE__ROLE_VEHICLE_ENDPOINT;
    hello.vehicle = &about;
    hello.receive_frame_bytes_max = (uint32_t)peer.receive_frame_bytes_max;
    hello.extensions = extensions;
    hello.n_extensions = 1;
    if (peer.token_length) {
        hello.resumption_token = (ProtobufCBinaryData){ peer.token_length, peer.token };
        hello.resume_session_id = session;
        hello.resume_sequence = sequence;
    }
    send_message(HELLO, 0, 0, &hello);
}

static void send_request(size_t at);
static void show(void);

static void welcomed(const Waymark__V1__Welcome *welcome) {
    *prompt = 0; /* the gateway sends an open one again */
    if (!welcome->resumed) {
        for (size_t i = 0; i < sizeof asked / sizeof *asked; i++) /* the gateway does not know them: a new request gets a new id */
            if (asked[i].type) say("outcome %d of %s", (int)WAYMARK__V1__OUTCOME__OUTCOME_GONE, asked[i].id);
        memset(asked, 0, sizeof asked);
        leave();
        show();
    } else if (snapshot == FULL) { /* half of a snapshot is nothing */
        leave();
    }
    for (size_t i = 0; i < sizeof asked / sizeof *asked; i++) if (asked[i].type) send_request(i);
}

static void end_request(const char *id) {
    for (size_t i = 0; i < sizeof asked / sizeof *asked; i++) if (strcmp(asked[i].id, id) == 0) asked[i].type = 0;
}

/* The gateway rejected a message: a request that it names has ended. */
static void refused(const Waymark__V1__Error *error) {
    if (error->message_type >= WAYPOINT && error->message_type <= WITHDRAW) end_request(error->request_id);
}

/* Prints the display, when it has changed and nothing is half on its way. */
static void show(void) {
    static const char *const states[] = { "continue", "initial", "prepare", "execute" };
    char line[512] = "", distance[16] = "-";
    if (*trip) {
        const struct entry *maneuver = route.any_upcoming ? find(&route.maneuvers, route.first) : NULL;
        const struct entry *ahead = route.any_upcoming ? find(&route.distances, route.first) : NULL;
        const struct entry *lanes = find(&route.lanes, route.current_lanes);
        size_t points = 0;
        for (size_t i = 0; i < route.segment_count; i++) points += route.segments[i].points;
        if (ahead) snprintf(distance, sizeof distance, "%u", ahead->distance);
        snprintf(line, sizeof line, "shows %s generation %u on %s: %s in %s m, %s, %zu maneuvers, %zu lanes, %zu segments with %zu points",
                 trip, route.generation, *road ? road : "-", maneuver ? maneuver->words : "-", distance,
                 paused ? "paused" : states[route.state], route.maneuvers.count, lanes ? lanes->lanes : 0, route.segment_count, points);
        for (size_t key = 0; key < sizeof gauges; key++) {
            size_t length = strlen(line);
            if (gauges[key]) snprintf(line + length, sizeof line - length, ", gauge %zu at %d %%", key, gauges[key] - 1);
        }
    }
    if (snapshot != NONE || awaits_more || strcmp(line, shown) == 0) return;
    strcpy(shown, line);
    say("%s", *line ? line : "shows nothing");
}

static void apply_vehicle_message(const struct frame *frame) {
    switch (frame->type) {
    case PROMPT:
        WITH(Prompt, prompt,
             snprintf(prompt, sizeof prompt, "%s", m->request_id);
             prompt_deadline = now() + m->deadline_milliseconds;
             say("prompt %s: %s, then %u m to go", prompt,
                 m->waypoint && m->waypoint->n_name_variants ? m->waypoint->name_variants[0] : "-",
                 m->travel_estimates ? m->travel_estimates->distance_remaining_meters : 0););
        break;
    case PROMPT_OVER:
        WITH(PromptOver, prompt_over,
             if (strcmp(m->request_id, prompt) == 0) *prompt = 0;
             say("prompt over %s outcome %d", m->request_id, (int)m->outcome););
        break;
    case OUTCOME:
        WITH(RequestOutcome, request_outcome, end_request(m->request_id); say("outcome %d of %s", (int)m->outcome, m->request_id););
        break;
    }
}

static void answer_share(const struct frame *frame) {
    WITH(ShareDestination, share_destination,
         say("shared %s", m->destination && m->destination->n_name_variants ? m->destination->name_variants[0] : "-");
         Waymark__V1__DestinationShareAnswer answer = WAYMARK__V1__DESTINATION_SHARE_ANSWER__INIT;
         answer.share_id = m->share_id;
         answer.outcome = WAYMARK__V1__OUTCOME__OUTCOME_ACCEPTED; /* a real vehicle would ask its own navigation */
         send_message(SHARE_ANSWER, session, 0, &answer););
}

/* Whether a publication is for the route that is held. */
#define IS_CURRENT (m->generation == route.generation)

/* Publications during guidance. */
static void update(const struct frame *frame) {
    switch (frame->type) {
    case UPDATE_TRIP: WITH(UpdateTrip, update_trip, snprintf(trip, sizeof trip, "%s", m->trip ? m->trip->id : "");); break;
    case ADD_MANEUVERS:
        WITH(AddManeuvers, add_maneuvers, if (IS_CURRENT) add(m->n_maneuvers, m->maneuvers, 0, NULL, 0, NULL););
        break;
    case ADD_LANES:
        WITH(AddLaneGuidances, add_lane_guidances, if (IS_CURRENT) add(0, NULL, m->n_lane_guidances, m->lane_guidances, 0, NULL););
        break;
    case ADD_SEGMENTS:
        WITH(AddRouteSegments, add_route_segments, if (IS_CURRENT) add(0, NULL, 0, NULL, m->n_segments, m->segments););
        break;
    case UPCOMING:
        WITH(UpcomingManeuvers, upcoming_maneuvers, if (IS_CURRENT) set_upcoming(m->n_maneuver_ids, m->maneuver_ids););
        break;
    case LANES:
        WITH(CurrentLaneGuidance, current_lane_guidance,
             if (IS_CURRENT && (m->lane_guidance_id == 0 || find(&route.lanes, m->lane_guidance_id)))
                 route.current_lanes = m->lane_guidance_id;);
        break;
    case ROAD:
        WITH(CurrentRoadName, current_road_name, snprintf(road, sizeof road, "%s", m->n_name_variants ? m->name_variants[0] : ""););
        break;
    case STATE: /* A state of a later version is none that it can show. */
        WITH(UpdateManeuverState, update_maneuver_state, if (IS_CURRENT) route.state = (unsigned)m->state < 4 ? (int)m->state : 0;);
        break;
    case ESTIMATES:
        WITH(UpdateManeuverEstimates, update_maneuver_estimates,
             if (IS_CURRENT && m->travel_estimates && find(&route.maneuvers, m->maneuver_id))
                 entry(&route.distances, m->maneuver_id)->distance = m->travel_estimates->distance_remaining_meters;);
        break;
    case PAUSE: WITH(PauseGuidance, pause_guidance, paused = true; route.state = 0;); break;
    case RESUME:
        WITH(ResumeGuidance, resume_guidance, paused = false;
             if (m->generation != route.generation) begin_route(m->route, m->generation););
        break;
    default: apply_vehicle_message(frame);
    }
}

static void apply(const struct frame *frame) {
    switch (frame->type) {
    case SNAPSHOT_BEGIN:
        WITH(SnapshotBegin, snapshot_begin,
             if ((int)m->kind == FULL) {
                 leave();
                 session = frame->session;
             }
             if (session == frame->session) { /* otherwise missed frames of a session that is not held */
                 snapshot = (int)m->kind;
                 snapshot_end = m->to_sequence;
                 say("snapshot %s from %s", snapshot == FULL ? "full" : "missed", m->client_id);
             });
        break;
    case SNAPSHOT_END: snapshot = NONE; sequence = snapshot_end; awaits_more = false; break;
    case FINISH: say("finished"); leave(); break;
    case CANCEL: say("cancelled"); leave(); break;
    case SESSION_ENDED:
        WITH(SessionEnded, session_ended,
             say("ended %d", (int)m->reason);
             /* Another session's answers a CancelNavigation that crossed. */
             if (m->session_id == 0 || m->session_id == session) leave(););
        break;
    case SUSPENDED: say("suspended"); break;
    case RESTORED: say("restored"); break;
    case START_GUIDANCE:
        WITH(StartGuidance, start_guidance, forget(); snprintf(trip, sizeof trip, "%s", m->trip ? m->trip->id : "");
             begin_route(m->route, m->generation););
        break;
    case EXTENSION:
        if (!(frame->flags & IS_STATE) || frame->key >= sizeof gauges) break;
        WITH(PublishExtension, publish_extension,
             bool is_kept = frame->flags & RETAINED && m->content.len == 1 && strcmp(m->name, extensions[0]) == 0;
             gauges[frame->key] = is_kept ? m->content.data[0] + 1 : 0;);
        break;
    case SHARE: answer_share(frame); break; /* also of a trip preview */
    default: if (frame->session && !*trip) break; /* the others of a session need guidance */
        update(frame);
    }
}

static void received(const struct frame *frame) {
    if (frame->session && frame->session != session && frame->type != SNAPSHOT_BEGIN) return; /* of a session that is not held */
    if (frame->type >= 0x100 && frame->type <= 0x1FF) {
        awaits_more = frame->flags & MORE;
        if (snapshot != FULL) sequence = frame->sequence; /* also if the frame is of no use */
    }
    apply(frame);
    show();
}

static void send_request(size_t at) {
    char *names[] = { "A place" };
    Waymark__V1__Coordinate center = WAYMARK__V1__COORDINATE__INIT;
    center.latitude = asked[at].place[0];
    center.longitude = asked[at].place[1];
    Waymark__V1__Waypoint place = WAYMARK__V1__WAYPOINT__INIT;
    place.center = &center;
    place.name_variants = names;
    place.n_name_variants = 1;
    if (asked[at].type == WAYPOINT) {
        Waymark__V1__WaypointRequest body = WAYMARK__V1__WAYPOINT_REQUEST__INIT;
        body.request_id = asked[at].id;
        body.waypoint = &place;
        send_message(WAYPOINT, asked[at].session, 0, &body);
    } else if (asked[at].type == DESTINATION) {
        Waymark__V1__DestinationRequest body = WAYMARK__V1__DESTINATION_REQUEST__INIT;
        body.request_id = asked[at].id;
        body.destination = &place;
        send_message(DESTINATION, 0, 0, &body);
    } else {
        Waymark__V1__WithdrawRequest body = WAYMARK__V1__WITHDRAW_REQUEST__INIT;
        body.request_id = asked[at].id;
        send_message(WITHDRAW, 0, 0, &body);
    }
}

/* Sends a request, and keeps it until its outcome; of too many the oldest is forgotten. */
static void request(uint16_t type, double latitude, double longitude) {
    size_t at = ++requests % (sizeof asked / sizeof *asked);
    asked[at].type = type;
    snprintf(asked[at].id, sizeof asked[at].id, "request-%u", requests);
    asked[at].place[0] = latitude;
    asked[at].place[1] = longitude;
    asked[at].session = type == WAYPOINT ? session : 0; /* a waypoint is for the drive that is shown, not for a later one */
    send_request(at);
}

static bool obey(const char *command, double latitude, double longitude) {
    if (strcmp(command, "waypoint") == 0 || strcmp(command, "destination") == 0) {
        request(*command == 'w' ? WAYPOINT : DESTINATION, latitude, longitude);
    } else if (strcmp(command, "withdraw") == 0) {
        size_t at = requests % (sizeof asked / sizeof *asked);
        if (!asked[at].type) return true; /* it has ended */
        asked[at].type = WITHDRAW;
        send_request(at);
    } else if (*prompt && now() < prompt_deadline && (strcmp(command, "yes") == 0 || strcmp(command, "no") == 0)) {
        Waymark__V1__PromptAnswer body = WAYMARK__V1__PROMPT_ANSWER__INIT;
        body.request_id = prompt;
        body.accepted = *command == 'y';
        send_message(PROMPT_ANSWER, 0, 0, &body);
    } else if (strcmp(command, "own") == 0 || strcmp(command, "cancel") == 0) {
        Waymark__V1__CancelNavigation body = WAYMARK__V1__CANCEL_NAVIGATION__INIT;
        body.reason = *command == 'o' ? WAYMARK__V1__CANCEL_REASON__CANCEL_REASON_OWN_NAVIGATION_STARTED
                                      : WAYMARK__V1__CANCEL_REASON__CANCEL_REASON_USER_STOPPED;
        send_message(CANCEL_NAVIGATION, *command == 'o' ? 0 : session, 0, &body);
    } else if (strcmp(command, "allow") == 0) {
        send_bytes(ALLOW_NAVIGATION, 0, 0, NULL, 0);
    } else {
        return false;
    }
    return true;
}

int main(int count, char **arguments) {
    if (count < 3 || count > 5) fail("usage: cluster ADDRESS VEHICLE [ENDPOINT [RECEIVE_FRAME_BYTES_MAX]]");
    peer.address = arguments[1];
    vehicle = arguments[2];
    if (count >= 4) endpoint = arguments[3];
    if (count == 5) peer.receive_frame_bytes_max = strtoul(arguments[4], NULL, 10);
    run();
}
