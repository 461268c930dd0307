// A navigation client in C: guides one vehicle along a small route, and answers its requests. Does what navigate.py does.
//
//     wire=../../Sources/CWaymarkWire
//     cc -o navigate navigate.c $wire/waymark/v1/*.c -I$wire/include $(pkg-config --cflags --libs libprotobuf-c)
//
//     ./navigate unix:/run/user/1000/waymark/navigation.sock car
#include "peer.h"

enum { OPEN_SESSION = 0x10, SESSION_OPENED, VEHICLE_CHANGED, SESSION_ENDED, ACKNOWLEDGEMENT = 0x1A };
enum { START_GUIDANCE = 0x101, ROAD = 0x108, STATE = 0x109, ESTIMATES = 0x10B, PAUSE = 0x10D, RESUME, FINISH = 0x112, CANCEL };
enum { WAYPOINT = 0x200, DESTINATION, ANSWER = 0x203, OUTCOME = 0x207 };

static const double line[][2] = { { 47.14100, 9.52150 }, { 47.13945, 9.52280 }, { 47.13800, 9.52410 } };
enum { POINTS = sizeof line / sizeof *line };
static const struct { uint32_t meters; Waymark__V1__ManeuverState state; } steps[] = { { 400, 1 }, { 150, 2 }, { 20, 3 }, { 900, 0 } };

static const char *vehicle, *client = "c";
static unsigned opened, step;
static uint32_t session, generation;

/* What was published in the session and is not acknowledged. */
static struct { uint16_t type, key; uint8_t flags; size_t length; uint8_t *body; } *published;
static size_t published_count;
static uint64_t acknowledged; /* The first of them has the next number. */

static void say_hello(void) {
    /* Maneuvers, lanes, road name, segments; requests for waypoints and for destinations; resumption. */
    Waymark__V1__Feature provided[] = { 1, 2, 4, 5, 13, 14, 16 };
    Waymark__V1__NavigationHello about = WAYMARK__V1__NAVIGATION_HELLO__INIT;
    about.client_id = (char *)client;
    about.features = provided;
    about.n_features = sizeof provided / sizeof *provided;
    Waymark__V1__Hello hello = WAYMARK__V1__HELLO__INIT;
    hello.version_min = hello.version_max = 2;
    hello.role = WAYMARK__V1__ROLE__ROLE_NAVIGATION_CLIENT;
    hello.navigation = &about;
    hello.extensions = extensions;
    hello.n_extensions = 1;
    hello.resumption_token = (ProtobufCBinaryData){ peer.token_length, peer.token };
    send_message(HELLO, 0, 0, &hello);
}

/* The gateway never asks for what it has acknowledged. */
static void acknowledge(uint64_t sequence) {
    size_t count = sequence > acknowledged ? (size_t)(sequence - acknowledged) : 0;
    if (!count) return;
    if (count > published_count) fail("the gateway acknowledges what was not published");
    for (size_t i = 0; i < count; i++) free(published[i].body);
    published_count -= count;
    memmove(published, published + count, published_count * sizeof *published);
    acknowledged += count;
}

static void open_session(void);

/* The gateway names the last number that it has; what it missed is sent again. */
static void welcomed(const Waymark__V1__Welcome *welcome) {
    for (size_t i = 0; i < welcome->n_sessions; i++) {
        const Waymark__V1__ResumedSession *known = welcome->sessions[i];
        if (known->session_id != session || known->phase == WAYMARK__V1__SESSION_PHASE__SESSION_PHASE_ENDED) continue;
        acknowledge(known->sequence);
        for (size_t next = 0; next < published_count; next++)
            send_frame(published[next].type, published[next].flags, published[next].key, session, acknowledged + next + 1,
                       published[next].body, published[next].length);
        return;
    }
    if (session && !welcome->resumed) open_session(); /* The gateway knows nothing of this client: the drive begins again. */
    session = 0;
}

/* Publishes a body, and keeps it. */
static void publish_body(uint16_t type, uint8_t flags, uint16_t key, uint8_t *body, size_t length) {
    published = realloc(published, (published_count + 1) * sizeof *published);
    if (!published || !body) fail("out of memory");
    published[published_count].type = type;
    published[published_count].flags = flags;
    published[published_count].key = key;
    published[published_count].length = length;
    published[published_count].body = body;
    published_count++;
    send_frame(type, flags, key, session, acknowledged + published_count, body, length);
}

static void publish(uint16_t type, const void *message) {
    if (!session) return;
    size_t length = protobuf_c_message_get_packed_size(message);
    uint8_t *body = malloc(length + 1);
    if (body) protobuf_c_message_pack(message, body);
    publish_body(type, 0, 0, body, length);
}

/* The gateway keeps the newest frame of each key. */
static void publish_gauge(uint16_t gauge, uint8_t percent) {
    if (!session) return;
    Waymark__V1__PublishExtension message = WAYMARK__V1__PUBLISH_EXTENSION__INIT;
    message.name = extensions[0];
    message.content = (ProtobufCBinaryData){ 1, &percent };
    size_t length = protobuf_c_message_get_packed_size(&message.base);
    uint8_t *body = malloc(length);
    if (body) protobuf_c_message_pack(&message.base, body);
    publish_body(EXTENSION, IS_STATE | RETAINED, gauge, body, length);
}

/* Each of these fills in a message that lives as long as its caller needs it. */
struct estimates {
    Waymark__V1__DisplayDistance display;
    Waymark__V1__TravelEstimates body;
};
static Waymark__V1__TravelEstimates *estimate(struct estimates *to, uint32_t meters) {
    waymark__v1__display_distance__init(&to->display);
    waymark__v1__travel_estimates__init(&to->body);
    to->display.value_tenths = meters * 10;
    to->display.unit = WAYMARK__V1__DISTANCE_UNIT__DISTANCE_UNIT_METERS;
    to->body.distance_remaining_meters = meters;
    to->body.time_case = WAYMARK__V1__TRAVEL_ESTIMATES__TIME_TIME_REMAINING_SECONDS;
    to->body.time_remaining_seconds = meters / 10;
    to->body.distance_remaining_to_display = &to->display;
    return &to->body;
}

struct place {
    Waymark__V1__Coordinate center;
    char *names[1];
    Waymark__V1__Waypoint body;
};
static Waymark__V1__Waypoint *set_place(struct place *to, const double *at, const char *name) {
    waymark__v1__coordinate__init(&to->center);
    waymark__v1__waypoint__init(&to->body);
    to->center.latitude = at[0];
    to->center.longitude = at[1];
    to->names[0] = (char *)name;
    to->body.center = &to->center;
    to->body.name_variants = to->names;
    to->body.n_name_variants = 1;
    return &to->body;
}

static Waymark__V1__Maneuver maneuver(uint32_t id, Waymark__V1__ManeuverType type, char **words, uint32_t lanes) {
    Waymark__V1__Maneuver body = WAYMARK__V1__MANEUVER__INIT;
    body.id = id;
    body.type = type;
    body.instruction_variants = words;
    body.n_instruction_variants = 1;
    body.linked_lane_guidance_id = lanes;
    return body;
}

/* Publishes StartGuidance, or ResumeGuidance, with the route: a right turn with two lanes, then the destination. */
static void publish_route(uint16_t type) {
    struct place from, to;
    struct estimates trip_estimates, maneuver_estimates;
    int32_t deltas[2][POINTS], straight = 0, right = 90;
    for (int axis = 0; axis < 2; axis++)
        for (int i = 0; i < POINTS; i++) /* packed deltas of 1e-6 degree */
            deltas[axis][i] = (int32_t)(line[i][axis] * 1e6 + 0.5) - (i ? (int32_t)(line[i - 1][axis] * 1e6 + 0.5) : 0);
    Waymark__V1__Polyline way = WAYMARK__V1__POLYLINE__INIT;
    way.n_latitude_e6_deltas = way.n_longitude_e6_deltas = POINTS;
    way.latitude_e6_deltas = deltas[0];
    way.longitude_e6_deltas = deltas[1];

    char *turn[] = { "Turn right" }, *arrive[] = { "Arrive" };
    Waymark__V1__Maneuver first = maneuver(1, WAYMARK__V1__MANEUVER_TYPE__MANEUVER_TYPE_RIGHT_TURN, turn, 1);
    Waymark__V1__Maneuver second = maneuver(2, WAYMARK__V1__MANEUVER_TYPE__MANEUVER_TYPE_ARRIVE_AT_DESTINATION, arrive, 0);
    Waymark__V1__Maneuver *maneuvers[] = { &first, &second };
    Waymark__V1__Lane left = WAYMARK__V1__LANE__INIT, preferred = WAYMARK__V1__LANE__INIT, *lanes[] = { &left, &preferred };
    left.n_angles_degrees = preferred.n_angles_degrees = 1;
    left.angles_degrees = &straight;
    preferred.angles_degrees = &right;
    preferred.highlighted_case = WAYMARK__V1__LANE__HIGHLIGHTED_HIGHLIGHTED_ANGLE_DEGREES;
    preferred.highlighted_angle_degrees = right;
    preferred.status = WAYMARK__V1__LANE_STATUS__LANE_STATUS_PREFERRED;
    Waymark__V1__LaneGuidance guidance = WAYMARK__V1__LANE_GUIDANCE__INIT, *guidances[] = { &guidance };
    guidance.id = 1;
    guidance.n_lanes = 2;
    guidance.lanes = lanes;

    uint32_t ids[] = { 1, 2 };
    Waymark__V1__RouteSegment leg = WAYMARK__V1__ROUTE_SEGMENT__INIT, *segments[] = { &leg };
    leg.id = "leg";
    leg.origin = set_place(&from, line[0], "Start");
    leg.destination = set_place(&to, line[POINTS - 1], "Town hall");
    leg.coordinates = &way;
    leg.n_maneuver_ids = leg.n_current_maneuver_ids = 2;
    leg.maneuver_ids = leg.current_maneuver_ids = ids;
    leg.n_lane_guidance_ids = 1;
    leg.lane_guidance_ids = ids;
    leg.current_lane_guidance_id = 1;
    leg.trip_travel_estimates = estimate(&trip_estimates, 900);
    leg.maneuver_travel_estimates = estimate(&maneuver_estimates, 500);

    Waymark__V1__RouteInformation route = WAYMARK__V1__ROUTE_INFORMATION__INIT;
    route.n_maneuvers = route.n_upcoming_maneuver_ids = 2;
    route.maneuvers = maneuvers;
    route.upcoming_maneuver_ids = ids;
    route.n_lane_guidances = route.n_segments = 1;
    route.lane_guidances = guidances;
    route.segments = segments;
    route.current_segment_id = leg.id;
    route.current_lane_guidance_id = 1;
    route.trip_travel_estimates = leg.trip_travel_estimates;
    route.maneuver_travel_estimates = leg.maneuver_travel_estimates;

    if (type == START_GUIDANCE) {
        Waymark__V1__Trip trip = WAYMARK__V1__TRIP__INIT;
        trip.id = "to-the-town-hall";
        trip.origin = leg.origin;
        trip.destination = leg.destination;
        trip.route_segments_available = true;
        Waymark__V1__StartGuidance body = WAYMARK__V1__START_GUIDANCE__INIT;
        body.trip = &trip;
        body.generation = generation;
        body.route = &route;
        publish(type, &body);
    } else {
        Waymark__V1__ResumeGuidance body = WAYMARK__V1__RESUME_GUIDANCE__INIT;
        body.generation = generation;
        body.reason = WAYMARK__V1__REROUTE_REASON__REROUTE_REASON_WAYPOINT_MODIFIED;
        body.route = &route;
        publish(type, &body);
    }
}

static void open_session(void) {
    char id[32], *vehicles[] = { (char *)vehicle };
    snprintf(id, sizeof id, "open-%u", ++opened);
    Waymark__V1__VehicleSet set = WAYMARK__V1__VEHICLE_SET__INIT;
    set.n_vehicle_ids = 1;
    set.vehicle_ids = vehicles;
    Waymark__V1__OpenSession body = WAYMARK__V1__OPEN_SESSION__INIT;
    body.request_id = id;
    body.vehicles = &set;
    send_message(OPEN_SESSION, 0, 0, &body);
}

static void start(uint32_t session_id) {
    session = session_id;
    acknowledge(acknowledged + published_count);
    acknowledged = 0;
    generation = 1;
    step = 0;
    publish_route(START_GUIDANCE);
    char *names[] = { "Main street" };
    Waymark__V1__CurrentRoadName road = WAYMARK__V1__CURRENT_ROAD_NAME__INIT;
    road.n_name_variants = 1;
    road.name_variants = names;
    publish(ROAD, &road);
}

static void pause_guidance(Waymark__V1__PauseReason reason) {
    Waymark__V1__PauseGuidance body = WAYMARK__V1__PAUSE_GUIDANCE__INIT;
    body.reason = reason;
    publish(PAUSE, &body);
}

static char asked[65]; /* The request that was asked last, until its outcome. */

static void answer(const char *request, const char *by, bool is_waypoint) {
    snprintf(asked, sizeof asked, "%s", request);
    say("asked for %s %s by %s", is_waypoint ? "waypoint" : "destination", request, by);
    struct estimates estimates;
    Waymark__V1__RequestAnswer body = WAYMARK__V1__REQUEST_ANSWER__INIT;
    body.request_id = (char *)request;
    body.vehicle_id = (char *)by;
    body.answer = is_waypoint ? WAYMARK__V1__ANSWER__ANSWER_ESTIMATES : WAYMARK__V1__ANSWER__ANSWER_ACCEPT;
    if (is_waypoint) body.travel_estimates = estimate(&estimates, 1500);
    send_message(ANSWER, 0, 0, &body);
}

static void finish_request(const Waymark__V1__RequestOutcome *outcome) {
    if (strcmp(asked, outcome->request_id) != 0) return; /* Heard before a cut: the gateway says it again. */
    asked[0] = 0;
    say("outcome %d of %s", (int)outcome->outcome, outcome->request_id);
    if (outcome->outcome != WAYMARK__V1__OUTCOME__OUTCOME_ACCEPTED) return;
    if (!session) {
        open_session();
        return;
    }
    generation++;
    step = 0;
    pause_guidance(WAYMARK__V1__PAUSE_REASON__PAUSE_REASON_REROUTING);
    publish_route(RESUME);
}

static void refused(const Waymark__V1__Error *error) { (void)error; }

static void received(const struct frame *frame) {
    switch (frame->type) {
    case SESSION_OPENED:
        WITH(SessionOpened, session_opened,
             if (m->n_vehicles) say("session opened, standing %d", (int)m->vehicles[0]->standing);
             start(m->session_id););
        break;
    case VEHICLE_CHANGED:
        WITH(VehicleChanged, vehicle_changed,
             if (m->vehicle) say("vehicle %s standing %d", m->vehicle->vehicle_id, (int)m->vehicle->standing););
        break;
    case ACKNOWLEDGEMENT:
        if (frame->session != session) break;
        WITH(Acknowledgement, acknowledgement, acknowledge(m->sequence););
        say("acknowledged %d, %d frames kept", (int)acknowledged, (int)published_count);
        break;
    case SESSION_ENDED: 
        WITH(SessionEnded, session_ended, say("ended %d", (int)m->reason); if (m->session_id == session) session = 0;);
        break;
    case WAYPOINT: WITH(WaypointRequest, waypoint_request, answer(m->request_id, m->vehicle_id, true);); break;
    case DESTINATION: WITH(DestinationRequest, destination_request, answer(m->request_id, m->vehicle_id, false);); break;
    case OUTCOME: WITH(RequestOutcome, request_outcome, finish_request(m);); break;
    }
}

static void drive_on(void) {
    struct estimates estimates;
    Waymark__V1__UpdateManeuverEstimates distance = WAYMARK__V1__UPDATE_MANEUVER_ESTIMATES__INIT;
    distance.generation = generation;
    distance.maneuver_id = 1;
    distance.travel_estimates = estimate(&estimates, steps[step % 4].meters);
    Waymark__V1__UpdateManeuverState state = WAYMARK__V1__UPDATE_MANEUVER_STATE__INIT;
    state.generation = generation;
    state.state = steps[step++ % 4].state;
    publish(ESTIMATES, &distance);
    publish(STATE, &state);
}

static bool obey(const char *command, double gauge, double percent) {
    Waymark__V1__ResumeGuidance resume = WAYMARK__V1__RESUME_GUIDANCE__INIT;
    resume.generation = generation;
    Waymark__V1__FinishGuidance finish = WAYMARK__V1__FINISH_GUIDANCE__INIT;
    Waymark__V1__CancelGuidance cancel = WAYMARK__V1__CANCEL_GUIDANCE__INIT;
    if (strcmp(command, "start") == 0) open_session();
    else if (strcmp(command, "step") == 0) drive_on();
    else if (strcmp(command, "gauge") == 0) publish_gauge((uint16_t)gauge, (uint8_t)percent);
    else if (strcmp(command, "pause") == 0) pause_guidance(WAYMARK__V1__PAUSE_REASON__PAUSE_REASON_LOADING);
    else if (strcmp(command, "resume") == 0) publish(RESUME, &resume);
    else if (strcmp(command, "finish") == 0) publish(FINISH, &finish);
    else if (strcmp(command, "cancel") == 0) publish(CANCEL, &cancel);
    else return false;
    return true;
}

int main(int count, char **arguments) {
    if (count < 3 || count > 4) fail("usage: navigate ADDRESS VEHICLE [CLIENT]");
    peer.address = arguments[1];
    vehicle = arguments[2];
    if (count == 4) client = arguments[3];
    run();
}
