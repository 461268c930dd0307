// As published beside as held; requests as time lines; receipts; findings; the log.

import { currentLanes, standings } from "./card.js";
import { code, html, hint, svg, soft } from "./dom.js";
import { glyph, lanes } from "./glyph.js";
import { now } from "./net.js";
import {
	anchor,
	badge,
	explained,
	frameLink,
	heldBy,
	isEmpty,
	loads,
	LOG_KINDS,
	moment,
	note,
	reasons,
	table,
	timeOfDay,
	variants,
	vehicleStream,
	why,
	withEndpoint,
	withParameters,
} from "./parts.js";
import { aheadWords, limitWords } from "./sign.js";
import { filterField, pages, searchField, without } from "./tables.js";
import { coordinate, counted, degrees, estimatesText, sentence, waypointName } from "./words.js";

const maneuverCell = maneuver => [
	html("span.then-glyph", glyph(maneuver)),
	variants(maneuver.instructionVariants),
	maneuver.junctionExitAngle == null ? null : soft(degrees(maneuver.junctionExitAngle)),
];

const mapped = show => list => variants(list.map(show));

/**
 * The lines of the comparison. `show` formats the value at the path.
 * @type {{ path: string, name: string, show?: any }[]}
 */
const SIDES = [
	{ path: "phase", name: "Phase", show: sentence },
	{ path: "pauseReason", name: "Why paused", show: sentence },
	{ path: "endReason", name: "Why ended", show: sentence },
	{ path: "generation", name: "Route (generation)" },
	{ path: "suspended", name: "Client away" },
	{ path: "trip/origin/nameVariants", name: "Origin", show: variants },
	{ path: "trip/origin/center", name: "Place of the origin", show: coordinate },
	{ path: "trip/destination/nameVariants", name: "Destination names", show: variants },
	{ path: "trip/destination/addressVariants", name: "Destination addresses", show: variants },
	{ path: "trip/waypoints", name: "Stops", show: mapped(waypointName) },
	{ path: "currentRoadName", name: "Current road", show: variants },
	{ path: "speedLimit", name: "Speed limit", show: limitWords },
	{ path: "nextSpeedLimit", name: "Next speed limit", show: aheadWords },
	{ path: "maneuverState", name: "Maneuver state" },
	{ path: "upcomingManeuvers", name: "Upcoming maneuvers", show: list => list.join(", ") },
	{
		path: "currentLaneGuidance",
		name: "Current lanes",
		show: current => (current.lanes ? lanes(current) : `lane guidance ${current}`),
	},
	{ path: "tripEstimates", name: "To the destination", show: estimatesText },
	{ path: "timeRemainingColor", name: "Colour of the time" },
	{
		path: "maneuverEstimates",
		name: "To maneuvers",
		show: mapped(one => `maneuver ${one.maneuver}: ${estimatesText(one)}`),
	},
	{ path: "segments", name: "Route segments", show: mapped(one => `${one.id}: ${one.points ?? 0} points`) },
	{ path: "currentSegment", name: "Current segment" },
	{ path: "alert/titleVariants", name: "Alert", show: variants },
	{ path: "previews", name: "Trip previews", show: mapped(tripText) },
];

/** A trip of a preview with its routes; the selected one is named. */
function tripText(trip) {
	const routes = trip.routeChoices ?? [],
		chosen = routes.find(one => one.id === trip.selectedRouteChoice) ?? routes[0];
	return [
		`to ${waypointName(trip.destination)}`,
		routes.length > 1 && counted(routes.length, "route"),
		chosen?.summaryVariants?.[0],
		estimatesText(trip.travelEstimates ?? chosen?.travelEstimates),
	]
		.filter(Boolean)
		.join(", ");
}

/** What a state has at a path; an element of a list is named by its id. */
function valueAt(state, path) {
	if (path === "currentLaneGuidance") return currentLanes(state) ?? state?.currentLaneGuidance;
	return path
		.split("/")
		.reduce((part, key) => (Array.isArray(part) ? part.find(one => String(one.id) === key) : part?.[key]), state);
}

const sideCell = (row, which) =>
	explained(
		row[which],
		which === "held" || isEmpty(row[which]) ? reasons(row.why, row.path, which) : [],
		`${row.name}, ${which}`,
	);

/** @param {Answer.Vehicle} data */
function sideRows(data) {
	const row = (path, name, /** @type {any} */ cell = value => String(value), why = data.why) => {
		const values = [data.published, data.held].map(state => valueAt(state, path));
		const [published, held] = values.map(value => (value === false ? "no" : isEmpty(value) ? "" : cell(value)));
		return {
			path,
			name,
			why,
			published,
			held,
			isSame: !data.held || JSON.stringify(values[0]) === JSON.stringify(values[1]),
		};
	};
	return [
		...SIDES.map(({ path, name, show }) => row(path, name, show)),
		...Array.from(standings(data.published), ([id, standing]) => {
			const path = `maneuvers/${id}`;
			return row(
				path,
				`Maneuver ${id}${standing === "past" ? " (past)" : ""}`,
				maneuverCell,
				(data.why ?? []).map(one => (one.path.startsWith(`${path}/`) ? { ...one, path } : one)),
			);
		}),
	];
}

/** @param {Answer.Vehicle} data */
const otherReasons = data =>
	(data.why ?? []).filter(one =>
		/^(laneGuidances|segments|alert)\/(?!title)|^trip\/(waypoints|\w+\/(?!name|address))/.test(one.path),
	);

/** @type {View<Pick<Answers, "vehicle">>} */
const sides = {
	title: "As published, as held",
	streams: vehicleStream,
	load: loads("vehicle", withEndpoint),
	draw: ({ vehicle }) => {
		if (!vehicle.published)
			return [note(vehicle.why?.[0]?.text ?? "No session guides this vehicle.", vehicle.why?.[0]?.next ?? "")];
		const endpoint = vehicle.heldBy?.endpoint ?? "no endpoint";
		const others = otherReasons(vehicle);
		return [
			heldBy(vehicle),
			vehicle.heldBy?.received != null &&
				html(
					"p",
					`Confirmed up to number ${vehicle.heldBy.received} `,
					`of ${vehicle.heldBy.sent ?? vehicle.heldBy.published}; `,
					`${vehicle.heldBy.waitingBytes ?? 0} bytes wait; `,
					`${vehicle.heldBy.conflated ?? 0} values were skipped for newer ones.`,
				),
			table(
				"As published beside as this endpoint holds it",
				[
					{ name: "What", cell: "name" },
					{ name: "As published", kind: "wide", cell: row => sideCell(row, "published") },
					{
						name: `As ${endpoint} holds it`,
						kind: "wide",
						cell: row => (vehicle.held ? sideCell(row, "held") : "—"),
					},
					{ name: "Difference", cell: row => (row.isSame ? "same" : badge("differs", "warn")) },
				],
				sideRows(vehicle),
				{ key: "path", classes: row => (row.isSame ? "" : "differs") },
			),
			others.length
				? html(
						"section.panel",
						html("h2", "Also cut or missing"),
						html(
							"ul",
							others.map(one =>
								html("li", code(`${one.side} ${one.path}`), " ", one.text, " ", why([one], one.path)),
							),
						),
					)
				: null,
		];
	},
};

/** @param {Answer.Request} request @param {number} end */
function timeLine(request, end) {
	if (request.begin == null) return null;
	const deadlines = [request.deadline, ...request.steps.map(step => step.deadline)].filter(one => one != null);
	const last = Math.max(end, ...deadlines, request.begin + 0.1);
	const across = (at, index = 0) =>
		Math.max(20 + index * 16, Math.round(20 + ((at - request.begin) / (last - request.begin)) * 660));
	const after = at => `${(at - request.begin).toFixed(1)} s`,
		limit = deadlines.length ? `deadline after ${after(deadlines.at(-1))}` : "no deadline",
		name = `${counted(request.steps.length, "step")} in ${after(end)}; ${limit}`;
	return svg(
		"svg.request-line",
		{ viewBox: "0 0 700 64", role: "img", label: name },
		svg("path.request-rest", { d: `M20 32 H680`, "stroke-width": 2 }),
		svg("path.request-done", { d: `M${across(request.begin)} 32 H${across(end)}`, "stroke-width": 6 }),
		...deadlines.map(at =>
			svg(
				"g",
				svg("path.request-deadline", {
					d: `M${across(at)} 12 V52`,
					"stroke-width": 2,
					"stroke-dasharray": "4 3",
				}),
				svg(
					"text.request-text",
					{ x: across(at), y: 62, "text-anchor": across(at) > 600 ? "end" : "middle" },
					`deadline ${after(at)}`,
				),
			),
		),
		...request.steps.map((step, index) =>
			svg(
				"g",
				svg("circle.request-step", { cx: across(step.at, index), cy: 32, r: 7 }),
				svg(
					"text.request-number",
					{ x: across(step.at, index), y: index % 2 ? 52 : 20, "text-anchor": "middle" },
					index + 1,
				),
			),
		),
	);
}

/** @param {Answer.Request} request */
function outcomeBadge(request) {
	if (request.stage !== "ended") return badge(sentence(request.stage), "warn");
	return badge(sentence(request.outcome), request.outcome === "accepted" ? "good" : "bad");
}

/** @param {Answer.Request} request @param {number} at @param {Answer.Source} source */
function requestPanel(request, at, source) {
	const target = request.waypoint ?? request.destination;
	const end = request.end ?? Math.max(request.begin ?? at, at);
	const left = request.stage !== "ended" && request.deadline != null ? request.deadline - at : undefined;
	return html(
		"section.panel",
		{ key: `request-${request.requestID}-${request.begin}`, label: `Request ${request.requestID}` },
		html(
			"h2",
			sentence(request.request).replace(/^./, letter => letter.toUpperCase()),
			target ? `: ${waypointName(target)} ` : " ",
			outcomeBadge(request),
		),
		request.why && html("p.answer", html("strong", "Why: "), request.why.text),
		left != null &&
			html(
				"p",
				html("strong", left > 0 ? `${left.toFixed(0)} s left` : "past its deadline"),
				" until the gateway gives up.",
			),
		hint(
			`${request.requestID} · by ${request.by ?? "—"} · asked ${request.client ?? "—"}`,
			request.segment ? ` · for segment ${request.segment}` : null,
			target ? ` · ${coordinate(target.center)}` : null,
		),
		timeLine(request, end),
		html(
			"ol.steps",
			request.steps.map((step, index) =>
				html(
					`li${request.why?.step === index ? ".decisive" : ""}`,
					timeOfDay(step.at, source),
					" ",
					frameLink(step.entry, `+${(step.at - (request.begin ?? step.at)).toFixed(3)} s`),
					` ${step.text} `,
					step.deadline != null &&
						soft(`(until +${(step.deadline - (request.begin ?? step.at)).toFixed(1)} s) `),
					request.why?.step === index && badge("this decided it", "warn"),
				),
			),
		),
	);
}

/** @type {View<Pick<Answers, "requests">>} */
const requests = {
	title: "Requests",
	streams: route => [`requests:${route.vehicle}`],
	load: loads("requests"),
	draw: ({ requests: answer }, { isLive, isVirtual, source }) => {
		const at = isLive && !isVirtual ? answer.at + Math.max(0, (now() - Date.parse(answer.time)) / 1000) : answer.at;
		return answer.requests.length
			? answer.requests.map(request => requestPanel(request, at, source))
			: [
					note(
						"No request in this time.",
						"A vehicle asks for a stop or a destination; ",
						anchor({ view: "actions" }, "send one"),
						" or wait.",
					),
				];
	},
	ticks: true,
};

/** @param {Answer.ReceiptRow} row @param {string} endpoint @param {keyof Answer.Confirmation} key */
const receiptCell = (row, endpoint, key) => {
	const at = row.endpoints?.[endpoint]?.[key];
	return at != null && `+${Math.max(0, at - row.sentAt).toFixed(3)} s`;
};

/** @param {Answer.Delays | undefined} delays */
const delayCell = delays =>
	delays && `${delays.meanMilliseconds.toFixed(1)} ms, last ${delays.lastMilliseconds.toFixed(1)} ms`;

/** @type {View<Pick<Answers, "receipts">>} */
const receipts = {
	title: "Receipts",
	streams: route => [`receipts:${route.vehicle}`],
	load: loads("receipts"),
	draw: ({ receipts: answer }, { source }) => [
		table(
			"Receipts by endpoint",
			[
				{ name: "Endpoint", cell: "endpoint" },
				{
					name: "Received up to",
					kind: "number",
					cell: row => explained(row.received, reasons(answer.why, `endpoints/${row.endpoint}`), "receipts"),
				},
				{ name: "Shown up to", kind: "number", cell: "shown" },
				{
					name: "Behind",
					kind: "number",
					cell: row =>
						row.behind
							? badge(counted(row.behind, "number"), "warn")
							: row.received == null
								? "not known"
								: badge("up to date", "good"),
				},
				{ name: "Received in", kind: "number", cell: row => delayCell(row.receivedDelays) },
				{ name: "Shown in", kind: "number", cell: row => delayCell(row.shownDelays) },
			],
			answer.endpoints ?? [],
			{ key: "endpoint", empty: note("No endpoint is in this session.") },
		),
		table(
			"Sent, received, shown",
			[
				{ name: "Number", kind: "number", cell: row => frameLink(row.entry, row.sequence) },
				{ name: "Message", cell: "message", show: sentence },
				{
					name: "Sent at",
					kind: "number",
					cell: "sentAt",
					show: at => anchor({ at }, timeOfDay(at, source) || `${at.toFixed(3)} s`),
				},
				...(answer.endpoints ?? []).flatMap(
					one =>
						/** @type {Column<Answer.ReceiptRow>[]} */ ([
							{
								name: `${one.endpoint} received`,
								kind: "number",
								cell: row => receiptCell(row, one.endpoint, "receivedAt"),
							},
							{
								name: `${one.endpoint} shown`,
								kind: "number",
								cell: row => receiptCell(row, one.endpoint, "shownAt"),
							},
						]),
				),
			],
			answer.rows ?? [],
			{ key: "sequence", empty: note("Nothing was published yet.") },
		),
		...(answer.why ?? []).map(one => hint(`${one.path.replace("endpoints/", "")}: ${one.text}`)),
		hint("The times are those of the receipts that say so: at most that late."),
		hint("Received in, shown in: from when the gateway accepted a publication, by times in receipts."),
	],
};

/** @type {View<Pick<Answers, "findings">>} */
const findings = {
	title: "Findings",
	streams: ({ vehicle }) => [vehicle ? `findings:${vehicle}` : "findings"],
	load: loads("findings", route => ({ source: route.source, vehicle: route.vehicle })),
	/** A recording has no stream. */
	reloads: data => data?.findings.judging < 1 && !data.findings.stopped,
	draw: ({ findings: answer }, { isVirtual }) => [
		answer.judging < 1 &&
			html(
				"p",
				{ role: "status" },
				`Judged: ${Math.round(answer.judging * 100)} %. `,
				answer.stopped ? "The recording is damaged: what follows is not judged." : "More may follow.",
			),
		table(
			"Lint findings",
			[
				{ name: "Time", cell: row => moment(row, isVirtual) },
				{ name: "Rule", cell: "rule", show: rule => badge(rule, "warn") },
				{ name: "What was seen", kind: "wide", cell: "text" },
				{ name: "What it means", kind: "wide", cell: "sentence" },
				{ name: "Whose", cell: "peer" },
				{ name: "Field", cell: "field", show: code },
				{
					name: "Values",
					cell: row =>
						Object.entries(row.values ?? {})
							.map(([name, value]) => `${name} ${value}`)
							.join(", "),
				},
				{ name: "Frame", cell: row => anchor({ view: "frames", at: row.at }, row.number ?? "show") },
			],
			answer.findings,
			{ key: row => `${row.rule} ${row.number} ${row.at}`, empty: note("No finding.", "Nothing looks wrong.") },
		),
		answer.off?.length ? hint(`Off: ${answer.off.join(", ")}.`) : null,
		answer.unjudgedSessions ? hint(`Sessions not judged, for want of memory: ${answer.unjudgedSessions}.`) : null,
		answer.rules?.length
			? hint(
					"Rules that found something: ",
					answer.rules
						.map(rule => `${rule.rule} ${rule.found}${rule.omitted ? ` (${rule.omitted} not listed)` : ""}`)
						.join(", "),
					".",
				)
			: null,
	],
};

/** @param {Entry} entry */
const entryBadge = entry =>
	badge(sentence(entry.event ?? entry.kind), ["finding", "dropped", "fault"].includes(entry.kind) ? "warn" : "plain");

const logFilter = route => ({ vehicle: route.vehicle, kind: route.kind || LOG_KINDS, search: route.search });

/** @type {View<ListedEntries>} */
const log = {
	title: "Log",
	streams: route => (route.before ? [] : [withParameters("entries", logFilter(route))]),
	load: loads("entries", route => ({
		source: route.source,
		...logFilter(route),
		to: route.at,
		before: route.before,
		limit: 100,
	})),
	draw: (data, { route, isVirtual }) => [
		html(
			"div.filters",
			filterField("kind", route, "Kind", LOG_KINDS.split(",")),
			searchField("search", route, "Search", "an id, a reason"),
		),
		table(
			"Log",
			[
				{ name: "Time", cell: row => moment(row, isVirtual) },
				{ name: "Kind", cell: entryBadge },
				{ name: "What happened", kind: "wide", cell: row => row.text ?? sentence(row.event ?? row.kind) },
				{ name: "Peer", cell: row => row.peer ?? row.client },
				{ name: "Session", kind: "number", cell: "session" },
				{ name: "Code", cell: row => [row.codeName, row.reason].filter(Boolean).join(": ") },
			],
			data.entries.entries,
			{
				key: "entry",
				empty: without(
					data.entries,
					"Nothing that matches is kept.",
					anchor({ search: null, kind: null, before: null }, "Show everything"),
				),
			},
		),
		pages(data.entries, route, data.skipped),
	],
};

export const storyViews = { sides, requests, receipts, findings, log };
