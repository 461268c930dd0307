// All vehicles, clients and sessions; two recordings or moments side by side.

import { card } from "./card.js";
import { code, hint, html, soft } from "./dom.js";
import { glyph } from "./glyph.js";
import { get } from "./net.js";
import { anchor, badge, facts, field, go, isKnown, link, note, select, table, withParameters } from "./parts.js";
import { filterField, searchField } from "./tables.js";
import { bytes, clock, counted, distance, duration, sentence } from "./words.js";

const commas = list => list.map(sentence).join(", ");

const STANDINGS = ["waiting", "slow", "away", "guided", "requests", "findings"];
const BAD = { slow: "bad", waiting: "warn", away: "warn" };

/** @param {OverviewRow} row */
const standing = row =>
	row.standing?.length ? row.standing.map(one => badge(sentence(one), BAD[one])) : badge("well", "good");

function only(route) {
	const chosen = new Set((route.only ?? "").split(",").filter(Boolean));
	return html(
		"fieldset.chips",
		html("legend", "Only"),
		STANDINGS.map(name =>
			html(
				"button.chip",
				{
					pressed: chosen.has(name),
					onclick: () => {
						if (!chosen.delete(name)) chosen.add(name);
						go({ only: [...chosen].join(","), after: null });
					},
				},
				name,
			),
		),
	);
}

/** @param {OverviewRow} row */
const nextCell = row =>
	row.nextManeuver
		? [
				html("span.then-glyph", glyph({ ...row, type: row.nextManeuverType ?? "noTurn" })),
				`${distance(row.distanceToManeuverMeters)} `,
				row.nextManeuver,
			]
		: "—";

/** @param {Answer.Connection} one */
const awayText = one => `away until ${clock(one.until).slice(0, 8)}`;

/** @param {OverviewRow} row */
const endpointCell = row =>
	row.endpoints?.length
		? html(
				"ul.variants",
				row.endpoints.map(one =>
					html(
						"li",
						{ key: one.endpoint },
						anchor({ view: "guidance", vehicle: row.vehicle, endpoint: one.endpoint }, one.endpoint),
						one.connected ? "" : ` ${awayText(one)}`,
						one.standing?.includes("slow") && [" ", badge("slow", "bad")],
						Object.keys(one.withheld ?? {}).length
							? soft(` no ${commas(Object.keys(one.withheld))}`)
							: null,
					),
				),
			)
		: "none connected";

/** @typedef {OverviewRow & { lastRequest?: Entry }} VehicleRow */

/** How many requests are open, and how the last one ended. @param {VehicleRow} row */
const requestCell = row => {
	const ended = row.lastRequest;
	const kind = ended?.codeName === "accepted" ? "good" : "warn";
	return [
		counts("requests", "openRequests")(row),
		ended?.codeName && [
			" ",
			anchor({ view: "requests", vehicle: row.vehicle, endpoint: null }, badge(sentence(ended.codeName), kind)),
		],
	];
};

/**
 * The rows of vehicles, each with the newest of its requests that ended.
 * @param {OverviewRow[]} rows @param {Entry[]} entries @returns {VehicleRow[]}
 */
const withLastRequests = (rows, entries = []) =>
	rows.map(row => ({
		...row,
		lastRequest: entries.find(one => one.event === "requestEnded" && one.vehicles?.includes(row.vehicle)),
	}));

/** @param {string} view @param {"openRequests" | "findings"} key @returns {(row: VehicleRow) => any} */
const counts = (view, key) => row => (row[key] ? anchor({ view, vehicle: row.vehicle }, row[key]) : "0");

/** @type {Column<VehicleRow>[]} */
const VEHICLES = [
	{
		name: "Vehicle",
		cell: row =>
			html("a.strong", { href: link({ view: "guidance", vehicle: row.vehicle, endpoint: null }) }, row.vehicle),
	},
	{ name: "State", kind: "narrow", cell: standing },
	{
		name: "Waiting",
		kind: "number",
		cell: row => (row.waitingBytes ? badge(bytes(row.waitingBytes), "warn") : "0"),
	},
	{ name: "Requests", kind: "narrow", cell: requestCell },
	{ name: "Findings", kind: "number", cell: counts("findings", "findings") },
	{ name: "Endpoints", kind: "wide", cell: endpointCell },
	{
		name: "Guided by",
		cell: row => [
			row.client ?? "—",
			row.phase && soft(` ${row.phase}${row.generation > 1 ? `, route ${row.generation}` : ""}`),
			row.suspended && badge("client away", "warn"),
		],
	},
	{ name: "Next maneuver", kind: "wide", cell: nextCell },
	{ name: "On", kind: "text", cell: "currentRoadName" },
	{
		name: "Left",
		kind: "number",
		cell: row => [distance(row.distanceLeftMeters), duration(row.timeLeftSeconds)].filter(Boolean).join(", "),
	},
	{ name: "Destination", kind: "text", cell: "destination" },
	{ name: "Newest", kind: "number", cell: "ageSeconds", show: age => `${age.toFixed(1)} s ago` },
];

/** @type {Column<Answer.ClientRecord & Answer.Connection>[]} */
const CLIENTS = [
	{ name: "Client", cell: row => [row.client, row.displayName && soft(` ${row.displayName}`)] },
	{ name: "State", cell: row => (row.connected ? badge("connected", "good") : badge(awayText(row), "warn")) },
	{ name: "Sessions", cell: "sessions", show: commas },
	{ name: "Priority", kind: "number", cell: "priority" },
	{ name: "Owner", cell: "owner" },
	{ name: "Waiting", kind: "number", cell: "waitingBytes", show: bytes },
	{ name: "Granted", kind: "wide", cell: "features", show: commas },
];

/** @type {Column<Answer.SessionRecord>[]} */
const SESSIONS = [
	{ name: "Session", kind: "number", cell: "session" },
	{ name: "Client", cell: "client" },
	{ name: "Vehicles", cell: row => commas(row.vehicles ?? []) || (row.anyThatAsked ? "any that asks" : "—") },
	{ name: "Phase", cell: row => [row.phase, row.suspended && badge("client away", "warn")] },
	{ name: "Route", kind: "number", cell: "generation" },
	{ name: "Number", kind: "number", cell: "sequence" },
	{ name: "Age", kind: "number", cell: "ageMilliseconds", show: age => `${(age / 1000).toFixed(1)} s` },
	{ name: "Frames/s", kind: "number", cell: "framesPerSecond", show: rate => rate.toFixed(1) },
	{ name: "Retained", kind: "number", cell: "retainedBytes", show: bytes },
	{ name: "For resuming", kind: "number", cell: "replayBytes", show: bytes },
	{ name: "Not shared", cell: row => commas(row.optedOut ?? []) || "nothing" },
];

/** The events that tell how requests ended, and how many of them are read at first. */
const ENDINGS = { kind: "event", event: "requestEnded" };
const ENDINGS_MAX = 200;

const filter = route => ({ search: route.search, only: route.only, sort: route.sort });

/** @type {View<Pick<Answers, "overview" | "entries">>} */
export const overview = {
	title: "Overview",
	streams: route =>
		route.after ? [] : [withParameters("overview", filter(route)), withParameters("entries", ENDINGS)],
	load: async (route, signal) => {
		const { source, at, after } = route;
		const [answer, entries] = await Promise.all([
			get("overview", { source, at, ...filter(route), after }, signal),
			get("entries", { source, to: at, ...ENDINGS, limit: ENDINGS_MAX }, signal),
		]);
		return { overview: answer, entries };
	},
	/** The stream tells only the rows that changed, and the order of all. */
	receive: (data, change) => {
		const rows = new Map([...data.overview.vehicles, ...change.changed].map(row => [row.vehicle, row]));
		data.overview = {
			...data.overview,
			next: null,
			...change,
			vehicles: change.order.map(name => rows.get(name)).filter(Boolean),
		};
	},
	draw: ({ overview: data, entries }, { route, source }) => [
		html(
			"div.panel",
			facts([
				["Vehicles", data.totals.vehicles],
				["Clients", data.totals.clients],
				["Sessions", data.totals.sessions],
				["Open requests", String(data.totals.requests)],
				["Waiting", bytes(data.totals.waitingBytes ?? 0)],
				["Frames/s", data.totals.framesPerSecond?.toFixed(1)],
				["Deliveries/s", data.totals.deliveriesPerSecond?.toFixed(1)],
			]),
		),
		html(
			"div.filters",
			searchField("search", route, "Search", "vehicle, client, road"),
			only(route),
			filterField("sort", route, "Sort by", ["waitingBytes", "age", "findings"], "name"),
		),
		table(
			`Vehicles: ${data.totals.matching ?? data.vehicles.length} of ${data.totals.vehicles}`,
			VEHICLES,
			withLastRequests(data.vehicles, entries?.entries),
			{
				key: "vehicle",
				empty:
					route.search || route.only
						? note(
								"No vehicle matches.",
								anchor({ search: null, only: null, after: null }, "Show all vehicles"),
							)
						: isKnown(source)
							? note("No vehicle is known to this gateway.", "Connect one: waymark cluster --id car")
							: note("No vehicle is known."),
			},
		),
		html(
			"p",
			route.after && anchor({ after: null }, "⇤ first vehicles "),
			data.truncated && data.next && anchor({ after: data.next }, "more vehicles ⇢"),
		),
		table("Navigation clients", CLIENTS, data.clients ?? [], {
			key: "client",
			empty: note(
				"No navigation client is connected.",
				"Connect one: waymark navigate --vehicle car --route FILE",
			),
		}),
		table("Sessions", SESSIONS, data.sessions ?? [], { key: "session", empty: note("No session is open.") }),
		data.othersTruncated && note("There are more clients and sessions than shown."),
	],
};

/** How long before the end of its session a drive is looked at. */
const BEFORE_THE_END_SECONDS = 0.001;

const value = one => (typeof one === "object" ? JSON.stringify(one) : String(one));

/** @param {Answer.ComparedState} side */
const isOver = side => !side?.state || side.state.phase === "ended";

/** A second at which a vehicle was guided last in a recording; undefined if it never was. */
async function guidedLast(source, vehicle, signal) {
	const { moments } = await get("moments", { source, vehicle }, signal);
	const end = moments.findLast(one => one.event === "sessionEnded" || one.event === "left");
	return end && Math.max(0, end.at - BEFORE_THE_END_SECONDS);
}

/**
 * What two drives hold; where both are over at the ends of their recordings, what they held before.
 * @returns {Promise<Answer.Comparison & { isBeforeEnd?: boolean }>}
 */
async function comparison({ a, b, vehicle }, route, signal) {
	const ask = (at, atB) => get("compare", { a, b, vehicle, vehicleB: route.vehicleB, at, atB }, signal);
	const atEnds = await ask(route.at, route.atB);
	if (route.at != null || !isOver(atEnds.a) || !isOver(atEnds.b)) return atEnds;
	const [at, atB] = await Promise.all([
		guidedLast(a, vehicle, signal),
		route.atB ?? guidedLast(b, route.vehicleB ?? vehicle, signal),
	]);
	return at == null ? atEnds : { ...(await ask(at, atB ?? at)), isBeforeEnd: true };
}

/**
 * @type {View<{
 *   a: string, b: string, vehicle: string, vehicles: string[], compare: Answer.Comparison & { isBeforeEnd?: boolean }
 * }>}
 */
export const compare = {
	title: "Compare",
	load: async (route, signal, old, sources) => {
		const [a, b] = [route.a ?? sources[0]?.source, route.b ?? sources[1]?.source ?? sources[0]?.source];
		const vehicles =
			old?.a === a
				? old.vehicles
				: (await get("overview", { source: a, limit: 500 }, signal)).vehicles.map(row => row.vehicle);
		const vehicle = route.vehicle ?? vehicles[0];
		return {
			a,
			b,
			vehicles,
			vehicle,
			compare: vehicle == null ? null : await comparison({ a, b, vehicle }, route, signal),
		};
	},
	draw: (data, { route, sources }) => {
		const source = (key, chosen) =>
			field(
				key === "a" ? "Left" : "Right",
				select(
					key,
					sources.map(one => [one.source, one.file ?? one.address ?? one.source]),
					chosen,
					{ onchange: event => go({ [key]: event.target.value }) },
				),
			);
		const at = (key, label) =>
			field(
				label,
				html("input", {
					type: "number",
					step: "any",
					min: 0,
					name: key,
					value: route[key],
					placeholder: data.compare?.isBeforeEnd ? "while guided" : "its end",
					onchange: event => go({ [key]: event.target.value }),
				}),
			);
		const side = (one, name) =>
			html(
				"section",
				{ label: name },
				html("h2", `${name}: ${one?.source ?? "—"} at ${one?.at ?? "—"} s`),
				one?.state ? card({ published: one.state }) : note("The vehicle is not there then."),
			);
		return [
			html(
				"div.filters",
				source("a", data.a),
				at("at", "Left, seconds"),
				source("b", data.b),
				at("atB", "Right, seconds (as left if empty)"),
				field(
					"Vehicle",
					select("vehicle", data.vehicles, data.vehicle, {
						onchange: event => go({ vehicle: event.target.value }),
					}),
				),
			),
			sources.length < 2 &&
				note(
					"There is one source only, so two of its moments are compared.",
					"To compare two recordings: waymark inspect FIRST.mcap SECOND.mcap",
				),
			data.compare?.isBeforeEnd &&
				hint("Both drives are over at the end. Each is shown while it was guided, just before that."),
			data.compare
				? html("div.halves", side(data.compare.a, "Left"), side(data.compare.b, "Right"))
				: note("No vehicle is in this recording."),
			data.compare &&
				table(
					counted(data.compare.differences.length, "difference"),
					[
						{ name: "Path", cell: "path", show: code },
						{ name: "Left", kind: "wide", cell: "a", show: value },
						{ name: "Right", kind: "wide", cell: "b", show: value },
					],
					data.compare.differences,
					{ key: "path", empty: note("Both hold the same.") },
				),
		];
	},
};
