// The maneuver card, and the preview of a cluster.

import { h, hint, soft } from "./dom.js";
import { glyph, lanes } from "./glyph.js";
import { badge, explained, isEmpty, reasons, why } from "./parts.js";
import { duration, estimatesText, maneuverName, minutes, sentence, shownDistance, typeName, waypointName } from "./words.js";

export const shownSide = data => (data.held ? "held" : "published");

const estimatesOf = (state, id) => state?.maneuverEstimates?.find(one => one.maneuver === id);

export function upcoming(state) {
	const known = new Map((state?.maneuvers ?? []).map(maneuver => [maneuver.id, maneuver]));
	return (state?.upcomingManeuvers ?? []).map(id => known.get(id) ?? { id, isMissing: true });
}

const NOT_PUBLISHED = [{ reason: "notPublished", text: "The client has not published it." }];

/** Where each published maneuver is, by its id. The client names only the next ones as upcoming. */
export function standings(state) {
	const ids = (state?.maneuvers ?? []).map(one => one.id), next = ids.indexOf(state?.upcomingManeuvers?.[0]);
	return new Map(ids.map((id, index) => [id, index < next ? "past" : index === next ? "current" : "upcoming"]));
}

export const currentLanes = state => state?.laneGuidances?.find(one => one.id === state.currentLaneGuidance);

const STEPS = ["continue", "initial", "prepare", "execute"];

const nearness = state => h("ol.nearness", { label: `Maneuver state: ${state}` }, STEPS.map(step =>
	h(`li${step === state ? ".now" : ""}`, step === state ? { "aria-current": "step" } : {}, step)));

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
	const because = path => reasons(data.why, path.replace("maneuver/", `maneuvers/${next.id}/`), side);
	return [
		h("div.card-main",
			h("div.card-glyph", glyph(next)),
			h("div",
				h("p.card-distance", explained(shownDistance(estimates), because("maneuverEstimates"), "distance to the maneuver")),
				h("p.card-true", [estimates?.displayTenths != null && `true ${estimates.distanceMeters} m`, duration(estimates?.timeSeconds)].filter(Boolean).join(" · ")),
				h("p.card-instruction", explained(`${chosen ?? sentence(typeName(next.type))} `, because("maneuver/instructionVariants"), "instruction")),
				road && h("p.card-road", explained(`→ ${road} `, because("maneuver/roadFollowingManeuverVariants"), "road after the maneuver")),
				next.highwayExitLabel && h("p", h("span.exit-label", `Exit ${next.highwayExitLabel}`)))),
		nearness(state.maneuverState ?? "continue"),
	];
}

function laneLine(data, state) {
	const guidance = currentLanes(state), side = shownSide(data);
	if (guidance) {
		return h("div.card-lanes", explained(lanes(guidance), reasons(data.why, `laneGuidances/${guidance.id}/instructionVariants`, side), "lanes"),
			guidance.instructionVariants?.[0] && h("p.card-true", guidance.instructionVariants[0]));
	}
	const list = [...reasons(data.why, "laneGuidances", side), ...reasons(data.why, "currentLaneGuidance", side)].filter(one => one.path);
	return h("p.card-lanes.card-true", list[0] ? `No lanes: ${list[0].text} ` : "No lanes are shown here. ",
		why(list.length ? list : NOT_PUBLISHED, "no lanes"));
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
		h("p.card-foot", "on ", explained(h("strong", `${state.currentRoadName?.[0] ?? "an unnamed road"} `), reasons(data.why, "currentRoadName", shownSide(data)), "current road")));
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
	screen.style.aspectRatio = `${width}/${height}`;
	Object.assign(safe.style, { left: percent(left, width), top: percent(top, height), width: percent(safeWidth, width), height: percent(safeHeight, height) });
	return h(`figure.cluster${isLight ? ".cluster-light" : ""}`, { key: name }, screen, h("figcaption", name, showsArea && " · dashed: safe area"));
}

export function tripFacts(data) {
	const side = shownSide(data), state = data[side] ?? {};
	const battery = data.batteries?.arrivalPerMille, estimates = state.tripEstimates;
	const fact = (name, value, path) => {
		const list = reasons(data.why, path, side);
		return [name, explained(value, list.length || !isEmpty(value) ? list : NOT_PUBLISHED, name.toLowerCase().replace(" *", ""))];
	};
	return [
		fact("Destination", waypointName(state.trip?.destination), "trip/destination/nameVariants"),
		fact("Arrival *", data.arrival && h("span", { title: `derived: ${data.arrival.basis}` }, minutes(data.arrival.time)), "tripEstimates"),
		fact("Time left", duration(estimates?.timeSeconds), "tripEstimates"),
		fact("Distance left", estimates && [shownDistance(estimates), estimates.displayTenths != null && soft(` (true ${estimates.distanceMeters} m)`)], "tripEstimates"),
		["Phase", [badge(state.phase ?? "idle", state.phase === "active" ? "good" : state.phase === "paused" ? "warn" : "plain"), state.generation ? ` route ${state.generation}` : ""]],
		fact("Battery on arrival", battery != null && `${battery / 10} %`, "trip/destination/charge"),
	];
}
