// All vehicles, clients and sessions; two recordings or moments side by side.

import { card } from "./card.js";
import { code, html, soft } from "./dom.js";
import { glyph } from "./glyph.js";
import { get } from "./net.js";
import { anchor, badge, facts, field, go, link, note, select, table } from "./parts.js";
import { filterField, searchField } from "./tables.js";
import { bytes, clock, counted, distance, duration, sentence } from "./words.js";

const commas = list => list.map(sentence).join(", ");

const STANDINGS = ["waiting", "slow", "away", "guided", "requests", "findings"];
const BAD = { slow: "bad", waiting: "warn", away: "warn" };

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

const nextCell = row =>
	row.nextManeuver
		? [
				html("span.then-glyph", glyph({ ...row, type: row.nextManeuverType ?? "noTurn" })),
				`${distance(row.distanceToManeuverMeters)} `,
				row.nextManeuver,
			]
		: "—";

const awayText = one => `away until ${clock(one.until).slice(0, 8)}`;

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

const counts = (view, key) => row => (row[key] ? anchor({ view, vehicle: row.vehicle }, row[key]) : "0");

/** @type {import("./parts.js").Column[]} */
const VEHICLES = [
	{
		name: "Vehicle",
		cell: row =>
			html("a.strong", { href: link({ view: "guidance", vehicle: row.vehicle, endpoint: null }) }, row.vehicle),
	},
	{ name: "State", cell: standing },
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
	{
		name: "Waiting bytes",
		kind: "number",
		cell: row => (row.waitingBytes ? badge(bytes(row.waitingBytes), "warn") : "0"),
	},
	{ name: "Requests", kind: "number", cell: counts("requests", "openRequests") },
	{ name: "Findings", kind: "number", cell: counts("findings", "findings") },
	{ name: "Newest", kind: "number", cell: "ageSeconds", show: age => `${age.toFixed(1)} s ago` },
];

/** @type {import("./parts.js").Column[]} */
const CLIENTS = [
	{ name: "Client", cell: row => [row.client, row.displayName && soft(` ${row.displayName}`)] },
	{ name: "State", cell: row => (row.connected ? badge("connected", "good") : badge(awayText(row), "warn")) },
	{ name: "Sessions", cell: "sessions", show: commas },
	{ name: "Priority", kind: "number", cell: "priority" },
	{ name: "Owner", cell: "owner" },
	{ name: "Waiting", kind: "number", cell: "waitingBytes", show: bytes },
	{ name: "Granted", kind: "wide", cell: "features", show: commas },
];

/** @type {import("./parts.js").Column[]} */
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

const filter = route => ({ search: route.search, only: route.only, sort: route.sort });

export const overview = {
	title: "Overview",
	streams: route => (route.after ? [] : ["overview"]),
	streamParameters: filter,
	load: (route, signal) =>
		get("overview", { source: route.source, at: route.at, ...filter(route), after: route.after }, signal).then(
			answer => ({ overview: answer }),
		),
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
	draw: ({ overview: data }, { route }) => [
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
			data.vehicles,
			{
				key: "vehicle",
				empty:
					route.search || route.only
						? note(
								"No vehicle matches.",
								anchor({ search: null, only: null, after: null }, "Show all vehicles"),
							)
						: note("No vehicle is known to this gateway.", "Connect one: waymark cluster --id car"),
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

const value = one => (typeof one === "object" ? JSON.stringify(one) : String(one));

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
			compare:
				vehicle == null
					? null
					: await get(
							"compare",
							{ a, b, vehicle, vehicleB: route.vehicleB, at: route.at, atB: route.atB },
							signal,
						),
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
					placeholder: "its end",
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
