// The tables of a vehicle.

import { h, hidden, hint, soft } from "./dom.js";
import { glyph, lanes } from "./glyph.js";
import { mapOf, routeData } from "./guidance.js";
import { query } from "./net.js";
import { anchor, badge, explained, field, frameLink, go, link, loads, moment, note, ofVehicle, read, reasons, select, table, variants, why, withEndpoint } from "./parts.js";
import { bytes, coordinate, degrees, displayed, distance, duration, estimatesText, laneName, minutes, sentence, shownDistance, waypointName } from "./words.js";

const twice = (meters, shown) => `${meters} m${shown ? ` / ${displayed({ displayTenths: shown.tenths, displayUnit: shown.unit })}` : ""}`;

const battery = perMille => `${perMille / 10} %`;

const utc = minutes => (minutes == null ? "" : `UTC${minutes < 0 ? "−" : "+"}${Math.floor(Math.abs(minutes) / 60)}:${String(Math.abs(minutes) % 60).padStart(2, "0")}`);

const commas = list => list.join(", ");

const UPDATE_COLUMNS = [
	["Number#", "sequence", (number, row) => frameLink(row.entry, number)],
	["Message", "message", (name, row) => [sentence(name), row.rejected && badge("rejected", "bad")]],
	["Phase", "phase pauseReason rerouteReason", (phase, row) => [phase, row.pauseReason, row.rerouteReason].filter(Boolean).map(sentence).join(": ")],
	["Route#", "generation"],
	["Maneuver state", "maneuverState"],
	["To maneuver (true / shown)#", "toManeuverMeters toManeuverShown", (meters, row) => twice(meters, row.toManeuverShown)],
	["Current road~", "currentRoadName"],
	["Destination~", "destination"],
	["Arrival*", "arrival", minutes],
	["Time left#", "timeLeftSeconds", duration],
	["Distance left (true / shown)#", "distanceLeftMeters distanceLeftShown", (meters, row) => twice(meters, row.distanceLeftShown)],
	["Upcoming", "upcoming", commas],
	["Maneuvers known#", "maneuverCount"],
	["Lanes now / known", "laneGuidanceCount laneGuidance", (count, row) => `${row.laneGuidance || "none"} / ${count}`],
	["Battery on arrival#", "arrivalBatteryPerMille", battery],
	["Battery on departure#", "departureBatteryPerMille", battery],
	["UTC offset", "utcOffsetMinutes", utc],
	["Client", "client"],
	["Size#", "bytes", bytes],
	["Fitted for*", "fittedFor", commas],
];

function updateCell(row, keys, format) {
	const shown = read(keys[0], row, format) ?? "—";
	return keys.some(key => row.changed?.includes(key)) ? h("mark", h("span", { hide: true }, "● "), hidden("changed: "), shown) : shown;
}

const updateColumns = isVirtual => [
	["Time", row => moment(row, isVirtual)],
	...UPDATE_COLUMNS.map((/** @type {any} */ [name, keys, format]) => [name, row => updateCell(row, keys.split(" "), format)]),
];

export const searchField = (key, route, label, hint, list = null, read = text => text) => field(label, h("input", {
	type: "search", name: key, value: route[key], maxlength: 100, placeholder: hint, autocomplete: "off", list,
	onchange: event => go({ [key]: read(event.target.value), before: null, after: null }),
}));

export const messageField = (route, names) => [
	searchField("message", route, "Message", "update trip estimates", "messages", text => text.trim().replace(/ +(.)/g, (_, letter) => letter.toUpperCase())),
	h("datalist", { id: "messages" }, (names.messages ?? []).map(name => h("option", { value: sentence(name) }))),
];

export const filterField = (key, route, label, options, all = "all") => field(label, select(key, [["", all], ...options], route[key], {
	onchange: event => go({ [key]: event.target.value, before: null, after: null }),
}));

/** No rows among those that were looked at, if there are more. */
export const without = (answer, text, ...next) => (answer.truncated && answer.next
	? note(`Nothing among the ${answer.scanned ?? "newest"} entries that were looked at.`, anchor({ before: answer.next }, "Look further back")) : note(text, ...next));

export const pages = (answer, route, skipped = 0) => h("p.pages",
	route.before && anchor({ before: null }, "⇤ newest "), skipped > 0 && soft(`${skipped} rows went by between updates; they are in the list after a reload. `),
	answer.truncated && answer.next ? anchor({ before: answer.next }, "older ⇢") : soft("no older ones are kept"));

const updates = {
	title: "Route Guidance Updates", follows: true,
	load: loads("updates", route => ({ ...ofVehicle(route), before: route.before, message: route.message, search: route.search, limit: 60 })),
	draw: (data, { route, isVirtual, names }) => [
		h("div.filters", messageField(route, names), searchField("search", route, "Search", "a road, a number")),
		table("Route Guidance Updates", updateColumns(isVirtual), data.updates.rows, {
			key: "entry", classes: row => (row.rejected ? "rejected" : ""),
			empty: route.search || route.message ? without(data.updates, "No update matches.", anchor({ search: null, message: null }, "Show all updates"))
				: without(data.updates, "The client has published nothing yet.", "Rows appear here with its first message."),
		}),
		hint("Newest first. ● marks what changed. * is derived, not published. ", DASH), pages(data.updates, route),
	],
};

const loadTables = loads("vehicle/tables", withEndpoint, "tables");
/** The tables, and the answer of another load. @returns {(route: any, signal: any) => Promise<any>} */
const tablesAnd = load => (route, signal) => Promise.all([loadTables(route, signal), load(route, signal)]).then(answers => Object.assign(...answers));
const loadBoth = tablesAnd(loads("vehicle", withEndpoint));

/** A cell of what was published. That the row is not held does not explain it. */
const own = (key, name, text = (value, row) => value) => row =>
	explained(row.published[key] == null ? "" : text(row.published[key], row), reasons(row.why, key).filter(one => one.path), name);
const DASH = "—: not published. ";

const MANEUVER_COLUMNS = [
	["Order#", "order"],
	["Id#", "id"],
	["State", row => [badge(row.state, row.state === "current" ? "good" : "plain"), !row.held && soft(" not held "), !row.held && why(reasons(row.why, ""), `maneuver ${row.id} is not held`)]],
	["Glyph", row => glyph(row.published)],
	["Type", row => [row.published.type, soft(` (${row.published.rawType})`)]],
	["Instruction=", own("instructionVariants", "instruction", (texts, row) => variants(texts, row.chosenVariant))],
	["Road after~", own("roadFollowingManeuverVariants", "road after", texts => variants(texts))],
	["From the one before#", own("initialTravelEstimates", "distance from the one before", shownDistance)],
	["To it#", "estimates", shownDistance],
	["Traffic", own("trafficSide", "traffic side")],
	["Junction", own("junctionType", "junction")],
	["Exit angle#", own("junctionExitAngle", "exit angle", degrees)],
	["Element angles", own("junctionElementAngles", "element angles", angles => angles.map(degrees).join(", "))],
	["Linked lanes", own("linkedLaneGuidance", "linked lanes", id => anchor({ view: "lanes" }, id))],
	["Exit label", own("highwayExitLabel", "exit label")],
	["Roundabout exit#", own("roundaboutExitNumber", "roundabout exit")],
	["Via", row => (row.published.isIntermediateWaypoint ? "yes" : "no")],
	["Added by#", "addedBy"],
	["Place*", "at", coordinate],
];

const maneuvers = {
	title: "Maneuvers", follows: true, load: loadTables,
	draw: data => [table("Maneuvers", MANEUVER_COLUMNS, data.tables.maneuvers, {
		key: "id", classes: row => `state-${row.state}`, empty: note("No maneuvers are known.", "They come with the start of guidance."),
	}), hint(DASH)],
};

const LANE_COLUMNS = [
	["Id#", "id"],
	["Current", row => (row.current ? badge("current", "good") : "no")],
	["Lanes, left to right", row => [lanes(row.published), !row.held && why(reasons(row.why, ""), `lane guidance ${row.id} is not held`, "not held: why?")]],
	["Per lane=", ({ published: { lanes } }) => h("ol.variants", lanes.map((lane, index) =>
		h("li", laneName(lane, index, lanes.length), soft(` [${(lane.angles ?? []).map(degrees).join(", ")}]`))))],
	["Instruction~", own("instructionVariants", "instruction", texts => variants(texts))],
	["Linked from", "linkedFrom", ids => commas(ids.map(id => `maneuver ${id}`))],
	["Added by#", "addedBy"],
];

const laneGuidances = {
	title: "Lane Guidances", follows: true, load: loadBoth,
	draw: data => {
		const list = reasons(data.vehicle.why, "laneGuidances").filter(one => one.path && one.side === "held");
		return [
			list[0] && note(`${data.vehicle.heldBy?.endpoint ?? "The endpoint"} holds no lanes: ${list[0].text}.`, list[0].next ?? ""),
			table("Lane Guidances", LANE_COLUMNS, data.tables.laneGuidances, {
				key: "id", classes: row => (row.current ? "state-current" : ""),
				empty: note("The client has published no lanes for this route.", "Not every map has them."),
			}),
			hint(DASH, "Below each lane: two bars are preferred, one is good, none does not lead along the route."),
		];
	},
};

const PLACE_COLUMNS = [["Centre", "center", coordinate], ["Threshold#", "thresholdMeters", distance], ["Kind", "stopKind", sentence], ["Charge~", "charge", charge => chargeText(charge)]];

const DESTINATION_COLUMNS = [
	["Share", row => frameLink(row.entry, row.shareID)],
	["Stage", row => [badge(sentence(row.stage), { didShare: "good", didFailToShare: "bad" }[row.stage]), row.outcome ? ` ${sentence(row.outcome)}` : ""]],
	["Names~", row => variants(row.nameVariants)],
	["Addresses=", row => variants(row.addressVariants)],
	["Entry points", row => variants(row.entryPoints?.map(coordinate))],
	["Time zone", row => [row.timeZone, utc(row.utcOffsetMinutes)].filter(Boolean).join(" ")],
	...PLACE_COLUMNS,
	["By", "by"],
	["Client", "client"],
	["Time", row => moment(row)],
];

const chargeText = charge => commas([charge.arrivalBatteryPerMille != null && `arrive ${battery(charge.arrivalBatteryPerMille)}`,
	charge.departureBatteryPerMille != null && `leave ${battery(charge.departureBatteryPerMille)}`, charge.connector && sentence(charge.connector),
	charge.powerWatts && `${charge.powerWatts / 1000} kW`, charge.chargingSeconds && duration(charge.chargingSeconds)].filter(Boolean));

const destination = {
	title: "Destination Information", follows: true, load: tablesAnd(loads("vehicle/destinations", withEndpoint, "shares")),
	draw: (data, context) => [
		table("Destination Information", DESTINATION_COLUMNS, data.shares.destinations.map(row => ({ ...row.destination, ...row })), {
			key: "shareID", empty: note("No destination was shared.", "The client shares it if its trip allows that and an endpoint asked for destinationSharing."),
		}),
		h("p", context.act?.enabled && h("a.button", { href: link({ view: "actions" }) }, "Accept or decline a shared destination")),
		hint(DASH), h("h2", "Stops of the trip"),
		table("Stops of the trip", [
			["Name", waypointName], ...PLACE_COLUMNS,
		], data.tables.stops, { empty: note("The trip has no stops."), hideCaption: true }),
	],
};

const SEGMENT_COLUMNS = [
	["Segment", "id"],
	["Current", row => (row.current ? badge("current", "good") : "no")],
	["From~", "origin", waypointName],
	["To~", "destination", waypointName],
	["Points published#", row => row.points?.published],
	["Points held#", row => explained(row.points?.held, reasons(row.why, "coordinates"), `segment ${row.id}`)],
	["Length#*", "lengthMeters", distance],
	["Estimates", "tripTravelEstimates", estimatesText],
	["Maneuvers", "maneuvers", commas],
	["Lane guidances", "laneGuidances", commas],
];

const route = {
	title: "Route", follows: true,
	load: (at, signal, old) => loadBoth(at, signal).then(async data => ({ ...data, route: await routeData(at, data.vehicle.routeKey, old?.route, signal) })),
	draw: (data, context) => {
		const exported = name => h("a.button", {
			href: `/api/export${query({ ...withEndpoint(context.route), format: name.toLowerCase(), side: context.route.side })}`, download: "",
		}, `Export ${name}`);
		return [
			mapOf(data, context, context.route.side === "held" ? "held" : "published"),
			h("div.filters", filterField("side", context.route, "Line", [["held", "as the endpoint holds it"]], "as published"),
				h("div.buttons", ["GeoJSON", "GPX", "KML"].map(exported))),
			h("p", "Route source, what the vehicle does with the shared route: ", h("strong", sentence(data.tables.routeSource) || "not told"), "."),
			table("Route segments", SEGMENT_COLUMNS, data.tables.segments, {
				key: "id", classes: row => (row.current ? "state-current" : ""), empty: note("The client shares no route segments.", ...reasons(data.vehicle.why, "segments", "published").map(one => one.text)),
			}),
			hint(DASH, "The table ", anchor({ view: "maneuvers" }, "Maneuvers"), " says what is on the map."),
		];
	},
};

export const tableViews = { updates, maneuvers, lanes: laneGuidances, destination, route };
