// The example navigate.c with bugs: it changes messages before they are encoded.
//
//     navigate-bugs --list
//     navigate-bugs --bug NAME [--route far] ADDRESS VEHICLE [CLIENT]
//
// On the route `far` everything is ten times as far away. scripts/check/seeded_bugs.py compiles and runs it.
#include <protobuf-c/protobuf-c.h>

static size_t seeded_size(const void *message);
#define protobuf_c_message_get_packed_size(message) seeded_size(message)
#define main navigate
#include "navigate.c"
#undef main
#undef protobuf_c_message_get_packed_size

static const char *const bugs[] = {
    "none", "lanes-mirrored", "lanes-straight", "maneuver-later", "line-swapped", "line-reversed", "one-upcoming", "instruction-long", "road-long",
};
static const char *bug = "none";
static int scale = 1;

static bool is(const char *name) { return strcmp(bug, name) == 0; }

static void scale_estimates(Waymark__V1__TravelEstimates *estimates) {
    estimates->distance_remaining_meters *= scale;
    estimates->time_remaining_seconds *= scale;
    estimates->distance_remaining_to_display->value_tenths *= scale;
}

static void change_line(Waymark__V1__Polyline *way) {
    for (size_t i = 1; i < way->n_latitude_e6_deltas; i++) {
        way->latitude_e6_deltas[i] *= scale;
        way->longitude_e6_deltas[i] *= scale;
    }
    if (is("line-swapped")) {
        int32_t *latitudes = way->latitude_e6_deltas;
        way->latitude_e6_deltas = way->longitude_e6_deltas;
        way->longitude_e6_deltas = latitudes;
    }
    for (int axis = 0; is("line-reversed") && axis < 2; axis++) {
        int32_t *deltas = axis ? way->longitude_e6_deltas : way->latitude_e6_deltas, sum = 0;
        size_t count = way->n_latitude_e6_deltas;
        for (size_t i = 0; i < count; i++) sum += deltas[i];
        for (size_t low = 1, high = count - 1; low < high; low++, high--) {
            int32_t delta = deltas[low];
            deltas[low] = deltas[high];
            deltas[high] = delta;
        }
        for (size_t i = 1; i < count; i++) deltas[i] = -deltas[i];
        deltas[0] = sum;
    }
}

static void change_route(Waymark__V1__RouteInformation *route) {
    static char *instruction[] = { "At the next junction, turn right from Main street onto the road to the town hall, then keep to the left" };
    Waymark__V1__Lane *lane = route->lane_guidances[0]->lanes[1];
    Waymark__V1__RouteSegment *leg = route->segments[0];
    if (is("lanes-mirrored")) lane->angles_degrees[0] = lane->highlighted_angle_degrees = -90;
    if (is("lanes-straight")) lane->angles_degrees[0] = lane->highlighted_angle_degrees = 0;
    if (is("one-upcoming")) route->n_upcoming_maneuver_ids = 1;
    if (is("instruction-long")) route->maneuvers[0]->instruction_variants = instruction;
    /* The segment has the same estimates. */
    scale_estimates(route->trip_travel_estimates);
    scale_estimates(route->maneuver_travel_estimates);
    Waymark__V1__Coordinate *start = leg->origin->center, *end = leg->destination->center;
    end->latitude = start->latitude + (end->latitude - start->latitude) * scale;
    end->longitude = start->longitude + (end->longitude - start->longitude) * scale;
    change_line(leg->coordinates);
}

static size_t seeded_size(const void *message) {
    static char *road[] = { "Main street, formerly the old imperial post road (municipality of Balzers, Oberland)" };
    const ProtobufCMessageDescriptor *kind = ((const ProtobufCMessage *)message)->descriptor;
    if (kind == &waymark__v1__start_guidance__descriptor) change_route(((Waymark__V1__StartGuidance *)message)->route);
    if (kind == &waymark__v1__resume_guidance__descriptor) {
        Waymark__V1__RouteInformation *route = ((Waymark__V1__ResumeGuidance *)message)->route;
        if (route) change_route(route);
    }
    if (kind == &waymark__v1__update_maneuver_estimates__descriptor) {
        Waymark__V1__TravelEstimates *estimates = ((Waymark__V1__UpdateManeuverEstimates *)message)->travel_estimates;
        scale_estimates(estimates);
        if (is("maneuver-later")) estimates->time_remaining_seconds += 600;
    }
    if (kind == &waymark__v1__current_road_name__descriptor && is("road-long")) ((Waymark__V1__CurrentRoadName *)message)->name_variants = road;
    return protobuf_c_message_get_packed_size(message);
}

int main(int count, char **arguments) {
    if (count == 2 && strcmp(arguments[1], "--list") == 0) {
        for (size_t i = 0; i < sizeof bugs / sizeof *bugs; i++) printf("%s\n", bugs[i]);
        return 0;
    }
    for (; count > 2 && strncmp(arguments[1], "--", 2) == 0; count -= 2, arguments += 2) {
        if (strcmp(arguments[1], "--bug") == 0) bug = arguments[2];
        else if (strcmp(arguments[1], "--route") == 0) scale = strcmp(arguments[2], "far") == 0 ? 10 : 1;
        else fail("usage: navigate-bugs [--bug NAME] [--route far] ADDRESS VEHICLE [CLIENT]");
    }
    navigate(count, arguments);
    return 0;
}
