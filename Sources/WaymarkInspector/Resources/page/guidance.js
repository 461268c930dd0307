// The view Guidance, and the map of other views.

import { card, standings, tripFacts } from "./card.js";
import { html, hint, soft } from "./dom.js";
import { get } from "./net.js";
import {
	anchor,
	badge,
	facts,
	heldBy,
	hidesTexts,
	link,
	LOG_KINDS,
	moment,
	note,
	reasons,
	table,
	vehicleStream,
	why,
	withEndpoint,
} from "./parts.js";
import { bytes, coordinate, counted, isPlace, maneuverName, sentence, waypointName } from "./words.js";
import { beginningOf } from "./map.js";

/** @typedef {Answer.Route & { identity: string }} Lines */

/** @param {Route} route @param {string} key @param {Lines} old @param {AbortSignal} signal @returns {Promise<Lines>} */
export async function routeData(route, key, old, signal) {
	const identity = [route.source, route.vehicle, route.endpoint, key].join(" ");
	if (old?.identity === identity) return old;
	if (!key) return { identity, segments: [], maneuvers: [], places: [] };
	const answer = await get("route", withEndpoint(route), signal);
	return { ...answer, identity };
}

/** The basemap, if there is one: asked for once. */
let basemap = null;

async function askBasemap(loaded) {
	basemap = {};
	basemap = await fetch("/basemap.geojson")
		.then(response => response.json())
		.catch(() => ({}));
	loaded();
}

/** @typedef {{ vehicle: Answer.Vehicle, route?: Lines }} Drawn */

/**
 * The position, and what is behind it on the lines. They may be thinned, so shares of their length are used.
 * @param {Drawn} data @param {{ coordinates: number[][] }[]} lines
 */
function positionOf(data, lines) {
	const position = data.vehicle?.position,
		line = lines.flatMap(one => one.coordinates);
	if (!line.length || !position?.lengthMeters) return position && { at: position.coordinate };
	return {
		at: position.coordinate,
		traveled: [...beginningOf(line, 1 - position.distanceLeftMeters / position.lengthMeters), position.coordinate],
	};
}

/** @param {Drawn} data @param {"published" | "held"} side */
function mapData(data, side) {
	const { route } = data,
		state = data.vehicle?.published,
		known = standings(state);
	const lines = (route?.segments ?? []).map(segment => ({
		isCurrent: segment.id === state?.currentSegment,
		coordinates: segment[side]?.coordinates ?? [],
	}));
	return {
		key: `${data.route?.identity} ${side}`,
		segments: lines,
		position: positionOf(data, lines),
		maneuvers: (route?.maneuvers ?? []).map(one => ({
			at: one.coordinate,
			label: String(one.id),
			state: known.get(one.id) ?? "past",
		})),
		/** @type {any[]} */
		waypoints: (route?.places ?? [])
			.filter(one => isPlace(one.center))
			.map(one => ({
				at: one.center,
				kind: one.role,
				name: waypointName(one),
				thresholdMeters: one.thresholdMeters,
				entryPoints: one.entryPoints?.filter(isPlace),
			})),
	};
}

/** @param {Drawn} data @param {Context} context @param {"published" | "held"} side */
export function mapOf(data, context, side, pick = null, picked = null) {
	if (context.hasBasemap && !basemap) askBasemap(context.redraw);
	const content = { ...mapData(data, side), basemap, pick },
		list = reasons(data.vehicle?.why, "segments", side),
		hasLine = content.segments.some(one => one.coordinates.length);
	if (picked) content.waypoints.push({ at: picked, kind: "stop", name: "chosen place" });
	const isHidden = hidesTexts(context.source);
	if (!hasLine && !content.waypoints.length)
		return note(
			isHidden ? "The route is hidden from this observer." : "There is no route to draw.",
			why(list, "no route", list[0]?.text ?? "why?"),
		);
	return html(
		"figure.map",
		{ key: "map" },
		html("wm-map", { data: content }),
		html(
			"figcaption",
			!hasLine && [html("strong", "No line to draw. "), why(list, "no line")],
			` As ${side}: ● next maneuver  ○ position, derived from the estimates`,
			html("span", " — current segment  ┄ other segments  ┆ threshold  □ entry point"),
		),
	);
}

/** @param {{ vehicle: Answer.Vehicle }} data */
function endpointTable(data) {
	return table(
		"Endpoints of this vehicle",
		[
			{
				name: "Endpoint",
				cell: row =>
					html(
						"a",
						{
							href: link({ endpoint: row.endpoint }),
							current: row.endpoint === data.vehicle.heldBy?.endpoint,
						},
						row.endpoint,
					),
			},
			{
				name: "State",
				cell: row => [
					badge(row.connected ? "connected" : "away", row.connected ? "good" : "warn"),
					row.ready ? " ready" : "",
					row.standing?.includes("slow") && badge("slow", "bad"),
				],
			},
			{ name: "Withheld", kind: "text", cell: row => withheld(row, data.vehicle) },
			{
				name: "Received / shown",
				kind: "number",
				cell: row => (row.received == null ? "no receipts" : `${row.received} / ${row.shown ?? "—"}`),
			},
			{
				name: "Waiting",
				kind: "number",
				cell: row => [bytes(row.waitingBytes) || "—", row.conflated ? ` (${row.conflated} skipped)` : ""],
			},
		],
		data.vehicle.vehicle?.endpoints ?? [],
		{
			key: "endpoint",
			empty: note(
				"No endpoint of this vehicle is connected.",
				"Connect one: waymark cluster --id ",
				data.vehicle.vehicle?.vehicle ?? "",
			),
		},
	);
}

/** @param {Answer.EndpointRecord} endpoint @param {Answer.Vehicle} data */
function withheld(endpoint, data) {
	return Object.entries(endpoint.withheld ?? {}).map(([feature, code]) => {
		const known = endpoint.endpoint === data.heldBy?.endpoint && data.why?.find(one => one.feature === feature);
		return why(
			[
				known || {
					reason: "withheld",
					feature,
					code,
					text: `${endpoint.endpoint} does not get ${sentence(feature)}: ${sentence(code)}.`,
				},
			],
			`${feature} is withheld`,
			feature,
		);
	});
}

/** @param {{ log?: Answer.Entries }} data @param {Context} context */
const happened = (data, context) =>
	html(
		"section.panel",
		html("h2", "What happened last"),
		data.log?.entries?.length
			? html(
					"ul.log",
					data.log.entries
						.slice(0, 9)
						.map(entry =>
							html(
								"li",
								{ key: entry.entry },
								moment(entry, context.isVirtual),
								" ",
								html("span", entry.text ?? sentence(entry.event ?? entry.kind)),
							),
						),
				)
			: note("Nothing has happened in this session yet."),
		html("p", anchor({ view: "log" }, "The whole log")),
	);

/** @param {Answer.Vehicle} data */
function sequence(data) {
	const known = standings(data.published),
		named = data.published?.upcomingManeuvers ?? [];
	if (known.size < 2) return null;
	const past = [...known.keys()].filter(id => known.get(id) === "past"),
		ids = new Set([...past, ...named, ...known.keys()]);
	const maneuvers = new Map(data.published.maneuvers.map(one => [one.id, one]));
	return html(
		"details.panel.more",
		{ key: "more" },
		html("summary", `Show more: ${counted(past.length, "maneuver")} past, ${ids.size - past.length} ahead`),
		html(
			"ol.sequence",
			[...ids].map(id => {
				const maneuver = maneuvers.get(id),
					state = known.get(id);
				return html(
					`li.state-${state}`,
					{ key: id, current: state === "current" && "step" },
					maneuver ? `${state}: ${maneuverName(maneuver)}` : `maneuver ${id} is not known`,
					maneuver?.instructionVariants?.[0] && soft(` · ${maneuver.instructionVariants[0]}`),
				);
			}),
		),
		html("p", anchor({ view: "maneuvers" }, "All maneuvers with every column")),
	);
}

/** @type {View<Drawn & { vehicle: Answers["vehicle"], log?: Answers["entries"] }>} */
export const guidance = {
	title: "Guidance",
	streams: vehicleStream,
	load: async (route, signal, old) => {
		const data = { vehicle: await get("vehicle", withEndpoint(route), signal), route: old?.route };
		await guidance.after(data, route, signal);
		return data;
	},
	after: async (data, route, signal) => {
		data.route = await routeData(route, data.vehicle.routeKey, data.route, signal);
		data.log = await get(
			"entries",
			{ source: route.source, vehicle: route.vehicle, to: route.at, kind: LOG_KINDS, limit: 9 },
			signal,
		);
	},
	draw: (data, context) => [
		html(
			"div.guidance",
			html(
				"div",
				heldBy(data.vehicle, anchor({ view: "sides" }, "Compare with what was published")),
				card(data.vehicle, hidesTexts(context.source)),
				sequence(data.vehicle),
			),
			html("div", mapOf(data, context, "published"), html("div.panel", facts(tripFacts(data.vehicle)))),
		),
		html("div.halves", html("section.panel", endpointTable(data)), happened(data, context)),
		data.vehicle.position &&
			hint(
				`* derived. Position ${coordinate(data.vehicle.position.coordinate)}: `,
				`${data.vehicle.position.basis ?? "from the estimates"}.`,
			),
	],
};
