// The tables of a vehicle.

import { html, hidden, hint, soft } from "./dom.js";
import { glyph, lanes } from "./glyph.js";
import { mapOf, routeData } from "./guidance.js";
import { query } from "./net.js";
import {
	anchor,
	badge,
	explained,
	field,
	frameLink,
	go,
	link,
	loads,
	moment,
	note,
	ofVehicle,
	read,
	reasons,
	select,
	table,
	variants,
	why,
	withEndpoint,
} from "./parts.js";
import {
	bytes,
	coordinate,
	degrees,
	displayed,
	distance,
	duration,
	estimatesText,
	laneName,
	minutes,
	sentence,
	shownDistance,
	waypointName,
} from "./words.js";

const twice = (meters, shown) =>
	`${meters} m${shown ? ` / ${displayed({ displayTenths: shown.tenths, displayUnit: shown.unit })}` : ""}`;

const battery = perMille => `${perMille / 10} %`;

/** An offset from UTC, of minutes. */
function utc(offset) {
	if (offset == null) return "";
	const size = Math.abs(offset);
	return `UTC${offset < 0 ? "−" : "+"}${Math.floor(size / 60)}:${String(size % 60).padStart(2, "0")}`;
}

const commas = list => list.join(", ");

/** The columns of updates; `keys` are the values of a row that make the cell, by any of which it counts as changed. */
const UPDATE_COLUMNS = [
	{ name: "Number", kind: "number", keys: ["sequence"], show: (number, row) => frameLink(row.entry, number) },
	{
		name: "Message",
		keys: ["message"],
		show: (name, row) => [sentence(name), row.rejected && badge("rejected", "bad")],
	},
	{
		name: "Phase",
		keys: ["phase", "pauseReason", "rerouteReason"],
		show: (phase, row) => [phase, row.pauseReason, row.rerouteReason].filter(Boolean).map(sentence).join(": "),
	},
	{ name: "Route", kind: "number", keys: ["generation"] },
	{ name: "Maneuver state", keys: ["maneuverState"] },
	{
		name: "To maneuver (true / shown)",
		kind: "number",
		keys: ["toManeuverMeters", "toManeuverShown"],
		show: (meters, row) => twice(meters, row.toManeuverShown),
	},
	{ name: "Current road", kind: "text", keys: ["currentRoadName"] },
	{
		name: "Speed limit (here / next)",
		keys: ["speedLimit", "nextSpeedLimit"],
		show: (limit, row) => [limit, row.nextSpeedLimit].filter(Boolean).join(" / "),
	},
	{ name: "Destination", kind: "text", keys: ["destination"] },
	{ name: "Arrival", isDerived: true, keys: ["arrival"], show: minutes },
	{ name: "Time left", kind: "number", keys: ["timeLeftSeconds"], show: duration },
	{
		name: "Distance left (true / shown)",
		kind: "number",
		keys: ["distanceLeftMeters", "distanceLeftShown"],
		show: (meters, row) => twice(meters, row.distanceLeftShown),
	},
	{ name: "Upcoming", keys: ["upcoming"], show: commas },
	{ name: "Maneuvers known", kind: "number", keys: ["maneuverCount"] },
	{
		name: "Lanes now / known",
		keys: ["laneGuidanceCount", "laneGuidance"],
		show: (count, row) => `${row.laneGuidance || "none"} / ${count}`,
	},
	{ name: "Battery on arrival", kind: "number", keys: ["arrivalBatteryPerMille"], show: battery },
	{ name: "Battery on departure", kind: "number", keys: ["departureBatteryPerMille"], show: battery },
	{ name: "UTC offset", keys: ["utcOffsetMinutes"], show: utc },
	{ name: "Client", keys: ["client"] },
	{ name: "Size", kind: "number", keys: ["bytes"], show: bytes },
	{ name: "Fitted for", isDerived: true, keys: ["fittedFor"], show: commas },
];

/** @param {Answer.UpdateCells & Answer.UpdateRow} row @param {string[]} keys */
function updateCell(row, keys, show) {
	const shown = read(keys[0], row, show) ?? "—";
	return keys.some(key => row.changed?.includes(key))
		? html("mark", html("span", { hide: true }, "● "), hidden("changed: "), shown)
		: shown;
}

/** @returns {Column<Answer.UpdateCells & Answer.UpdateRow>[]} */
const updateColumns = isVirtual => [
	{ name: "Time", cell: row => moment(row, isVirtual) },
	...UPDATE_COLUMNS.map((/** @type {any} */ { keys, show, ...column }) => ({
		...column,
		cell: row => updateCell(row, keys, show),
	})),
];

export const searchField = (key, route, label, hint, list = null, read = text => text) =>
	field(
		label,
		html("input", {
			type: "search",
			name: key,
			value: route[key],
			maxlength: 100,
			placeholder: hint,
			autocomplete: "off",
			list,
			onchange: event => go({ [key]: read(event.target.value), before: null, after: null }),
		}),
	);

/** @param {Route} route @param {Answer.Names} names */
export const messageField = (route, names) => [
	searchField("message", route, "Message", "update trip estimates", "messages", text =>
		text.trim().replace(/ +(.)/g, (_, letter) => letter.toUpperCase()),
	),
	html(
		"datalist",
		{ id: "messages" },
		(names.messages ?? []).map(name => html("option", { value: sentence(name) })),
	),
];

export const filterField = (key, route, label, options, all = "all") =>
	field(
		label,
		select(key, [["", all], ...options], route[key], {
			onchange: event => go({ [key]: event.target.value, before: null, after: null }),
		}),
	);

/** No rows among those that were looked at, if there are more. @param {Answer.PartEnd} answer */
export const without = (answer, text, ...next) =>
	answer.truncated && answer.next
		? note(
				`Nothing among the ${answer.scanned ?? "newest"} entries that were looked at.`,
				anchor({ before: answer.next }, "Look further back"),
			)
		: note(text, ...next);

/** @param {Answer.PartEnd} answer */
export const pages = (answer, route, skipped = 0) =>
	html(
		"p.pages",
		route.before && anchor({ before: null }, "⇤ newest "),
		skipped > 0 && soft(`${skipped} rows went by between updates; they are in the list after a reload. `),
		answer.truncated && answer.next ? anchor({ before: answer.next }, "older ⇢") : soft("no older ones are kept"),
	);

/** @type {View<Pick<Answers, "updates">>} */
const updates = {
	title: "Route Guidance Updates",
	follows: true,
	load: loads("updates", route => ({
		...ofVehicle(route),
		before: route.before,
		message: route.message,
		search: route.search,
		limit: 60,
	})),
	draw: (data, { route, isVirtual, names }) => [
		html("div.filters", messageField(route, names), searchField("search", route, "Search", "a road, a number")),
		table("Route Guidance Updates", updateColumns(isVirtual), data.updates.rows, {
			key: "entry",
			classes: row => (row.rejected ? "rejected" : ""),
			empty:
				route.search || route.message
					? without(
							data.updates,
							"No update matches.",
							anchor({ search: null, message: null }, "Show all updates"),
						)
					: without(
							data.updates,
							"The client has published nothing yet.",
							"Rows appear here with its first message.",
						),
		}),
		hint("Newest first. ● marks what changed. * is derived, not published. ", DASH),
		pages(data.updates, route),
	],
};

/** @typedef {{ tables: Answers["vehicle/tables"] }} Tables */
const loadTables = loads("vehicle/tables", withEndpoint, "tables");
/**
 * The tables, and the answer of another load.
 * @template Other @param {Load<Other>} load @returns {Load<Tables & Other>}
 */
const tablesAnd = load => (route, signal) =>
	Promise.all([loadTables(route, signal), load(route, signal)]).then(([tables, other]) => ({ ...tables, ...other }));
const loadBoth = tablesAnd(loads("vehicle", withEndpoint));

/** A cell of what was published. That the row is not held does not explain it. */
const own =
	(key, name, text = (value, row) => value) =>
	row =>
		explained(
			row.published[key] == null ? "" : text(row.published[key], row),
			reasons(row.why, key).filter(one => one.path),
			name,
		);
const DASH = "—: not published. ";

/** @type {Column<Answer.ManeuverRow>[]} */
const MANEUVER_COLUMNS = [
	{ name: "Order", kind: "number", cell: "order" },
	{ name: "Id", kind: "number", cell: "id" },
	{
		name: "State",
		cell: row => [
			badge(row.state, row.state === "current" ? "good" : "plain"),
			!row.held && soft(" not held "),
			!row.held && why(reasons(row.why, ""), `maneuver ${row.id} is not held`),
		],
	},
	{ name: "Glyph", cell: row => glyph(row.published) },
	{ name: "Type", cell: row => [row.published.type, soft(` (${row.published.rawType})`)] },
	{
		name: "Instruction",
		kind: "wide",
		cell: own("instructionVariants", "instruction", (texts, row) => variants(texts, row.chosenVariant)),
	},
	{
		name: "Road after",
		kind: "text",
		cell: own("roadFollowingManeuverVariants", "road after", texts => variants(texts)),
	},
	{
		name: "From the one before",
		kind: "number",
		cell: own("initialTravelEstimates", "distance from the one before", shownDistance),
	},
	{ name: "To it", kind: "number", cell: "estimates", show: shownDistance },
	{ name: "Traffic", cell: own("trafficSide", "traffic side") },
	{ name: "Junction", cell: own("junctionType", "junction") },
	{ name: "Exit angle", kind: "number", cell: own("junctionExitAngle", "exit angle", degrees) },
	{
		name: "Element angles",
		cell: own("junctionElementAngles", "element angles", angles => angles.map(degrees).join(", ")),
	},
	{ name: "Linked lanes", cell: own("linkedLaneGuidance", "linked lanes", id => anchor({ view: "lanes" }, id)) },
	{ name: "Exit label", cell: own("highwayExitLabel", "exit label") },
	{ name: "Roundabout exit", kind: "number", cell: own("roundaboutExitNumber", "roundabout exit") },
	{ name: "Interrupts", cell: own("notification", "notification", value => sentence(value)) },
	{ name: "Via", cell: row => (row.published.isIntermediateWaypoint ? "yes" : "no") },
	{ name: "Added by", kind: "number", cell: "addedBy" },
	{ name: "Place", isDerived: true, cell: "at", show: coordinate },
];

/** @type {View<Tables>} */
const maneuvers = {
	title: "Maneuvers",
	follows: true,
	load: loadTables,
	draw: data => [
		table("Maneuvers", MANEUVER_COLUMNS, data.tables.maneuvers, {
			key: "id",
			classes: row => `state-${row.state}`,
			empty: note("No maneuvers are known.", "They come with the start of guidance."),
		}),
		hint(DASH),
	],
};

/** @type {Column<Answer.LaneGuidanceRow>[]} */
const LANE_COLUMNS = [
	{ name: "Id", kind: "number", cell: "id" },
	{ name: "Current", cell: row => (row.current ? badge("current", "good") : "no") },
	{
		name: "Lanes, left to right",
		cell: row => [
			lanes(row.published),
			!row.held && why(reasons(row.why, ""), `lane guidance ${row.id} is not held`, "not held: why?"),
		],
	},
	{
		name: "Per lane",
		kind: "wide",
		cell: ({ published: { lanes } }) =>
			html(
				"ol.variants",
				lanes.map((lane, index) =>
					html(
						"li",
						laneName(lane, index, lanes.length),
						soft(` [${(lane.angles ?? []).map(degrees).join(", ")}]`),
					),
				),
			),
	},
	{ name: "Instruction", kind: "text", cell: own("instructionVariants", "instruction", texts => variants(texts)) },
	{ name: "Linked from", cell: "linkedFrom", show: ids => commas(ids.map(id => `maneuver ${id}`)) },
	{ name: "Added by", kind: "number", cell: "addedBy" },
];

/** @type {View<Tables & Pick<Answers, "vehicle">>} */
const laneGuidances = {
	title: "Lane Guidances",
	follows: true,
	load: loadBoth,
	draw: data => {
		const list = reasons(data.vehicle.why, "laneGuidances").filter(one => one.path && one.side === "held");
		return [
			list[0] &&
				note(
					`${data.vehicle.heldBy?.endpoint ?? "The endpoint"} holds no lanes: ${list[0].text}.`,
					list[0].next ?? "",
				),
			table("Lane Guidances", LANE_COLUMNS, data.tables.laneGuidances, {
				key: "id",
				classes: row => (row.current ? "state-current" : ""),
				empty: note("The client has published no lanes for this route.", "Not every map has them."),
			}),
			hint(DASH, "Below each lane: two bars are preferred, one is good, none does not lead along the route."),
		];
	},
};

/** @type {Column<any>[]} */
const PLACE_COLUMNS = [
	{ name: "Centre", cell: "center", show: coordinate },
	{ name: "Threshold", kind: "number", cell: "thresholdMeters", show: distance },
	{ name: "Kind", cell: "stopKind", show: sentence },
	{ name: "Charge", kind: "text", cell: "charge", show: charge => chargeText(charge) },
];

/** @type {Column<Answer.Members & Answer.SharedDestination>[]} */
const DESTINATION_COLUMNS = [
	{ name: "Share", cell: row => frameLink(row.entry, row.shareID) },
	{
		name: "Stage",
		cell: row => [
			badge(sentence(row.stage), { didShare: "good", didFailToShare: "bad" }[row.stage]),
			row.outcome ? ` ${sentence(row.outcome)}` : "",
		],
	},
	{ name: "Names", kind: "text", cell: row => variants(row.nameVariants) },
	{ name: "Addresses", kind: "wide", cell: row => variants(row.addressVariants) },
	{ name: "Entry points", cell: row => variants(row.entryPoints?.map(coordinate)) },
	{ name: "Time zone", cell: row => [row.timeZone, utc(row.utcOffsetMinutes)].filter(Boolean).join(" ") },
	...PLACE_COLUMNS,
	{ name: "By", cell: "by" },
	{ name: "Client", cell: "client" },
	{ name: "Time", cell: row => moment(row) },
];

const chargeText = charge =>
	commas(
		[
			charge.arrivalBatteryPerMille != null && `arrive ${battery(charge.arrivalBatteryPerMille)}`,
			charge.departureBatteryPerMille != null && `leave ${battery(charge.departureBatteryPerMille)}`,
			charge.connector && sentence(charge.connector),
			charge.powerWatts && `${charge.powerWatts / 1000} kW`,
			charge.chargingSeconds && duration(charge.chargingSeconds),
		].filter(Boolean),
	);

/** @type {View<Tables & { shares: Answers["vehicle/destinations"] }>} */
const destination = {
	title: "Destination Information",
	follows: true,
	load: tablesAnd(loads("vehicle/destinations", withEndpoint, "shares")),
	draw: (data, context) => [
		table(
			"Destination Information",
			DESTINATION_COLUMNS,
			data.shares.destinations.map(row => ({ ...row.destination, ...row })),
			{
				key: "shareID",
				empty: note(
					"No destination was shared.",
					"The client shares it if its trip allows that and an endpoint asked for destinationSharing.",
				),
			},
		),
		html(
			"p",
			context.act?.enabled &&
				html("a.button", { href: link({ view: "actions" }) }, "Accept or decline a shared destination"),
		),
		hint(DASH),
		html("h2", "Stops of the trip"),
		table("Stops of the trip", [{ name: "Name", cell: waypointName }, ...PLACE_COLUMNS], data.tables.stops, {
			empty: note("The trip has no stops."),
			hideCaption: true,
		}),
	],
};

/** @type {Column<Answer.Members & Answer.SegmentRow>[]} */
const SEGMENT_COLUMNS = [
	{ name: "Segment", cell: "id" },
	{ name: "Current", cell: row => (row.current ? badge("current", "good") : "no") },
	{ name: "From", kind: "text", cell: "origin", show: waypointName },
	{ name: "To", kind: "text", cell: "destination", show: waypointName },
	{ name: "Points published", kind: "number", cell: row => row.points?.published },
	{
		name: "Points held",
		kind: "number",
		cell: row => explained(row.points?.held, reasons(row.why, "coordinates"), `segment ${row.id}`),
	},
	{ name: "Speed limits", kind: "number", cell: "speedLimits" },
	{ name: "Length", kind: "number", isDerived: true, cell: "lengthMeters", show: distance },
	{ name: "Estimates", cell: "tripTravelEstimates", show: estimatesText },
	{ name: "Maneuvers", cell: "maneuvers", show: commas },
	{ name: "Lane guidances", cell: "laneGuidances", show: commas },
];

const exportPath = (route, format) => `/api/export${query({ ...withEndpoint(route), format, side: route.side })}`;

/** @type {View<Tables & Pick<Answers, "vehicle"> & { route: import("./guidance.js").Lines }>} */
const route = {
	title: "Route",
	follows: true,
	load: (at, signal, old) =>
		loadBoth(at, signal).then(async data => ({
			...data,
			route: await routeData(at, data.vehicle.routeKey, old?.route, signal),
		})),
	draw: (data, context) => {
		const exported = name =>
			html(
				"a.button",
				{
					href: exportPath(context.route, name.toLowerCase()),
					download: "",
				},
				`Export ${name}`,
			);
		return [
			mapOf(data, context, context.route.side === "held" ? "held" : "published"),
			html(
				"div.filters",
				filterField("side", context.route, "Line", [["held", "as the endpoint holds it"]], "as published"),
				html("div.buttons", ["GeoJSON", "GPX", "KML"].map(exported)),
			),
			html(
				"p",
				"Route source, what the vehicle does with the shared route: ",
				html("strong", sentence(data.tables.routeSource) || "not told"),
				". How far it gets with its charge: ",
				html("strong", data.tables.routeFeedback || "not told"),
				".",
			),
			table("Route segments", SEGMENT_COLUMNS, data.tables.segments, {
				key: "id",
				classes: row => (row.current ? "state-current" : ""),
				empty: note(
					"The client shares no route segments.",
					...reasons(data.vehicle.why, "segments", "published").map(one => one.text),
				),
			}),
			hint(DASH, "The table ", anchor({ view: "maneuvers" }, "Maneuvers"), " says what is on the map."),
		];
	},
};

export const tableViews = { updates, maneuvers, lanes: laneGuidances, destination, route };
