// Speaking for a vehicle: stops, drives, answers, settings.

import { tripChoices } from "./card.js";
import { element, html, hint } from "./dom.js";
import { mapOf, routeData } from "./guidance.js";
import { get, now, post } from "./net.js";
import { anchor, badge, buttons, facts, field, note, ofVehicle, panel, select, table } from "./parts.js";
import { coordinate, counted, estimatesText, sentence, waypointName } from "./words.js";

/** @param {(Partial<Answer.ExplainedName>)[]} list */
const named = list => (list ?? []).map(one => [one.name, one.text ?? sentence(one.name)]);

/** What was done and chosen last, for one vehicle. */
let last = /** @type {any} */ ({});

async function act(context, body) {
	const last = lastOf(context.route);
	try {
		const answer = await post("/api/act", { vehicle: context.route.vehicle, ...body });
		Object.assign(last, { text: `${sentence(body.action)}: sent as ${answer.id}`, isBad: false });
	} catch (error) {
		Object.assign(last, { text: `${sentence(body.action)} was refused: ${error.message}`, isBad: true });
	}
	context.reload();
}

/** @param {Route} route */
function lastOf({ source, vehicle }) {
	const of = `${source} ${vehicle}`;
	if (last.of !== of) last = { of, text: "", isBad: false, place: null };
	return last;
}

const buttonsOf =
	context =>
	(text, body, kind = "") =>
		html(`button${kind}`, { onclick: () => act(context, typeof body === "function" ? body() : body) }, text);
const asks = (title, ...children) => html("section.panel.asks", html("h2", title), children);

/** "47.1, 9.5" as a place; null if it is none. */
function parsePlace(text) {
	const parts = text
		.trim()
		.split(/[\s,;]+/)
		.map(Number);
	return parts.length === 2 && parts.every(Number.isFinite) && Math.abs(parts[0]) <= 90 && Math.abs(parts[1]) <= 180
		? parts
		: null;
}

/** @typedef {Pick<Answers, "actions" | "vehicle" | "profiles"> & { route?: import("./guidance.js").Lines }} Data */

/** @param {Context} context @param {Data} data */
function placeForm(context, data) {
	const segments = data.vehicle?.published?.segments ?? [];
	return html(
		"form.panel",
		{
			id: "place-form",
			onsubmit: event => {
				event.preventDefault();
				const { place, name, segment } = event.target.elements,
					center = parsePlace(place.value),
					action = event.submitter?.value ?? "waypoint";
				if (!center) {
					Object.assign(lastOf(context.route), {
						text: "Place: must be a latitude and a longitude in degrees, for example 47.1, 9.5",
						isBad: true,
					});
					place.focus();
					return context.redraw();
				}
				return act(context, {
					action,
					[action]: { center, nameVariants: name.value.trim() ? [name.value.trim()] : undefined },
					segment: (action === "waypoint" && segment.value) || undefined,
				});
			},
		},
		html("h2", "Ask for a stop or a drive"),
		field(
			"Place: latitude, longitude",
			html("input", {
				keep: 1,
				name: "place",
				required: true,
				placeholder: "47.1, 9.5",
				value: coordinate(lastOf(context.route).place),
				autocomplete: "off",
			}),
			"or click on the map; by keyboard: Enter",
		),
		field("Name", html("input", { keep: 1, name: "name", maxlength: 128, autocomplete: "off" })),
		field(
			"In the segment",
			select(
				"segment",
				[
					["", "where the client likes"],
					...segments.map(one => [
						one.id,
						`${one.id}: to ${waypointName(one.destination) || "the next stop"}`,
					]),
				],
				"",
				{ keep: 1, key: segments.map(one => one.id).join() },
			),
		),
		buttons(
			html("button.primary", { value: "waypoint" }, "Ask for a stop here"),
			html("button", { value: "destination" }, "Ask for a drive there"),
		),
	);
}

/** @param {number} deadline @param {Context} context */
const secondsTo = (deadline, { source }) => deadline - (now() - Date.parse(source.begin)) / 1000;

/** @param {{ deadline: number }} one @param {Context} context */
const leftText = (one, context) =>
	one.deadline == null ? "" : ` ${Math.ceil(secondsTo(one.deadline, context))} s left.`;

/** @param {{ deadline: number }} one @param {Context} context */
const isOpen = (one, context) => one && !(secondsTo(one.deadline, context) <= 0);

/** @param {Context} context @param {Answer.Prompt} prompt */
function promptPanel(context, button, prompt) {
	if (!isOpen(prompt, context))
		return panel("Prompt", note("No question is open.", "The gateway asks after a client has offered estimates."));
	return asks(
		`Add the stop ${waypointName(prompt.waypoint)}?`,
		html("p", `${estimatesText(prompt.travelEstimates)} with it.${leftText(prompt, context)}`),
		buttons(
			button("Accept", { action: "answerPrompt", requestID: prompt.requestID, accepted: true }, ".primary"),
			button("Decline", { action: "answerPrompt", requestID: prompt.requestID, accepted: false }),
		),
	);
}

/** The trips that the client offers before guidance; null without any. @param {Data} data */
function previewPanel(button, data) {
	const trips = data.vehicle?.published?.previews ?? [];
	if (!trips.length) return null;
	return asks(
		`Choose a route: ${counted(trips.length, "trip")}`,
		tripChoices(trips, (trip, choice) => {
			const of = { tripID: trip.id, routeChoice: choice?.id ?? 0 };
			return buttons(
				button("Select", { action: "selectPreview", ...of }, ".small"),
				button("Start", { action: "startTrip", ...of }, ".small"),
			);
		}),
	);
}

/** @param {Context} context @param {Answer.OfferedShare} share */
function sharePanel(context, button, share) {
	if (!isOpen(share, context)) return panel("Shared destination", note("No destination waits for an answer."));
	const outcome = select(
		"outcome",
		named(context.names.outcomes).filter(one => one[0] !== "accepted"),
		"declinedByUser",
		{ id: "share-outcome", keep: 1 },
	);
	return asks(
		`Destination: ${waypointName(share.destination)}`,
		hint(
			share.destination?.addressVariants?.[0] ?? coordinate(share.destination?.center),
			leftText(share, context),
		),
		buttons(
			button("Accept", { action: "answerShare", shareID: share.shareID, accepted: true }, ".primary"),
			field("Outcome", outcome),
			button("Decline with this outcome", () => ({
				action: "answerShare",
				shareID: share.shareID,
				outcome: element("share-outcome").value,
			})),
		),
	);
}

/** @param {Context} context @param {Data} data */
function controlPanels(context, button, data) {
	const names = context.names,
		alert = data.vehicle?.published?.alert;
	const choice = (action, key, label, options) =>
		field(
			label,
			select(key, [["", "as it is"], ...options], "", {
				keep: 1,
				onchange: event => event.target.value && act(context, { action, [key]: event.target.value }),
			}),
		);
	return [
		panel(
			"Guidance",
			buttons(
				button("Allow guidance", { action: "allow" }),
				button("Cancel: the user stopped", { action: "cancel", reason: "userStopped" }, ".danger"),
				button(
					"Cancel: own navigation started",
					{ action: "cancel", reason: "ownNavigationStarted" },
					".danger",
				),
			),
			choice("routeSource", "routeSource", "Route source", named(names.routeSources)),
			buttons(
				button("Ask for the destination", () => {
					const shown = data.vehicle?.published;
					return shown?.trip
						? { action: "wantDestination" }
						: { action: "wantDestination", trip: shown?.previews?.[0]?.id ?? "" };
				}),
			),
		),
		panel(
			"Display",
			buttons(
				button("Zoom in", { action: "zoom", zoomDirection: "in" }),
				button("Zoom out", { action: "zoom", zoomDirection: "out" }),
			),
			choice("settings", "contentStyle", "Appearance", ["light", "dark"]),
			choice("settings", "compass", "Compass", named(names.clusterSettings)),
			choice("settings", "speedLimit", "Speed limit", named(names.clusterSettings)),
			buttons(
				button("Ready to show", { action: "settings", ready: true }),
				button("Not ready", { action: "settings", ready: false }),
			),
		),
		alert &&
			asks(
				`Alert: ${alert.titleVariants?.[0] ?? alert.id}`,
				buttons(
					button("Dismiss", { action: "alert", alertID: alert.id, response: "dismiss" }),
					(alert.actions ?? []).map(one =>
						button(one.titleVariants?.[0] ?? `action ${one.id}`, {
							action: "alert",
							alertID: alert.id,
							actionID: one.id,
						}),
					),
				),
			),
	];
}

/** What Connect sends. @param {Answer.Profiles} known */
function connection({ profiles }) {
	const chosen = profiles.find(one => one.name === element("connect-as").value);
	return chosen ? { action: "connect", profileName: chosen.name, profile: chosen.profile } : { action: "connect" };
}

/**
 * The panel of the inspector as a display: what it holds and received.
 * @param {Answer.OwnEndpoint} endpoint
 */
function displayPanel({ configuration, held, received }) {
	const count = (list, noun) => `${list?.length ?? 0} ${noun}`,
		next = held?.maneuvers?.find(one => one.id === held.upcomingManeuvers?.[0]);
	return panel(
		`Connected as ${configuration}`,
		held
			? facts([
					["Phase", held.phase && sentence(held.phase)],
					["Next", next?.instructionVariants?.[0] ?? (next && sentence(next.type))],
					["Road", held.currentRoadName?.[0]],
					[
						"It holds",
						[
							count(held.maneuvers, "maneuvers"),
							count(held.laneGuidances, "lane guidances"),
							count(held.segments, "segments"),
						].join(", "),
					],
				])
			: note("What it holds is hidden, since it has places."),
		table(
			"What it received",
			[
				{ name: "Message", cell: "message" },
				{ name: "At", kind: "number", cell: "at", show: at => `${at.toFixed(1)} s` },
			],
			[...(received ?? [])].reverse(),
			{ empty: note("Nothing yet.") },
		),
	);
}

/** @type {View<Data>} */
export const actions = {
	title: "Actions",
	ticks: true,
	streams: route => [`vehicle:${route.vehicle}`, `actions:${route.vehicle}`],
	load: async (route, signal, old) => {
		const [done, vehicle, profiles] = await Promise.all([
			get("actions", { id: route.vehicle }, signal),
			get("vehicle", ofVehicle(route), signal),
			old?.profiles ?? get("profiles", {}, signal),
		]);
		const data = { actions: done, vehicle, profiles, route: old?.route };
		await actions.after(data, route, signal);
		return data;
	},
	after: async (data, route, signal) => {
		data.route = await routeData({ ...route, endpoint: undefined }, data.vehicle.routeKey, data.route, signal);
	},
	draw: (data, context) => {
		const button = buttonsOf(context),
			last = lastOf(context.route),
			{ actions: state } = data,
			isOff = !state.enabled || !context.isLive;
		const reason = !context.isLive ? "this is a past moment" : state.reason;
		// Another vehicle has other fields: what the reader filled in is kept.
		const fields = (...children) =>
			html("fieldset.actions", { disabled: isOff, label: "Actions", key: last.of }, children);
		const pick = at => {
			last.place = at;
			element("place-form").elements.place.value = at.join(", ");
			context.redraw();
		};
		return [
			isOff &&
				note(
					`Actions are off: ${reason ?? "the gateway does not let the inspector speak"}.`,
					context.isLive
						? "Start the inspector with waymark inspect --act, as a user that may be this vehicle."
						: anchor({ at: null }, "Go to now"),
				),
			html(`p${last.isBad ? ".problem" : ""}`, { role: "status", id: "act-status" }, last.text),
			html(
				"div.halves",
				mapOf(data, context, "published", !isOff && pick, last.place),
				fields(placeForm(context, data)),
			),
			fields(
				html(
					"div.grid",
					previewPanel(button, data),
					promptPanel(context, button, state.prompt),
					sharePanel(context, button, state.share),
					...controlPanels(context, button, data),
					panel(
						"The inspector's endpoint",
						facts([
							["Name", state.endpoint.endpoint],
							["State", [state.endpoint.state, state.endpoint.reason && `: ${state.endpoint.reason}`]],
						]),
						hint(
							"It connects at the first action. ",
							"To hear prompts and shared destinations, connect it before.",
						),
						field(
							"Connect as",
							select(
								"configuration",
								[
									["", "an endpoint that only speaks"],
									...data.profiles.profiles.map(one => [one.name, `a display: ${one.name}`]),
								],
								"",
								{ id: "connect-as", keep: 1 },
							),
						),
						buttons(
							button("Connect", () => connection(data.profiles)),
							button("Disconnect", { action: "disconnect" }),
						),
					),
				),
			),
			state.endpoint.configuration && displayPanel(state.endpoint),
			table(
				"What was done",
				[
					{ name: "Action", cell: row => [row.id, " ", sentence(row.action)] },
					{ name: "What", kind: "wide", cell: row => [row.text, row.explanation && hint(row.explanation)] },
					{
						name: "State",
						cell: row =>
							row.state === "underWay"
								? badge("under way", "warn")
								: badge(
										sentence(row.outcome ?? row.state),
										["accepted", "sent"].includes(row.outcome) ? "good" : "bad",
									),
					},
					{ name: "At", kind: "number", cell: "at", show: at => `${at.toFixed(1)} s` },
					{
						name: "Request",
						cell: row =>
							row.requestID
								? [
										anchor({ view: "requests" }, row.requestID),
										" ",
										row.state === "underWay" &&
											!isOff &&
											button(
												"Withdraw",
												{ action: "withdraw", requestID: row.requestID },
												".small",
											),
									]
								: "—",
					},
				],
				state.done,
				{ key: "id", empty: note("Nothing was done yet.") },
			),
		];
	},
};
