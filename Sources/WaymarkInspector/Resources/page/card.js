// The maneuver card, and the preview of a cluster.

import { apply, h, hint, s, soft } from "./dom.js";
import { glyph, lanes } from "./glyph.js";
import { badge, explained, reasons, why } from "./parts.js";
import { duration, maneuverName, minutes, sentence, shownDistance, typeName, waypointName } from "./words.js";

/** What is shown: what the endpoint holds, otherwise what is published. */
export const shownSide = data => (data.held ? "held" : "published");

const estimatesOf = (state, id) => state?.maneuverEstimates?.find(one => one.maneuver === id);

export function upcoming(state) {
	const known = new Map((state?.maneuvers ?? []).map(maneuver => [maneuver.id, maneuver]));
	return (state?.upcomingManeuvers ?? []).map(id => known.get(id) ?? { id, isMissing: true });
}

export const currentLanes = state => state?.laneGuidances?.find(one => one.id === state.currentLaneGuidance);

const STEPS = ["continue", "initial", "prepare", "execute"];

const nearness = state => h("ol.nearness", { label: `Maneuver state: ${state}` }, STEPS.map(step =>
	h(`li${step === state ? ".now" : ""}`, step === state ? { "aria-current": "step" } : {}, step)));

/** A filling bar from 1500 m before the maneuver. */
function approach(meters) {
	const share = meters === undefined ? 0 : 1 - Math.min(meters, 1500) / 1500;
	return s("svg.approach", { viewBox: "0 0 100 4", preserveAspectRatio: "none", "aria-hidden": "true" },
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
			h("div.card-words",
				h("p.card-distance", ...explained(shownDistance(estimates), reasons(data.why, "maneuverEstimates", side), "distance to the maneuver"),
					estimates?.displayTenths !== undefined && h("span.card-true", `true ${estimates.distanceMeters} m`),
					estimates?.timeSeconds !== undefined && h("span.card-true", duration(estimates.timeSeconds))),
				h("p.card-instruction", chosen ?? sentence(typeName(next.type)), " ", why(reasons(data.why, `${path}/instructionVariants`, side), "instruction")),
				road && h("p.card-road", `→ ${road}`, " ", why(reasons(data.why, `${path}/roadFollowingManeuverVariants`, side), "road after the maneuver")),
				next.highwayExitLabel && h("p.card-exit", h("span.exit-label", `Exit ${next.highwayExitLabel}`)))),
		approach(estimates?.distanceMeters), nearness(state.maneuverState ?? "continue"),
	];
}

function laneLine(data, state) {
	const guidance = currentLanes(state), side = shownSide(data);
	if (guidance) {
		return h("div.card-lanes", lanes(guidance), why(reasons(data.why, `laneGuidances/${guidance.id}`, side), "lanes"),
			guidance.instructionVariants?.[0] && h("p.card-true", guidance.instructionVariants[0]));
	}
	const list = [...reasons(data.why, "laneGuidances", side), ...reasons(data.why, "currentLaneGuidance", side)];
	return h("p.card-lanes.card-true", list[0] ? `No lanes: ${list[0].text} ` : "No lanes are shown here. ",
		why(list.length ? list : [{ reason: "notPublished", text: "No lane guidance is current: the client shows lanes near maneuvers that have them." }], "no lanes"));
}

/** The card as a cluster would show it. `data`: the answer about a vehicle. */
export function card(data) {
	const state = data[shownSide(data)];
	if (!state) {
		const list = reasons(data.why, "");
		return h("section.card", { label: "Next maneuver" }, h("p.card-instruction", "No guidance"),
			h("p.card-true", list[0]?.text ?? "no session guides this vehicle"), list[0]?.next && h("p.card-true", list[0].next));
	}
	const list = upcoming(state), next = list[0];
	const isGuided = state.phase === "active" && next && !next.isMissing;
	return h("section.card", { label: "Next maneuver" },
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

/** The sizes of displays and their safe areas that CarPlay's guide recommends to test: width, height, scale, and the safe area. */
export const SIZES = [
	{ name: "300 × 200 @3", width: 300, height: 200, safe: [0, 0, 300, 200] },
	{ name: "640 × 480 @2", width: 640, height: 480, safe: [0, 0, 640, 480] },
	{ name: "1920 × 720 @3, safe 1080 × 720 at 420, 0", width: 1920, height: 720, safe: [420, 0, 1080, 720] },
	{ name: "1920 × 720 @2, safe 640 × 480 at 640, 120", width: 1920, height: 720, safe: [640, 120, 640, 480] },
];

function clipped(text, size, width) {
	const count = Math.max(4, Math.floor(width / (size * 0.55)));
	return text.length > count ? `${text.slice(0, count - 1)}…` : text;
}

/** A cluster of one size, as a picture. `data`: the answer about a vehicle. */
export function cluster(data, size, options = {}) {
	const state = data[shownSide(data)], [left, top, width, height] = size.safe;
	const next = upcoming(state)[0], unit = Math.min(width / 300, height / 200);
	const isGuided = state?.phase === "active" && next && !next.isMissing;
	const estimates = isGuided ? estimatesOf(state, next.id) : undefined;
	const place = (x, y) => ({ x: left + x * unit, y: top + y * unit });
	const text = (value, x, y, fontSize, kind = "") =>
		s(`text.cluster-text${kind}`, { ...place(x, y), "font-size": fontSize * unit }, clipped(value, fontSize, width / unit - x - 8));
	const parts = [];
	if (isGuided) {
		const arrow = glyph(next), guidance = currentLanes(state);
		apply(arrow, { ...place(10, 14), width: 74 * unit, height: 74 * unit });
		parts.push(arrow, text(shownDistance(estimates), 94, 44, 30, ".cluster-big"),
			text(data.card?.chosenVariant ?? next.instructionVariants?.at(-1) ?? typeName(next.type), 94, 66, 14),
			text(next.roadFollowingManeuverVariants?.at(-1) ?? "", 94, 84, 12, ".cluster-soft"));
		if (guidance?.lanes?.length) {
			const picture = lanes(guidance);
			apply(picture, { ...place(10, 96), width: Math.min(34 * guidance.lanes.length, 280) * unit, height: 56 * unit, preserveAspectRatio: "xMinYMid meet" });
			parts.push(picture);
		}
		parts.push(text(state.currentRoadName?.at(-1) ?? "", 10, 172, 12, ".cluster-soft"),
			text([shownDistance(state.tripEstimates), duration(state.tripEstimates?.timeSeconds), data.arrival ? minutes(Date.parse(data.arrival.time)) : ""].filter(Boolean).join(" · "), 10, 190, 13));
	} else {
		parts.push(text(state ? phaseText(state) : "No guidance", 12, 100, 16));
	}
	return h(`figure.cluster${options.isLight ? ".cluster-light" : ""}`, { key: size.name },
		s("svg", { viewBox: `0 0 ${size.width} ${size.height}`, role: "img", label: `Cluster of ${size.name}: ${spoken(data)}` },
			s("rect.cluster-ground", { width: size.width, height: size.height }), ...parts,
			options.showsArea && s("rect.cluster-area", { x: left + 1, y: top + 1, width: width - 2, height: height - 2, "stroke-width": Math.max(2, size.width / 400) })),
		h("figcaption", size.name, options.showsArea ? " · the dashed line is the safe area" : ""));
}

export function tripFacts(data) {
	const side = shownSide(data), state = data[side] ?? {};
	const battery = data.batteries?.arrivalPerMille;
	const estimates = state.tripEstimates;
	return [
		["Destination", explained(state.trip ? waypointName(state.trip.destination) : "", reasons(data.why, "trip/destination", side), "destination")],
		["Arrival *", data.arrival ? h("span", { title: `derived: ${data.arrival.basis ?? ""}` }, minutes(Date.parse(data.arrival.time))) : ""],
		["Time left", explained(duration(estimates?.timeSeconds), reasons(data.why, "tripEstimates", side), "time left")],
		["Distance left", estimates ? [shownDistance(estimates), estimates.displayTenths !== undefined && soft(` (true ${estimates.distanceMeters} m)`)] : ""],
		["Phase", [badge(state.phase ?? "idle", state.phase === "active" ? "good" : state.phase === "paused" ? "warn" : "plain"), state.generation ? ` route ${state.generation}` : ""]],
		["Battery on arrival", battery === undefined ? "" : `${battery / 10} %`],
	];
}
