// The maneuver card, and the preview of a cluster.

import { html, hint, soft } from "./dom.js";
import { glyph, lanes } from "./glyph.js";
import { badge, byRank, explained, isEmpty, reasons, why } from "./parts.js";
import { aheadWords, limitWords, speedSign } from "./sign.js";
import {
	duration,
	estimatesText,
	maneuverName,
	minutes,
	sentence,
	shownDistance,
	typeName,
	waypointName,
} from "./words.js";

/** @typedef {Partial<Answer.Vehicle>} Shown */

/** @param {Shown} data @returns {"held" | "published"} */
export const shownSide = data => (data.held ? "held" : "published");

const estimatesOf = (state, id) => state?.maneuverEstimates?.find(one => one.maneuver === id);

export function upcoming(state) {
	const known = new Map((state?.maneuvers ?? []).map(maneuver => [maneuver.id, maneuver]));
	return (state?.upcomingManeuvers ?? []).map(id => known.get(id) ?? { id, isMissing: true });
}

/** @type {Answer.Reason[]} */
const NOT_PUBLISHED = [
	{ side: "published", path: "", reason: "notPublished", text: "The client has not published it." },
];

/** Where each published maneuver is, by its id. The client names only the next ones as upcoming. */
export function standings(state) {
	const ids = (state?.maneuvers ?? []).map(one => one.id),
		next = ids.indexOf(state?.upcomingManeuvers?.[0]);
	return new Map(ids.map((id, index) => [id, index < next ? "past" : index === next ? "current" : "upcoming"]));
}

export const currentLanes = state => state?.laneGuidances?.find(one => one.id === state.currentLaneGuidance);

const STEPS = ["continue", "initial", "prepare", "execute"];

const nearness = state =>
	html(
		"ol.nearness",
		{ label: `Maneuver state: ${state}` },
		STEPS.map(step =>
			html(`li${step === state ? ".now" : ""}`, step === state ? { "aria-current": "step" } : {}, step),
		),
	);

function phaseText(state) {
	switch (state.phase) {
		case "paused":
			return [`Paused: ${sentence(state.pauseReason)}`, ...(state.pauseDescription ?? []).slice(0, 1)].join(". ");
		case "preview":
			return `${state.client} prepares a trip`;
		case "ended":
			return `Guidance ended: ${sentence(state.endReason)}`;
		default:
			return "No guidance";
	}
}

/** What an alert says of its importance, and whether it may interrupt the display. */
const interruption = alert =>
	[
		alert.priority && `priority: ${sentence(alert.priority)}`,
		alert.notification && `interrupts the display: ${sentence(alert.notification)}`,
	]
		.filter(Boolean)
		.join(", ");

const alertBox = alert =>
	html(
		"div.alert",
		{ role: "group", label: "Alert" },
		html("strong", `▲ ${alert.titleVariants?.[0] ?? "Alert"}`),
		alert.subtitleVariants?.[0] && html("p", alert.subtitleVariants[0]),
		(alert.priority || alert.notification) && hint(interruption(alert)),
		alert.actions?.length
			? hint(alert.actions.map(action => `[${action.titleVariants?.[0] ?? action.id}] `))
			: null,
	);

/** A route choice with what it takes. */
const routeText = choice =>
	[choice.summaryVariants?.[0] ?? `route ${choice.id}`, estimatesText(choice.travelEstimates)]
		.filter(Boolean)
		.join(": ");

/**
 * Trips to choose from before guidance, each with its routes. `more`: what stands behind a route, for example
 * buttons; the route is null for a trip without choices.
 * @param {any[]} trips
 */
export const tripChoices = (trips, more = (trip, choice) => null) =>
	trips.map(trip => [
		html(
			"div.card-road",
			`to ${waypointName(trip.destination)} `,
			trip.routeChoices?.length ? null : [estimatesText(trip.travelEstimates), more(trip, null)],
		),
		html(
			"ul.then",
			{ label: `Routes to ${waypointName(trip.destination)}` },
			(trip.routeChoices ?? []).map(choice =>
				html(
					"li",
					{ key: `${trip.id} ${choice.id}` },
					html("span", routeText(choice), " "),
					choice.id === trip.selectedRouteChoice ? badge("selected", "good") : null,
					more(trip, choice),
				),
			),
		),
	]);

/** @param {Shown} data @param {any} state @param {any} next */
function maneuverLines(data, state, next) {
	const side = shownSide(data);
	const estimates = estimatesOf(state, next.id) ?? next.initialTravelEstimates;
	const chosen = data.card?.chosenVariant ?? next.instructionVariants?.[0];
	const road = data.card?.road ?? next.roadFollowingManeuverVariants?.[0];
	const because = path => reasons(data.why, path.replace("maneuver/", `maneuvers/${next.id}/`), side);
	return [
		html(
			"div.card-main",
			html("div.card-glyph", glyph(next)),
			html(
				"div",
				html(
					"p.card-distance",
					explained(shownDistance(estimates), because("maneuverEstimates"), "distance to the maneuver"),
				),
				html(
					"p.card-true",
					[
						estimates?.displayTenths != null && `true ${estimates.distanceMeters} m`,
						duration(estimates?.timeSeconds),
					]
						.filter(Boolean)
						.join(" · "),
				),
				html(
					"p.card-instruction",
					explained(
						`${chosen ?? sentence(typeName(next.type))} `,
						because("maneuver/instructionVariants"),
						"instruction",
					),
				),
				road &&
					html(
						"p.card-road",
						explained(
							`→ ${road} `,
							because("maneuver/roadFollowingManeuverVariants"),
							"road after the maneuver",
						),
					),
				next.highwayExitLabel && html("p", html("span.exit-label", `Exit ${next.highwayExitLabel}`)),
			),
		),
		nearness(state.maneuverState ?? "continue"),
	];
}

/** @param {Shown} data @param {any} state */
function laneLine(data, state) {
	const guidance = currentLanes(state),
		side = shownSide(data);
	if (guidance) {
		return html(
			"div.card-lanes",
			explained(
				lanes(guidance),
				reasons(data.why, `laneGuidances/${guidance.id}/instructionVariants`, side),
				"lanes",
			),
			guidance.instructionVariants?.[0] && html("p.card-true", guidance.instructionVariants[0]),
		);
	}
	const list = byRank(
		[...reasons(data.why, "laneGuidances", side), ...reasons(data.why, "currentLaneGuidance", side)].filter(
			one => one.path,
		),
	);
	return html(
		"p.card-lanes.card-true",
		list[0] ? `No lanes: ${list[0].text} ` : "No lanes are shown here. ",
		why(list.length ? list : NOT_PUBLISHED, "no lanes"),
	);
}

/** The sign of the limit here and the next one in words; nothing if the client tells no limits. @param {any} state */
function limitLine(state) {
	const sign = speedSign(state.speedLimit),
		next = aheadWords(state.nextSpeedLimit);
	if (!sign && !next) return null;
	return html("p.card-limit", sign, next && html("span.card-true", `${sign ? "then " : "limit "}${next}`));
}

/**
 * `isHidden`: texts are hidden from this page, so that a name that is missing may have been published.
 * @param {Shown} data
 */
export function card(data, isHidden = false) {
	const state = data[shownSide(data)];
	if (!state) {
		const list = reasons(data.why, "");
		return html(
			"div.card",
			{ role: "group", label: "Next maneuver" },
			html("p.card-instruction", "No guidance"),
			html("p.card-true", list[0]?.text ?? "no session guides this vehicle"),
			list[0]?.next && html("p.card-true", list[0].next),
		);
	}
	const list = upcoming(state),
		next = list[0];
	const isGuided = state.phase === "active" && next && !next.isMissing;
	return html(
		"div.card",
		{ role: "group", label: "Next maneuver" },
		state.alert && alertBox(state.alert),
		state.suspended && html("p.card-warning", "▲ The navigation client is away: guidance stands still."),
		...(isGuided
			? maneuverLines(data, state, next)
			: [html("p.card-instruction", state.phase === "active" ? "Follow the road" : phaseText(state))]),
		state.phase === "preview" && tripChoices(state.previews ?? []),
		isGuided && laneLine(data, state),
		isGuided &&
			list.length > 1 &&
			html(
				"ol.then",
				{ label: "Then" },
				list
					.slice(1, 4)
					.map(maneuver =>
						html(
							"li",
							{ key: maneuver.id },
							html("span.then-glyph", glyph(maneuver)),
							html("span", maneuver.instructionVariants?.at(-1) ?? maneuverName(maneuver)),
							html(
								"span.card-true",
								maneuver.initialTravelEstimates && `+${shownDistance(maneuver.initialTravelEstimates)}`,
							),
						),
					),
			),
		isGuided && limitLine(state),
		html(
			"p.card-foot",
			"on ",
			explained(
				html("strong", `${state.currentRoadName?.[0] ?? (isHidden ? "road name hidden" : "an unnamed road")} `),
				reasons(data.why, "currentRoadName", shownSide(data)),
				"current road",
			),
		),
	);
}

/** @param {Answer.Vehicle} data */
export function spoken(data) {
	const state = data[shownSide(data)];
	if (!state) return "No guidance";
	const next = upcoming(state)[0];
	if (state.phase !== "active" || !next || next.isMissing) return phaseText(state);
	const limit = limitWords(state.speedLimit);
	const text = `${shownDistance(estimatesOf(state, next.id))}: ${data.card?.text ?? maneuverName(next)}`;
	return limit ? `${text}. Speed limit ${limit}` : text;
}

/** The sizes that CarPlay's guide recommends to test. The safe area is where the cluster has nothing of its own. */
export const SIZES = [
	{ name: "300 × 200 @3", width: 300, height: 200, safe: { left: 0, top: 0, width: 300, height: 200 } },
	{ name: "640 × 480 @2", width: 640, height: 480, safe: { left: 0, top: 0, width: 640, height: 480 } },
	{
		name: "1920 × 720 @3, safe 1080 × 720 at 420, 0",
		width: 1920,
		height: 720,
		safe: { left: 420, top: 0, width: 1080, height: 720 },
	},
	{
		name: "1920 × 720 @2, safe 640 × 480 at 640, 120",
		width: 1920,
		height: 720,
		safe: { left: 640, top: 120, width: 640, height: 480 },
	},
];

/**
 * A cluster of one size. The units of what it shows are those of its safe area.
 * @param {Answer.Vehicle} data
 */
export function cluster(data, size, { isLight = false, showsArea = false }) {
	const { name, width, height } = size;
	const state = data[shownSide(data)],
		next = upcoming(state)[0],
		guidance = currentLanes(state);
	const line = (kind, text) => html(`p.cluster-${kind}`, text);
	const safe = html(
		`div.safe${showsArea ? ".cluster-area" : ""}`,
		state?.phase === "active" && next?.type
			? [
					html(
						"div.cluster-main",
						html("div", glyph(next)),
						html(
							"div",
							line("big", shownDistance(estimatesOf(state, next.id))),
							line(
								"text",
								data.card?.chosenVariant ?? next.instructionVariants?.at(-1) ?? typeName(next.type),
							),
							line("soft", next.roadFollowingManeuverVariants?.at(-1)),
						),
					),
					guidance && lanes(guidance),
					html("div.cluster-limit", speedSign(state.speedLimit)),
					line("soft", state.currentRoadName?.at(-1)),
					line(
						"text",
						[estimatesText(state.tripEstimates), data.arrival && minutes(data.arrival.time)]
							.filter(Boolean)
							.join(" · "),
					),
				]
			: line("big", state ? phaseText(state) : "No guidance"),
	);
	const screen = html("div.screen", { role: "img", label: `Cluster of ${name}: ${spoken(data)}` }, safe);
	const percent = (part, whole) => `${(part / whole) * 100}%`;
	screen.style.aspectRatio = `${width}/${height}`;
	Object.assign(safe.style, {
		left: percent(size.safe.left, width),
		top: percent(size.safe.top, height),
		width: percent(size.safe.width, width),
		height: percent(size.safe.height, height),
	});
	return html(
		`figure.cluster${isLight ? ".cluster-light" : ""}`,
		{ key: name },
		screen,
		html("figcaption", name, showsArea && " · dashed: safe area"),
	);
}

/** @param {Answer.Vehicle} data */
export function tripFacts(data) {
	const side = shownSide(data),
		state = data[side] ?? {};
	const battery = data.batteries?.arrivalPerMille,
		estimates = state.tripEstimates;
	const fact = (name, value, path) => {
		const list = reasons(data.why, path, side);
		return [
			name,
			explained(
				value,
				list.length || !isEmpty(value) ? list : NOT_PUBLISHED,
				name.toLowerCase().replace(" *", ""),
			),
		];
	};
	return [
		fact("Destination", waypointName(state.trip?.destination), "trip/destination/nameVariants"),
		fact(
			"Arrival *",
			data.arrival && html("span", { title: `derived: ${data.arrival.basis}` }, minutes(data.arrival.time)),
			"tripEstimates",
		),
		fact("Time left", duration(estimates?.timeSeconds), "tripEstimates"),
		fact(
			"Distance left",
			estimates && [
				shownDistance(estimates),
				estimates.displayTenths != null && soft(` (true ${estimates.distanceMeters} m)`),
			],
			"tripEstimates",
		),
		[
			"Phase",
			[
				badge(
					state.phase ?? "idle",
					state.phase === "active" ? "good" : state.phase === "paused" ? "warn" : "plain",
				),
				state.generation ? ` route ${state.generation}` : "",
			],
		],
		fact("Battery on arrival", battery != null && `${battery / 10} %`, "trip/destination/charge"),
	];
}
