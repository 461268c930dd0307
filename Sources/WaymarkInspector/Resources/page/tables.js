// The tables of a vehicle: Route Guidance Updates, Maneuvers, Lane Guidances, Destination Information, Route.

import { h } from "./dom.js";
import { glyph, lanes } from "./glyph.js";
import { mapOf, routeData } from "./guidance.js";
import { get, query } from "./net.js";
import { badge, derived, explained, field, frameLink, moment, note, place, reasons, select, table, variants, why } from "./parts.js";
import { bytes, coordinate, degrees, distance, duration, laneName, maneuverName, minutes, sentence, shownDistance, waypointName } from "./words.js";

/** @typedef {Record<string, any>} Any */
/** @typedef {import("./parts.js").Column} Column */

const UNITS = { meters: "m", kilometers: "km", feet: "ft", yards: "yd", miles: "mi" };

/** @param {Any | undefined} shown `tenths` and `unit`. */
const display = (shown) => (shown ? `${shown.tenths / 10} ${UNITS[/** @type {keyof UNITS} */ (shown.unit)] ?? shown.unit}` : "");

/** True and shown distance. @param {number | undefined} meters */
const twice = (meters, shown) => (meters === undefined ? "" : `${meters} m${shown ? ` / ${display(shown)}` : ""}`);

/** @param {number | undefined} perMille */
const battery = (perMille) => (perMille === undefined ? "" : `${perMille / 10} %`);

/** @param {number | undefined} minutes */
const utc = (minutes) => (minutes === undefined ? "" : `UTC${minutes < 0 ? "−" : "+"}${Math.floor(Math.abs(minutes) / 60)}:${String(Math.abs(minutes) % 60).padStart(2, "0")}`);

/** The columns of Route Guidance Updates: name, keys of the row, value. @type {[string, string[], (row: Any) => any, string?][]} */
const UPDATE_COLUMNS = [
  ["Number", ["sequence"], (row) => frameLink(row.entry, row.sequence), "number"],
  ["Message", ["message"], (row) => [sentence(row.message), row.rejected ? badge("rejected", "bad") : null]],
  ["Phase", ["phase", "pauseReason", "rerouteReason"], (row) => [row.phase, row.pauseReason, row.rerouteReason].filter(Boolean).map(sentence).join(": ")],
  ["Route", ["generation"], (row) => row.generation, "number"],
  ["Maneuver state", ["maneuverState"], (row) => row.maneuverState],
  ["To maneuver (true / shown)", ["toManeuverMeters", "toManeuverShown"], (row) => twice(row.toManeuverMeters, row.toManeuverShown), "number"],
  ["Current road", ["currentRoadName"], (row) => row.currentRoadName, "text"],
  ["Destination", ["destination"], (row) => row.destination, "text"],
  ["Arrival", ["arrival"], (row) => (row.arrival ? minutes(Date.parse(row.arrival)) : "")],
  ["Time left", ["timeLeftSeconds"], (row) => duration(row.timeLeftSeconds), "number"],
  ["Distance left (true / shown)", ["distanceLeftMeters", "distanceLeftShown"], (row) => twice(row.distanceLeftMeters, row.distanceLeftShown), "number"],
  ["Upcoming", ["upcoming"], (row) => row.upcoming?.join(", ")],
  ["Maneuvers known", ["maneuverCount"], (row) => row.maneuverCount, "number"],
  ["Lanes now / known", ["laneGuidance", "laneGuidanceCount"], (row) => (row.laneGuidanceCount === undefined ? "" : `${row.laneGuidance || "none"} / ${row.laneGuidanceCount}`)],
  ["Battery on arrival", ["arrivalBatteryPerMille"], (row) => battery(row.arrivalBatteryPerMille), "number"],
  ["Battery on departure", ["departureBatteryPerMille"], (row) => battery(row.departureBatteryPerMille), "number"],
  ["UTC offset", ["utcOffsetMinutes"], (row) => utc(row.utcOffsetMinutes)],
  ["Client", ["client"], (row) => row.client],
  ["Size", ["bytes"], (row) => bytes(row.bytes), "number"],
  ["Fitted for", ["fittedFor"], (row) => row.fittedFor?.join(", ")],
  ["Conflated for", ["conflatedFor"], (row) => row.conflatedFor?.join(", ")],
];
const DERIVED_COLUMNS = new Set(["Arrival", "Fitted for", "Conflated for"]);

/** @param {string[]} keys @param {string} name */
function updateCell(row, keys, value, name) {
  const list = keys.flatMap((key) => reasons(row.why, key));
  const parts = explained(value, list, name);
  if (!keys.some((key) => row.changed?.includes(key))) return parts;
  return [h("mark", {}, h("span", { "aria-hidden": "true" }, "● "), h("span.hidden-text", {}, "changed: "), ...parts)];
}

/** @param {boolean} isVirtual @returns {Column[]} */
const updateColumns = (isVirtual) => [
  { name: "Time", cell: (row) => moment(row, isVirtual) },
  ...UPDATE_COLUMNS.map(([name, keys, value, kind]) => ({
    name, kind, isDerived: DERIVED_COLUMNS.has(name), cell: (row) => updateCell(row, keys, value(row), name.toLowerCase()),
  })),
];

const vehicleParameters = (route) => ({ source: route.source, id: route.vehicle, at: route.at, endpoint: route.endpoint });

/** The names of messages that clients publish. */
const MESSAGES = ["startGuidance", "resumeGuidance", "updateTrip", "tripPreviews", "addManeuvers", "addLaneGuidances", "addRouteSegments", "upcomingManeuvers",
  "currentLaneGuidance", "currentRouteSegment", "currentRoadName", "updateManeuverState", "updateTripEstimates", "updateManeuverEstimates", "pauseGuidance",
  "finishGuidance", "cancelGuidance", "showAlert", "dismissAlert", "shareDestination"];

/** A filter that becomes part of the address. @param {string} key @param {string} label @param {string} [hint] */
export const searchField = (key, route, label, hint) => field(label, h("input", {
  type: "search", name: key, value: route[key] ?? "", maxlength: 100, placeholder: hint, autocomplete: "off",
  onchange: (event) => place.go({ [key]: event.target.value || null, before: null }),
}));

/** @param {string} key @param {string} label @param {(string | [string, string])[]} options @param {string} [all] */
export const filterField = (key, route, label, options, all = "all") => field(label, select(key, [["", all], ...options], route[key] ?? "", {
  onchange: (event) => place.go({ [key]: event.target.value || null, before: null }),
}));

/** Links to older and newer rows. */
export const pages = (answer, route) => h("p.pages", {},
  route.before ? h("a", { href: place.link({ before: null }) }, "⇤ newest") : null,
  answer.truncated && answer.next ? h("a", { href: place.link({ before: answer.next }) }, "older ⇢") : h("span.soft", {}, "no older ones are kept"));

const updates = {
  title: "Route Guidance Updates", follows: "vehicle",
  load: (route, signal) => get("updates",
    { ...vehicleParameters(route), endpoint: undefined, before: route.before, message: route.message, search: route.search, limit: 60 }, signal)
    .then((answer) => ({ updates: answer })),
  draw: (data, context) => [
    h("div.filters", {}, filterField("message", context.route, "Message", MESSAGES), searchField("search", context.route, "Search", "a road, a number")),
    table("Route Guidance Updates", updateColumns(context.isVirtual), data.updates.rows, {
      key: (row) => row.entry, classes: (row) => (row.rejected ? "rejected" : ""),
      empty: context.route.search || context.route.message ? note("No update matches.", h("a", { href: place.link({ search: null, message: null }) }, "Show all updates"))
        : note("The client has published nothing yet.", "Rows appear here with its first message."),
    }),
    h("p.soft", {}, "Newest first. ● marks what changed. * is derived, not published."), pages(data.updates, context.route),
  ],
};

/** @param {AbortSignal} signal */
const loadTables = (route, signal) => get("vehicle/tables", vehicleParameters(route), signal).then((answer) => ({ tables: answer }));

/** A cell of a row of tables. @param {string} path @param {string} name */
const cell = (row, path, value, name) => explained(value, reasons(row.why, path), name);

const stateBadge = (row) => badge(row.state, { current: "good", dropped: "warn" }[/** @type {string} */ (row.state)] ?? "plain");

/** @type {Column[]} */
const MANEUVER_COLUMNS = [
  { name: "Order", kind: "number", cell: (row) => row.order },
  { name: "Id", kind: "number", cell: (row) => row.id },
  { name: "State", cell: (row) => [stateBadge(row), row.held ? null : h("span.soft", {}, " not held "), row.held ? null : why(reasons(row.why, ""), `maneuver ${row.id} is not held`)] },
  { name: "Glyph", kind: "glyph-cell", cell: (row) => glyph(row.published ?? row.held) },
  { name: "Type", cell: (row) => [(row.published ?? row.held).type, h("span.soft", {}, ` (${(row.published ?? row.held).rawType})`)] },
  { name: "Instruction", kind: "wide", cell: (row) => cell(row, "instructionVariants", variants(row.published?.instructionVariants, row.chosenVariant), "instruction") },
  { name: "Road after", kind: "text", cell: (row) => cell(row, "roadFollowingManeuverVariants", variants(row.published?.roadFollowingManeuverVariants), "road after") },
  { name: "From the one before", kind: "number", isDerived: true, cell: (row) => distance(row.distanceFromPreviousMeters ?? row.published?.initialTravelEstimates?.distanceMeters) },
  { name: "To it", kind: "number", cell: (row) => shownDistance(row.estimates) },
  { name: "Traffic", cell: (row) => row.published?.trafficSide },
  { name: "Junction", cell: (row) => row.published?.junctionType },
  { name: "Exit angle", kind: "number", cell: (row) => cell(row, "junctionExitAngle", row.published?.junctionExitAngle === undefined ? "" : degrees(row.published.junctionExitAngle), "exit angle") },
  { name: "Element angles", cell: (row) => cell(row, "junctionElementAngles", row.published?.junctionElementAngles?.map(degrees).join(", "), "element angles") },
  { name: "Linked lanes", cell: (row) => cell(row, "linkedLaneGuidance", row.published?.linkedLaneGuidance ? h("a", { href: place.link({ view: "lanes" }) }, row.published.linkedLaneGuidance) : "", "linked lanes") },
  { name: "Exit label", cell: (row) => cell(row, "highwayExitLabel", row.published?.highwayExitLabel, "exit label") },
  { name: "Roundabout exit", kind: "number", cell: (row) => row.published?.roundaboutExitNumber },
  { name: "Via", cell: (row) => (row.published?.isIntermediateWaypoint ? "yes" : "no") },
  { name: "Added by", kind: "number", cell: (row) => row.addedBy },
];

const maneuvers = {
  title: "Maneuvers", follows: "vehicle", load: loadTables,
  draw: (data) => [
    table("Maneuvers", MANEUVER_COLUMNS, data.tables.maneuvers ?? [], {
      key: (row) => row.id, classes: (row) => `state-${row.state}`,
      empty: note("No maneuvers are known.", "They come with the start of guidance."),
    }),
    h("p.soft", {}, "All maneuvers of the route: past, current, upcoming, and those dropped from the endpoint's slots. A name is on each glyph."),
  ],
};

/** @type {Column[]} */
const LANE_COLUMNS = [
  { name: "Id", kind: "number", cell: (row) => row.id },
  { name: "Current", cell: (row) => (row.current ? badge("current", "good") : "no") },
  { name: "Lanes, left to right", cell: (row) => [lanes(row.published ?? row.held), row.held ? null : why(reasons(row.why, ""), `lane guidance ${row.id} is not held`, "not held: why?")] },
  { name: "Per lane", kind: "wide", cell: (row) => h("ol.variants", {}, (row.published ?? row.held).lanes.map((lane, index) =>
    h("li", {}, laneName(lane, index, (row.published ?? row.held).lanes.length), h("span.soft", {}, ` [${(lane.angles ?? []).map(degrees).join(", ")}]`)))) },
  { name: "Instruction", kind: "text", cell: (row) => cell(row, "instructionVariants", variants(row.published?.instructionVariants, row.chosenVariant), "instruction") },
  { name: "Linked from", cell: (row) => row.linkedFrom?.map((id) => `maneuver ${id}`).join(", ") || "—" },
  { name: "Added by", kind: "number", cell: (row) => row.addedBy },
];

const laneGuidances = {
  title: "Lane Guidances", follows: "vehicle", load: (route, signal) =>
    Promise.all([loadTables(route, signal), get("vehicle", vehicleParameters(route), signal)]).then(([data, vehicle]) => ({ ...data, vehicle })),
  draw: (data) => {
    const list = [...reasons(data.vehicle.why, "laneGuidances", "held"), ...reasons(data.vehicle.why, "currentLaneGuidance", "held")];
    return [
      list[0] ? note(`${data.vehicle.heldBy?.endpoint ?? "The endpoint"} holds no lanes: ${list[0].text}.`, list[0].next ?? "") : null,
      table("Lane Guidances", LANE_COLUMNS, data.tables.laneGuidances ?? [], {
        key: (row) => row.id, classes: (row) => (row.current ? "state-current" : ""),
        empty: note("The client has published no lanes for this route.", "Not every map has them; the findings say whether lanes are missing where a maneuver links to them."),
      }),
      h("p.soft", {}, "Below each lane: two bars are preferred, one is good, none does not lead along the route."),
    ];
  },
};

/** @type {Column[]} */
const DESTINATION_COLUMNS = [
  { name: "Share", cell: (row) => frameLink(row.entry, row.shareID) },
  { name: "Stage", cell: (row) => [badge(sentence(row.stage), { didShare: "good", didFailToShare: "bad" }[/** @type {string} */ (row.stage)] ?? "plain"), row.outcome ? ` ${sentence(row.outcome)}` : ""] },
  { name: "Names", kind: "text", cell: (row) => cell(row, "destination/nameVariants", variants(row.destination?.nameVariants), "names") },
  { name: "Addresses", kind: "wide", cell: (row) => cell(row, "destination/addressVariants", variants(row.destination?.addressVariants), "addresses") },
  { name: "Centre", cell: (row) => coordinate(row.destination?.center) },
  { name: "Threshold", kind: "number", cell: (row) => distance(row.destination?.thresholdMeters) },
  { name: "Entry points", cell: (row) => variants(row.destination?.entryPoints?.map(coordinate)) },
  { name: "Time zone", cell: (row) => [row.destination?.timeZone, utc(row.destination?.utcOffsetMinutes)].filter(Boolean).join(" ") || "—" },
  { name: "Stop", cell: (row) => sentence(row.destination?.stopKind) || "—" },
  { name: "Charge", cell: (row) => chargeText(row.destination?.charge) || "—" },
  { name: "By", cell: (row) => row.by ?? "—" },
  { name: "Client", cell: (row) => row.client },
  { name: "Time", cell: (row) => moment(row) },
];

const chargeText = (charge) => (charge ? [charge.arrivalBatteryPerMille !== undefined && `arrive ${battery(charge.arrivalBatteryPerMille)}`,
  charge.departureBatteryPerMille !== undefined && `leave ${battery(charge.departureBatteryPerMille)}`, charge.connector && sentence(charge.connector),
  charge.powerWatts && `${charge.powerWatts / 1000} kW`, charge.chargingSeconds && duration(charge.chargingSeconds)].filter(Boolean).join(", ") : "");

const destination = {
  title: "Destination Information", follows: "vehicle", load: loadTables,
  draw: (data, context) => [
    table("Destination Information", DESTINATION_COLUMNS, data.tables.destinations ?? [], {
      key: (row) => row.shareID, empty: note("No destination was shared.", "The client shares it if its trip allows that and an endpoint asked for destinationSharing."),
    }),
    h("p", {}, context.act?.enabled ? h("a.button", { href: place.link({ view: "actions" }) }, "Accept or decline a shared destination") : null),
    h("h2", {}, "Stops of the trip"),
    table("Stops of the trip", [
      { name: "Name", cell: waypointName }, { name: "Centre", cell: (row) => coordinate(row.center) }, { name: "Kind", cell: (row) => sentence(row.stopKind) || "—" },
      { name: "Charge", kind: "text", cell: (row) => chargeText(row.charge) || "—" }, { name: "Threshold", kind: "number", cell: (row) => distance(row.thresholdMeters) || "—" },
    ], data.tables.stops ?? [], { empty: note("The trip has no stops."), hideCaption: true }),
  ],
};

const estimatesText = (estimates) => (estimates ? `${shownDistance(estimates)}${estimates.timeSeconds === undefined ? "" : `, ${duration(estimates.timeSeconds)}`}` : "");

/** @type {Column[]} */
const SEGMENT_COLUMNS = [
  { name: "Segment", cell: (row) => row.id },
  { name: "Current", cell: (row) => (row.current ? badge("current", "good") : "no") },
  { name: "From", kind: "text", cell: (row) => waypointName(row.origin) },
  { name: "To", kind: "text", cell: (row) => waypointName(row.destination) },
  { name: "Points published", kind: "number", cell: (row) => row.points?.published },
  { name: "Points held", kind: "number", cell: (row) => cell(row, "coordinates", row.points?.held, `segment ${row.id}`) },
  { name: "Length", kind: "number", isDerived: true, cell: (row) => distance(row.lengthMeters) },
  { name: "Estimates", cell: (row) => estimatesText(row.tripTravelEstimates) || "—" },
  { name: "Maneuvers", cell: (row) => row.maneuvers?.join(", ") || "—" },
  { name: "Lane guidances", cell: (row) => row.laneGuidances?.join(", ") || "—" },
];

const route = {
  title: "Route", follows: "vehicle",
  load: (at, signal, old) => Promise.all([loadTables(at, signal), get("vehicle", vehicleParameters(at), signal)])
    .then(async ([data, vehicle]) => ({ ...data, vehicle, route: await routeData(at, vehicle.routeKey, old?.route, signal) })),
  draw: (data, context) => {
    const exported = (format, name) => h("a.button", {
      href: `/api/export${query({ ...vehicleParameters(context.route), format, side: context.route.side })}`, download: "",
    }, `Export ${name}`);
    return [
      mapOf(data, context, context.route.side === "held" ? "held" : "published"),
      h("div.filters", {}, filterField("side", context.route, "Line", [["held", "as the endpoint holds it"]], "as published"),
        h("div.buttons", {}, exported("geojson", "GeoJSON"), exported("gpx", "GPX"), exported("kml", "KML"))),
      h("p", {}, "Route source, what the vehicle does with the shared route: ", h("strong", {}, sentence(data.tables.routeSource) || "not told"), "."),
      table("Route segments", SEGMENT_COLUMNS, data.tables.segments ?? [], {
        key: (row) => row.id, classes: (row) => (row.current ? "state-current" : ""), empty: note("The client shares no route segments.", ...(reasons(data.vehicle.why, "segments", "published").map((one) => one.text))),
      }),
      table("Maneuvers on the map", [
        { name: "Maneuver", cell: (row) => row.id }, { name: "State", cell: (row) => row.state },
        { name: "What", kind: "wide", cell: (row) => maneuverName(row.published ?? row.held) },
        { name: "Place", isDerived: true, cell: (row) => coordinate(row.at) || "—" },
      ], data.tables.maneuvers ?? [], { key: (row) => row.id }),
      h("p.soft", {}, derived(), " derived by the inspector: the protocol does not say it."),
    ];
  },
};

export const tableViews = { updates, maneuvers, lanes: laneGuidances, destination, route };
