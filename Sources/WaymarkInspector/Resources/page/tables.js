// The tables of a vehicle.

import { h, hidden, hint, soft } from "./dom.js";
import { glyph, lanes } from "./glyph.js";
import { mapOf, routeData } from "./guidance.js";
import { query } from "./net.js";
import { anchor, badge, explained, field, frameLink, go, link, loads, moment, note, ofVehicle, read, reasons, select, table, variants, why, withEndpoint } from "./parts.js";
import { bytes, coordinate, degrees, displayed, distance, duration, estimatesText, laneName, minutes, sentence, shownDistance, waypointName } from "./words.js";

const twice = (meters, shown) => (meters == null ? "" : `${meters} m${shown ? ` / ${displayed({ displayTenths: shown.tenths, displayUnit: shown.unit })}` : ""}`);

const battery = perMille => (perMille == null ? "" : `${perMille / 10} %`);

const utc = minutes => (minutes == null ? "" : `UTC${minutes < 0 ? "−" : "+"}${Math.floor(Math.abs(minutes) / 60)}:${String(Math.abs(minutes) % 60).padStart(2, "0")}`);

const UPDATE_COLUMNS = [
	["Number#", "sequence", row => frameLink(row.entry, row.sequence)],
	["Message", "message", row => [sentence(row.message), row.rejected && badge("rejected", "bad")]],
	["Phase", "phase pauseReason rerouteReason", row => [row.phase, row.pauseReason, row.rerouteReason].filter(Boolean).map(sentence).join(": ")],
	["Route#", "generation"],
	["Maneuver state", "maneuverState"],
	["To maneuver (true / shown)#", "toManeuverMeters toManeuverShown", row => twice(row.toManeuverMeters, row.toManeuverShown)],
	["Current road~", "currentRoadName"],
	["Destination~", "destination"],
	["Arrival*", "arrival", row => (row.arrival ? minutes(row.arrival) : "")],
	["Time left#", "timeLeftSeconds", row => duration(row.timeLeftSeconds)],
	["Distance left (true / shown)#", "distanceLeftMeters distanceLeftShown", row => twice(row.distanceLeftMeters, row.distanceLeftShown)],
	["Upcoming", "upcoming", row => row.upcoming?.join(", ")],
	["Maneuvers known#", "maneuverCount"],
	["Lanes now / known", "laneGuidance laneGuidanceCount", row => (row.laneGuidanceCount == null ? "" : `${row.laneGuidance || "none"} / ${row.laneGuidanceCount}`)],
	["Battery on arrival#", "arrivalBatteryPerMille", row => battery(row.arrivalBatteryPerMille)],
	["Battery on departure#", "departureBatteryPerMille", row => battery(row.departureBatteryPerMille)],
	["UTC offset", "utcOffsetMinutes", row => utc(row.utcOffsetMinutes)],
	["Client", "client"],
	["Size#", "bytes", row => bytes(row.bytes)],
	["Fitted for*", "fittedFor", row => row.fittedFor?.join(", ")],
];

function updateCell(row, keys, value) {
	const shown = explained(value, []);
	return keys.some(key => row.changed?.includes(key)) ? h("mark", h("span", { hide: true }, "● "), hidden("changed: "), shown) : shown;
}

const updateColumns = isVirtual => [
	["Time", row => moment(row, isVirtual)],
	...UPDATE_COLUMNS.map((/** @type {any} */ [name, keys, value]) => [name, row => updateCell(row, keys.split(" "), read(value ?? keys, row))]),
];

export const searchField = (key, route, label, hint) => field(label, h("input", {
	type: "search", name: key, value: route[key] ?? "", maxlength: 100, placeholder: hint, autocomplete: "off",
	onchange: event => go({ [key]: event.target.value || null, before: null }),
}));

export const filterField = (key, route, label, options, all = "all") => field(label, select(key, [["", all], ...options], route[key] ?? "", {
	onchange: event => go({ [key]: event.target.value || null, before: null }),
}));

/** No rows among those that were looked at, if there are more. */
export const without = (answer, text, ...next) => (answer.truncated && answer.next
	? note(`Nothing among the ${answer.scanned ?? "newest"} entries that were looked at.`, anchor({ before: answer.next }, "Look further back")) : note(text, ...next));

export const pages = (answer, route) => h("p.pages",
	route.before && anchor({ before: null }, "⇤ newest"),
	answer.truncated && answer.next ? anchor({ before: answer.next }, "older ⇢") : soft("no older ones are kept"));

const updates = {
	title: "Route Guidance Updates", follows: true,
	load: loads("updates", route => ({ ...ofVehicle(route), before: route.before, message: route.message, search: route.search, limit: 60 })),
	draw: (data, { route, isVirtual }) => [
		h("div.filters", searchField("message", route, "Message", "updateTrip"), searchField("search", route, "Search", "a road, a number")),
		table("Route Guidance Updates", updateColumns(isVirtual), data.updates.rows, {
			key: "entry", classes: row => (row.rejected ? "rejected" : ""),
			empty: route.search || route.message ? without(data.updates, "No update matches.", anchor({ search: null, message: null }, "Show all updates"))
				: without(data.updates, "The client has published nothing yet.", "Rows appear here with its first message."),
		}),
		hint("Newest first. ● marks what changed. * is derived, not published."), pages(data.updates, route),
	],
};

const loadTables = loads("vehicle/tables", withEndpoint, "tables");
/** The tables, and the answer of another load. @returns {(route: any, signal: any) => Promise<any>} */
const tablesAnd = load => (route, signal) => Promise.all([loadTables(route, signal), load(route, signal)]).then(answers => Object.assign(...answers));
const loadBoth = tablesAnd(loads("vehicle", withEndpoint));

const cell = (row, path, value, name) => explained(value, reasons(row.why, path), name);

const MANEUVER_COLUMNS = [
	["Order#", "order"],
	["Id#", "id"],
	["State", row => [badge(row.state, row.state === "current" ? "good" : "plain"), !row.held && soft(" not held "), !row.held && why(reasons(row.why, ""), `maneuver ${row.id} is not held`)]],
	["Glyph", row => glyph(row.published ?? row.held)],
	["Type", row => [(row.published ?? row.held).type, soft(` (${(row.published ?? row.held).rawType})`)]],
	["Instruction=", row => cell(row, "instructionVariants", variants(row.published?.instructionVariants, row.chosenVariant), "instruction")],
	["Road after~", row => cell(row, "roadFollowingManeuverVariants", variants(row.published?.roadFollowingManeuverVariants), "road after")],
	["From the one before#*", row => distance(row.distanceFromPreviousMeters ?? row.published?.initialTravelEstimates?.distanceMeters)],
	["To it#", row => shownDistance(row.estimates)],
	["Traffic", row => row.published?.trafficSide],
	["Junction", row => row.published?.junctionType],
	["Exit angle#", row => cell(row, "junctionExitAngle", row.published?.junctionExitAngle == null ? "" : degrees(row.published.junctionExitAngle), "exit angle")],
	["Element angles", row => cell(row, "junctionElementAngles", row.published?.junctionElementAngles?.map(degrees).join(", "), "element angles")],
	["Linked lanes", row => cell(row, "linkedLaneGuidance", row.published?.linkedLaneGuidance ? anchor({ view: "lanes" }, row.published.linkedLaneGuidance) : "", "linked lanes")],
	["Exit label", row => cell(row, "highwayExitLabel", row.published?.highwayExitLabel, "exit label")],
	["Roundabout exit#", row => row.published?.roundaboutExitNumber],
	["Via", row => (row.published?.isIntermediateWaypoint ? "yes" : "no")],
	["Added by#", "addedBy"],
	["Place*", row => coordinate(row.at)],
];

const maneuvers = {
	title: "Maneuvers", follows: true, load: loadTables,
	draw: data => table("Maneuvers", MANEUVER_COLUMNS, data.tables.maneuvers ?? [], {
		key: "id", classes: row => `state-${row.state}`, empty: note("No maneuvers are known.", "They come with the start of guidance."),
	}),
};

const LANE_COLUMNS = [
	["Id#", "id"],
	["Current", row => (row.current ? badge("current", "good") : "no")],
	["Lanes, left to right", row => [lanes(row.published ?? row.held), !row.held && why(reasons(row.why, ""), `lane guidance ${row.id} is not held`, "not held: why?")]],
	["Per lane=", row => h("ol.variants", (row.published ?? row.held).lanes.map((lane, index) =>
		h("li", laneName(lane, index, (row.published ?? row.held).lanes.length), soft(` [${(lane.angles ?? []).map(degrees).join(", ")}]`))))],
	["Instruction~", row => cell(row, "instructionVariants", variants(row.published?.instructionVariants), "instruction")],
	["Linked from", row => row.linkedFrom?.map(id => `maneuver ${id}`).join(", ")],
	["Added by#", "addedBy"],
];

const laneGuidances = {
	title: "Lane Guidances", follows: true, load: loadBoth,
	draw: data => {
		const list = [...reasons(data.vehicle.why, "laneGuidances", "held"), ...reasons(data.vehicle.why, "currentLaneGuidance", "held")].filter(one => one.path);
		return [
			list[0] && note(`${data.vehicle.heldBy?.endpoint ?? "The endpoint"} holds no lanes: ${list[0].text}.`, list[0].next ?? ""),
			table("Lane Guidances", LANE_COLUMNS, data.tables.laneGuidances ?? [], {
				key: "id", classes: row => (row.current ? "state-current" : ""),
				empty: note("The client has published no lanes for this route.", "Not every map has them."),
			}),
			hint("Below each lane: two bars are preferred, one is good, none does not lead along the route."),
		];
	},
};

const DESTINATION_COLUMNS = [
	["Share", row => frameLink(row.entry, row.shareID)],
	["Stage", row => [badge(sentence(row.stage), { didShare: "good", didFailToShare: "bad" }[row.stage]), row.outcome ? ` ${sentence(row.outcome)}` : ""]],
	["Names~", row => variants(row.destination?.nameVariants)],
	["Addresses=", row => variants(row.destination?.addressVariants)],
	["Centre", row => coordinate(row.destination?.center)],
	["Threshold#", row => distance(row.destination?.thresholdMeters)],
	["Entry points", row => variants(row.destination?.entryPoints?.map(coordinate))],
	["Time zone", row => [row.destination?.timeZone, utc(row.destination?.utcOffsetMinutes)].filter(Boolean).join(" ")],
	["Stop", row => sentence(row.destination?.stopKind)],
	["Charge", row => chargeText(row.destination?.charge)],
	["By", "by"],
	["Client", "client"],
	["Time", row => moment(row)],
];

const chargeText = charge => (charge ? [charge.arrivalBatteryPerMille != null && `arrive ${battery(charge.arrivalBatteryPerMille)}`,
	charge.departureBatteryPerMille != null && `leave ${battery(charge.departureBatteryPerMille)}`, charge.connector && sentence(charge.connector),
	charge.powerWatts && `${charge.powerWatts / 1000} kW`, charge.chargingSeconds && duration(charge.chargingSeconds)].filter(Boolean).join(", ") : "");

const destination = {
	title: "Destination Information", follows: true, load: tablesAnd(loads("vehicle/destinations", withEndpoint, "shares")),
	draw: (data, context) => [
		table("Destination Information", DESTINATION_COLUMNS, data.shares.destinations, {
			key: "shareID", empty: note("No destination was shared.", "The client shares it if its trip allows that and an endpoint asked for destinationSharing."),
		}),
		h("p", context.act?.enabled && h("a.button", { href: link({ view: "actions" }) }, "Accept or decline a shared destination")),
		h("h2", "Stops of the trip"),
		table("Stops of the trip", [
			["Name", waypointName], ["Centre", row => coordinate(row.center)], ["Kind", row => sentence(row.stopKind)],
			["Charge~", row => chargeText(row.charge)], ["Threshold#", row => distance(row.thresholdMeters)],
		], data.tables.stops ?? [], { empty: note("The trip has no stops."), hideCaption: true }),
	],
};

const SEGMENT_COLUMNS = [
	["Segment", "id"],
	["Current", row => (row.current ? badge("current", "good") : "no")],
	["From~", row => waypointName(row.origin)],
	["To~", row => waypointName(row.destination)],
	["Points published#", row => row.points?.published],
	["Points held#", row => cell(row, "coordinates", row.points?.held, `segment ${row.id}`)],
	["Length#*", row => distance(row.lengthMeters)],
	["Estimates", row => estimatesText(row.tripTravelEstimates)],
	["Maneuvers", row => row.maneuvers?.join(", ")],
	["Lane guidances", row => row.laneGuidances?.join(", ")],
];

const route = {
	title: "Route", follows: true,
	load: (at, signal, old) => loadBoth(at, signal).then(async data => ({ ...data, route: await routeData(at, data.vehicle.routeKey, old?.route, signal) })),
	draw: (data, context) => {
		const exported = (format, name) => h("a.button", {
			href: `/api/export${query({ ...withEndpoint(context.route), format, side: context.route.side })}`, download: "",
		}, `Export ${name}`);
		return [
			mapOf(data, context, context.route.side === "held" ? "held" : "published"),
			h("div.filters", filterField("side", context.route, "Line", [["held", "as the endpoint holds it"]], "as published"),
				h("div.buttons", exported("geojson", "GeoJSON"), exported("gpx", "GPX"), exported("kml", "KML"))),
			h("p", "Route source, what the vehicle does with the shared route: ", h("strong", sentence(data.tables.routeSource) || "not told"), "."),
			table("Route segments", SEGMENT_COLUMNS, data.tables.segments ?? [], {
				key: "id", classes: row => (row.current ? "state-current" : ""), empty: note("The client shares no route segments.", ...(reasons(data.vehicle.why, "segments", "published").map(one => one.text))),
			}),
			h("p", "The table ", anchor({ view: "maneuvers" }, "Maneuvers"), " says what is on the map."),
		];
	},
};

export const tableViews = { updates, maneuvers, lanes: laneGuidances, destination, route };
