// The maneuver card, and the preview of a cluster.

import { h, hint, s, soft } from "./dom.js";
import { glyph, lanes } from "./glyph.js";
import { badge, explained, reasons, why } from "./parts.js";
import { duration, estimatesText, maneuverName, minutes, sentence, shownDistance, typeName, waypointName } from "./words.js";

export const shownSide = data => (data.held ? "held" : "published");

const estimatesOf = (state, id) => state?.maneuverEstimates?.find(one => one.maneuver === id);

export function upcoming(state) {
	const known = new Map((state?.maneuvers ?? []).map(maneuver => [maneuver.id, maneuver]));
	return (state?.upcomingManeuvers ?? []).map(id => known.get(id) ?? { id, isMissing: true });
}

const currentLanes = state => state?.laneGuidances?.find(one => one.id === state.currentLaneGuidance);

const STEPS = ["continue", "initial", "prepare", "execute"];

const nearness = state => h("ol.nearness", { label: `Maneuver state: ${state}` }, STEPS.map(step =>
	h(`li${step === state ? ".now" : ""}`, step === state ? { "aria-current": "step" } : {}, step)));

function approach(meters) {
	const share = meters == null ? 0 : 1 - Math.min(meters, 1500) / 1500;
	return s("svg.approach", { viewBox: "0 0 100 4", preserveAspectRatio: "none", hide: true },
		s("rect.approach-rest", { width: 100, height: 4, rx: 2 }), s("rect.approach-done", { width: (share * 100).toFixed(1), height: 4, rx: 2 }));
}

function phaseText(state) {
	switch (state.phase) {
		case "paused": return `Paused: ${sentence(state.pauseReason)}${state.pauseDescription?.[0] ? `. ${state.pauseDescription[0]}` : ""}`;
		case "preview": return `${state.client} prepares a trip`;
		case "ended": return `Guidance ended: ${sentence(state.endReason)}`;
		default: return "No guidance";
	}
}

const alertBox = alert => h("div.alert", { role: "group", label: "Alert" }, h("strong", `▲ ${alert.titleVariants?.[0] ?? "Alert"}`),
	alert.subtitleVariants?.[0] && h("p", alert.subtitleVariants[0]),
	alert.actions?.length ? hint(alert.actions.map(action => `[${action.titleVariants?.[0] ?? action.id}] `)) : null);

function maneuverLines(data, state, next) {
	const side = shownSide(data);
	const estimates = estimatesOf(state, next.id) ?? next.initialTravelEstimates;
	const chosen = data.card?.chosenVariant ?? next.instructionVariants?.[0];
	const road = data.card?.road ?? next.roadFollowingManeuverVariants?.[0];
	const path = `maneuvers/${next.id}`;
	return [
		h("div.card-main",
			h("div.card-glyph", glyph(next)),
			h("div",
				h("p.card-distance", ...explained(shownDistance(estimates), reasons(data.why, "maneuverEstimates", side), "distance to the maneuver")),
				h("p.card-true", [estimates?.displayTenths != null && `true ${estimates.distanceMeters} m`, duration(estimates?.timeSeconds)].filter(Boolean).join(" · ")),
				h("p.card-instruction", chosen ?? sentence(typeName(next.type)), " ", why(reasons(data.why, `${path}/instructionVariants`, side), "instruction")),
				road && h("p.card-road", `→ ${road}`, " ", why(reasons(data.why, `${path}/roadFollowingManeuverVariants`, side), "road after the maneuver")),
				next.highwayExitLabel && h("p", h("span.exit-label", `Exit ${next.highwayExitLabel}`)))),
		approach(estimates?.distanceMeters), nearness(state.maneuverState ?? "continue"),
	];
}

function laneLine(data, state) {
	const guidance = currentLanes(state), side = shownSide(data);
	if (guidance) {
		return h("div.card-lanes", lanes(guidance), why(reasons(data.why, `laneGuidances/${guidance.id}`, side), "lanes"),
			guidance.instructionVariants?.[0] && h("p.card-true", guidance.instructionVariants[0]));
	}
	const list = [...reasons(data.why, "laneGuidances", side), ...reasons(data.why, "currentLaneGuidance", side), ...reasons(data.why, "currentLaneGuidance", "published")].filter(one => one.path);
	return h("p.card-lanes.card-true", list[0] ? `No lanes: ${list[0].text} ` : "No lanes are shown here. ",
		why(list.length ? list : [{ reason: "notPublished", text: "No lane guidance is current: the client shows lanes near maneuvers that have them." }], "no lanes"));
}

export function card(data) {
	const state = data[shownSide(data)];
	if (!state) {
		const list = reasons(data.why, "");
		return h("div.card", { role: "group", label: "Next maneuver" }, h("p.card-instruction", "No guidance"),
			h("p.card-true", list[0]?.text ?? "no session guides this vehicle"), list[0]?.next && h("p.card-true", list[0].next));
	}
	const list = upcoming(state), next = list[0];
	const isGuided = state.phase === "active" && next && !next.isMissing;
	return h("div.card", { role: "group", label: "Next maneuver" },
		state.alert && alertBox(state.alert),
		state.suspended && h("p.card-warning", "▲ The navigation client is away: guidance stands still."),
		...(isGuided ? maneuverLines(data, state, next)
			: [h("p.card-instruction", state.phase === "active" ? "Follow the road" : phaseText(state))]),
		isGuided && laneLine(data, state),
		isGuided && list.length > 1 && h("ol.then", { label: "Then" }, list.slice(1, 4).map(maneuver => h("li", { key: maneuver.id },
			h("span.then-glyph", glyph(maneuver)), h("span", maneuver.instructionVariants?.at(-1) ?? maneuverName(maneuver)),
			h("span.card-true", maneuver.initialTravelEstimates && `+${shownDistance(maneuver.initialTravelEstimates)}`)))),
		h("p.card-foot", h("span", "on ", h("strong", state.currentRoadName?.[0] ?? "an unnamed road")), " ",
			why(reasons(data.why, "currentRoadName", shownSide(data)), "current road")));
}

export function spoken(data) {
	const state = data[shownSide(data)];
	if (!state) return "No guidance";
	const next = upcoming(state)[0];
	if (state.phase !== "active" || !next || next.isMissing) return phaseText(state);
	return `${shownDistance(estimatesOf(state, next.id))}: ${data.card?.text ?? maneuverName(next)}`;
}

/** The sizes that CarPlay's guide recommends to test: name, width, height, and the safe area: left, top, width, height. */
export const SIZES = [
	["300 × 200 @3", 300, 200, 0, 0, 300, 200], ["640 × 480 @2", 640, 480, 0, 0, 640, 480],
	["1920 × 720 @3, safe 1080 × 720 at 420, 0", 1920, 720, 420, 0, 1080, 720], ["1920 × 720 @2, safe 640 × 480 at 640, 120", 1920, 720, 640, 120, 640, 480],
];

/** A cluster of one size. The units of what it shows are those of its safe area. */
export function cluster(data, /** @type {any} */ [name, width, height, left, top, safeWidth, safeHeight], { isLight = false, showsArea = false }) {
	const state = data[shownSide(data)], next = upcoming(state)[0], guidance = currentLanes(state);
	const line = (kind, text) => h(`p.cluster-${kind}`, text);
	const safe = h(`div.safe${showsArea ? ".cluster-area" : ""}`, state?.phase === "active" && next?.type ? [
		h("div.cluster-main", h("div", glyph(next)), h("div", line("big", shownDistance(estimatesOf(state, next.id))),
			line("text", data.card?.chosenVariant ?? next.instructionVariants?.at(-1) ?? typeName(next.type)), line("soft", next.roadFollowingManeuverVariants?.at(-1)))),
		guidance && lanes(guidance), line("soft", state.currentRoadName?.at(-1)),
		line("text", [estimatesText(state.tripEstimates), data.arrival && minutes(data.arrival.time)].filter(Boolean).join(" · ")),
	] : line("big", state ? phaseText(state) : "No guidance"));
	const screen = h("div.screen", { role: "img", label: `Cluster of ${name}: ${spoken(data)}` }, safe);
	const percent = (part, whole) => `${part / whole * 100}%`;
	Object.assign(screen.style, { aspectRatio: `${width}/${height}` });
	Object.assign(safe.style, { left: percent(left, width), top: percent(top, height), width: percent(safeWidth, width), height: percent(safeHeight, height) });
	return h(`figure.cluster${isLight ? ".cluster-light" : ""}`, { key: name }, screen, h("figcaption", name, showsArea && " · dashed: safe area"));
}

export function tripFacts(data) {
	const side = shownSide(data), state = data[side] ?? {};
	const battery = data.batteries?.arrivalPerMille;
	const estimates = state.tripEstimates;
	return [
		["Destination", explained(state.trip ? waypointName(state.trip.destination) : "", reasons(data.why, "trip/destination", side), "destination")],
		["Arrival *", data.arrival ? h("span", { title: `derived: ${data.arrival.basis ?? ""}` }, minutes(data.arrival.time)) : ""],
		["Time left", explained(duration(estimates?.timeSeconds), reasons(data.why, "tripEstimates", side), "time left")],
		["Distance left", estimates ? [shownDistance(estimates), estimates.displayTenths != null && soft(` (true ${estimates.distanceMeters} m)`)] : ""],
		["Phase", [badge(state.phase ?? "idle", state.phase === "active" ? "good" : state.phase === "paused" ? "warn" : "plain"), state.generation ? ` route ${state.generation}` : ""]],
		["Battery on arrival", battery == null ? "" : `${battery / 10} %`],
	];
}
