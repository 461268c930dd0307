// As published beside as held; requests as time lines; receipts; findings; the log.

import { currentLanes, standings } from "./card.js";
import { code, h, hint, s, soft } from "./dom.js";
import { glyph, lanes } from "./glyph.js";
import { now } from "./net.js";
import { anchor, badge, explained, frameLink, heldBy, isEmpty, loads, LOG_KINDS, moment, note, reasons, table, variants, vehicleStream, why, withEndpoint } from "./parts.js";
import { filterField, pages, searchField, without } from "./tables.js";
import { coordinate, counted, degrees, estimatesText, sentence, waypointName } from "./words.js";

const maneuverCell = maneuver => [h("span.then-glyph", glyph(maneuver)), variants(maneuver.instructionVariants),
	maneuver.junctionExitAngle == null ? null : soft(degrees(maneuver.junctionExitAngle))];

const mapped = show => list => variants(list.map(show));

/** The lines of the comparison: path, name, how the value is shown. @type {any[]} */
const SIDES = [
	["phase", "Phase", sentence], ["pauseReason", "Why paused", sentence], ["endReason", "Why ended", sentence], ["generation", "Route (generation)"], ["suspended", "Client away"],
	["trip/origin/nameVariants", "Origin", variants], ["trip/origin/center", "Place of the origin", coordinate],
	["trip/destination/nameVariants", "Destination names", variants], ["trip/destination/addressVariants", "Destination addresses", variants],
	["trip/waypoints", "Stops", mapped(waypointName)], ["currentRoadName", "Current road", variants],
	["maneuverState", "Maneuver state"], ["upcomingManeuvers", "Upcoming maneuvers", list => list.join(", ")],
	["currentLaneGuidance", "Current lanes", current => (current.lanes ? lanes(current) : `lane guidance ${current}`)],
	["tripEstimates", "To the destination", estimatesText], ["timeRemainingColor", "Colour of the time"],
	["maneuverEstimates", "To maneuvers", mapped(one => `maneuver ${one.maneuver}: ${estimatesText(one)}`)],
	["segments", "Route segments", mapped(one => `${one.id}: ${one.points ?? 0} points`)], ["currentSegment", "Current segment"],
	["alert/titleVariants", "Alert", variants], ["previews", "Trip previews", list => counted(list.length, "trip")],
];

/** What a state has at a path; an element of a list is named by its id. */
function valueAt(state, path) {
	if (path === "currentLaneGuidance") return currentLanes(state) ?? state?.currentLaneGuidance;
	return path.split("/").reduce((part, key) => (Array.isArray(part) ? part.find(one => String(one.id) === key) : part?.[key]), state);
}

const sideCell = (row, which) => explained(row[which], which === "held" || isEmpty(row[which]) ? reasons(row.why, row.path, which) : [], `${row.name}, ${which}`);

function sideRows(data) {
	const row = (path, name, /** @type {any} */ cell = value => String(value), why = data.why) => {
		const values = [data.published, data.held].map(state => valueAt(state, path));
		const [published, held] = values.map(value => (value === false ? "no" : isEmpty(value) ? "" : cell(value)));
		return { path, name, why, published, held, isSame: !data.held || JSON.stringify(values[0]) === JSON.stringify(values[1]) };
	};
	return [...SIDES.map(([path, name, cell]) => row(path, name, cell)), ...Array.from(standings(data.published), ([id, standing]) => {
		const path = `maneuvers/${id}`;
		return row(path, `Maneuver ${id}${standing === "past" ? " (past)" : ""}`, maneuverCell,
			(data.why ?? []).map(one => (one.path.startsWith(`${path}/`) ? { ...one, path } : one)));
	})];
}

const otherReasons = data => (data.why ?? []).filter(one => /^(laneGuidances|segments|alert)\/(?!title)|^trip\/(waypoints|\w+\/(?!name|address))/.test(one.path));

const sides = {
	title: "As published, as held",
	streams: vehicleStream,
	load: loads("vehicle", withEndpoint),
	draw: ({ vehicle }) => {
		if (!vehicle.published) return [note(vehicle.why?.[0]?.text ?? "No session guides this vehicle.", vehicle.why?.[0]?.next ?? "")];
		const endpoint = vehicle.heldBy?.endpoint ?? "no endpoint";
		const others = otherReasons(vehicle);
		return [
			heldBy(vehicle),
			vehicle.heldBy?.received != null && h("p", `Confirmed up to number ${vehicle.heldBy.received} of ${vehicle.heldBy.sent ?? vehicle.heldBy.published}; ${vehicle.heldBy.waitingBytes ?? 0} bytes wait; ${vehicle.heldBy.conflated ?? 0} values were skipped for newer ones.`),
			table("As published beside as this endpoint holds it", [
				["What", "name"],
				["As published=", row => sideCell(row, "published")],
				[`As ${endpoint} holds it=`, row => (vehicle.held ? sideCell(row, "held") : "—")],
				["Difference", row => (row.isSame ? "same" : badge("differs", "warn"))],
			], sideRows(vehicle), { key: "path", classes: row => (row.isSame ? "" : "differs") }),
			others.length ? h("section.panel", h("h2", "Also cut or missing"), h("ul", others.map(one =>
				h("li", code(`${one.side} ${one.path}`), " ", one.text, " ", why([one], one.path))))) : null,
		];
	},
};

function timeLine(request, end) {
	if (request.begin == null) return null;
	const deadlines = [request.deadline, ...request.steps.map(step => step.deadline)].filter(one => one != null);
	const last = Math.max(end, ...deadlines, request.begin + 0.1);
	const x = (at, index = 0) => Math.max(20 + index * 16, Math.round(20 + (at - request.begin) / (last - request.begin) * 660));
	const after = at => `${(at - request.begin).toFixed(1)} s`, name = `${counted(request.steps.length, "step")} in ${after(end)}; ${deadlines.length ? `deadline after ${after(deadlines.at(-1))}` : "no deadline"}`;
	return s("svg.request-line", { viewBox: "0 0 700 64", role: "img", label: name },
		s("path.request-rest", { d: `M20 32 H680`, "stroke-width": 2 }),
		s("path.request-done", { d: `M${x(request.begin)} 32 H${x(end)}`, "stroke-width": 6 }),
		...deadlines.map(at => s("g", s("path.request-deadline", { d: `M${x(at)} 12 V52`, "stroke-width": 2, "stroke-dasharray": "4 3" }),
			s("text.request-text", { x: x(at), y: 62, "text-anchor": x(at) > 600 ? "end" : "middle" }, `deadline ${after(at)}`))),
		...request.steps.map((step, index) => s("g", s("circle.request-step", { cx: x(step.at, index), cy: 32, r: 7 }),
			s("text.request-number", { x: x(step.at, index), y: index % 2 ? 52 : 20, "text-anchor": "middle" }, index + 1))));
}

function outcomeBadge(request) {
	if (request.stage !== "ended") return badge(sentence(request.stage), "warn");
	return badge(sentence(request.outcome), request.outcome === "accepted" ? "good" : "bad");
}

function requestPanel(request, at) {
	const target = request.waypoint ?? request.destination;
	const end = request.end ?? Math.max(request.begin ?? at, at);
	const left = request.stage !== "ended" && request.deadline != null ? request.deadline - at : undefined;
	return h("section.panel", { key: `request-${request.requestID}-${request.begin}`, label: `Request ${request.requestID}` },
		h("h2", `${sentence(request.request).replace(/^./, letter => letter.toUpperCase())}${target ? `: ${waypointName(target)}` : ""} `, outcomeBadge(request)),
		request.why && h("p.answer", h("strong", "Why: "), request.why.text),
		left != null && h("p", h("strong", left > 0 ? `${left.toFixed(0)} s left` : "past its deadline"), " until the gateway gives up."),
		hint(`${request.requestID} · by ${request.by ?? "—"} · asked ${request.client ?? "—"}${request.segment ? ` · for segment ${request.segment}` : ""}${target ? ` · ${coordinate(target.center)}` : ""}`),
		timeLine(request, end),
		h("ol.steps", request.steps.map((step, index) => h(`li${request.why?.step === index ? ".decisive" : ""}`,
			frameLink(step.entry, `+${(step.at - (request.begin ?? step.at)).toFixed(3)} s`), ` ${step.text} `,
			step.deadline != null && soft(`(until +${(step.deadline - (request.begin ?? step.at)).toFixed(1)} s) `),
			request.why?.step === index && badge("this decided it", "warn")))));
}

const requests = {
	title: "Requests", streams: route => [`requests:${route.vehicle}`],
	load: loads("requests"),
	draw: ({ requests: answer }, { isLive, isVirtual }) => {
		const at = isLive && !isVirtual ? answer.at + Math.max(0, (now() - Date.parse(answer.time)) / 1000) : answer.at;
		return answer.requests.length ? answer.requests.map(request => requestPanel(request, at))
			: [note("No request in this time.", "A vehicle asks for a stop or a destination; ", anchor({ view: "actions" }, "send one"), " or wait.")];
	},
	ticks: true,
};

const receiptCell = (row, endpoint, key) => {
	const at = row.endpoints?.[endpoint]?.[key];
	return at != null && `+${Math.max(0, at - row.sentAt).toFixed(3)} s`;
};

const receipts = {
	title: "Receipts", streams: route => [`receipts:${route.vehicle}`],
	load: loads("receipts"),
	draw: ({ receipts: answer }) => [
		table("Receipts by endpoint", [
			["Endpoint", "endpoint"], ["Received up to#", row => explained(row.received, reasons(answer.why, `endpoints/${row.endpoint}`), "receipts")],
			["Shown up to#", "shown"],
			["Behind#", row => (row.behind ? badge(counted(row.behind, "number"), "warn") : row.received == null ? "not known" : badge("up to date", "good"))],
		], answer.endpoints ?? [], { key: "endpoint", empty: note("No endpoint is in this session.") }),
		table("Sent, received, shown", [
			["Number#", row => frameLink(row.entry, row.sequence)], ["Message", "message", sentence],
			["Sent at#", "sentAt", at => anchor({ at }, `${at.toFixed(3)} s`)],
			...(answer.endpoints ?? []).flatMap(one => [
				[`${one.endpoint} received#`, row => receiptCell(row, one.endpoint, "receivedAt")],
				[`${one.endpoint} shown#`, row => receiptCell(row, one.endpoint, "shownAt")]]),
		], answer.rows ?? [], { key: "sequence", empty: note("Nothing was published yet.") }),
		...(answer.why ?? []).map(one => hint(`${one.path.replace("endpoints/", "")}: ${one.text}`)),
		hint("The times are those of the receipts that say so: at most that late."),
	],
};

const findings = {
	title: "Findings", streams: ({ vehicle }) => [vehicle ? `findings:${vehicle}` : "findings"],
	load: loads("findings", route => ({ source: route.source, vehicle: route.vehicle })),
	/** A recording has no stream. */
	reloads: data => data?.findings.judging < 1 && !data.findings.stopped,
	draw: ({ findings: answer }, { isVirtual }) => [
		answer.judging < 1 && h("p", { role: "status" }, `Judged: ${Math.round(answer.judging * 100)} %. ${answer.stopped ? "The recording is damaged: what follows is not judged." : "More may follow."}`),
		table("Lint findings", [
			["Time", row => moment(row, isVirtual)], ["Rule", "rule", rule => badge(rule, "warn")], ["What was seen=", "text"],
			["What it means=", "sentence"], ["Whose", "peer"], ["Field", "field", code],
			["Values", row => Object.entries(row.values ?? {}).map(([name, value]) => `${name} ${value}`).join(", ")], ["Frame", row => anchor({ view: "frames", at: row.at }, row.number ?? "show")],
		], answer.findings, { key: row => `${row.rule} ${row.number} ${row.at}`, empty: note("No finding.", "Nothing looks wrong.") }),
		answer.off?.length ? hint(`Off: ${answer.off.join(", ")}.`) : null,
		answer.rules?.length ? hint(`Rules that found something: ${answer.rules.map(one => `${one.rule} ${one.found}${one.omitted ? ` (${one.omitted} not listed)` : ""}`).join(", ")}.`) : null,
	],
};

const entryBadge = entry => badge(sentence(entry.event ?? entry.kind), ["finding", "dropped", "fault"].includes(entry.kind) ? "warn" : "plain");

const logFilter = route => ({ vehicle: route.vehicle, kind: route.kind || LOG_KINDS, search: route.search });

const log = {
	title: "Log",
	streams: route => (route.before ? [] : ["entries"]), streamParameters: logFilter,
	load: loads("entries", route => ({ source: route.source, ...logFilter(route), to: route.at, before: route.before, limit: 100 })),
	draw: (data, { route, isVirtual }) => [
		h("div.filters", filterField("kind", route, "Kind", LOG_KINDS.split(",")), searchField("search", route, "Search", "an id, a reason")),
		table("Log", [
			["Time", row => moment(row, isVirtual)], ["Kind", entryBadge], ["What happened=", row => row.text ?? sentence(row.event ?? row.kind)],
			["Peer", row => row.peer ?? row.client], ["Session#", "session"], ["Code", row => [row.codeName, row.reason].filter(Boolean).join(": ") || row.code],
		], data.entries.entries, { key: "entry", empty: without(data.entries, "Nothing that matches is kept.", anchor({ search: null, kind: null, before: null }, "Show everything")) }),
		pages(data.entries, route, data.skipped),
	],
};

export const storyViews = { sides, requests, receipts, findings, log };

