// Configurations of a cluster: the ones that ship, saved ones, and what each of them cuts.

import { cluster, SIZES } from "./card.js";
import { code, html, hint } from "./dom.js";
import { get, post } from "./net.js";
import { buttons, field, go, link, note, panel, place, reasonText, select, withEndpoint } from "./parts.js";
import { sentence } from "./words.js";

const SAVED = "waymark-configurations";

function saved() {
	try {
		return JSON.parse(localStorage.getItem(SAVED) ?? "{}");
	} catch {
		return {};
	}
}

/** `profile`: what it was before; the form does not have all of it. */
function profileOf(form, { readDelayMilliseconds }) {
	const limits = {},
		without = [];
	for (const input of form.elements) {
		if (input.type === "checkbox" && !input.checked) without.push(input.name);
		if (input.type === "number" && input.value > 0) limits[input.name] = Number(input.value);
	}
	const { distanceUnits, locale } = form.elements;
	return {
		readDelayMilliseconds,
		without: without.length ? without : undefined,
		limits: Object.keys(limits).length ? limits : undefined,
		distanceUnits: distanceUnits.value === "asPublished" ? undefined : distanceUnits.value,
		locale: locale.value || undefined,
	};
}

/** @param {any} profile @param {Answer.Profiles} known @param {() => void} redraw */
function editor(profile, known, redraw) {
	const store = (name, content) => localStorage.setItem(SAVED, JSON.stringify({ ...saved(), [name]: content }));
	const change = form =>
		go({ profile: JSON.stringify(profileOf(form, profile)), saved: form.elements.saveAs.value }, true);
	return html(
		"form.panel",
		{
			key: "editor",
			onchange: event => change(event.currentTarget),
			onsubmit: event => {
				event.preventDefault();
				const form = event.target,
					name = form.elements.saveAs.value.trim();
				if (name) store(name, profileOf(form, profile));
				change(form);
				redraw();
			},
		},
		html("h2", "Configuration"),
		html(
			"fieldset",
			html("legend", "Asks for"),
			known.features.map(name =>
				html(
					"label.check",
					html("input", { type: "checkbox", name, checked: !profile.without?.includes(name) }),
					` ${sentence(name)}`,
				),
			),
		),
		html(
			"fieldset",
			html("legend", "Limits (empty: none)"),
			Object.entries(known.limits).map(([name, limit]) =>
				field(
					sentence(name),
					html("input", { type: "number", name, min: 0, max: limit.max, value: profile.limits?.[name] }),
					limit.unit,
				),
			),
		),
		field("Distances", select("distanceUnits", known.distanceUnits, profile.distanceUnits ?? "asPublished")),
		field("Locale", html("input", { name: "locale", value: profile.locale, placeholder: "en-GB", maxlength: 35 })),
		field(
			"Save as",
			html("input", { name: "saveAs", maxlength: 40, autocomplete: "off", value: place.route.saved }),
			"kept in this browser",
		),
		buttons(
			html("button.primary", "Save"),
			saved()[place.route.saved] &&
				html(
					"button.danger",
					{
						onclick: () => {
							store(place.route.saved, undefined);
							go({ saved: null, profile: null });
						},
					},
					"Delete",
				),
			html(
				"a.button",
				{
					download: "profile.json",
					href: `data:application/json,${encodeURIComponent(JSON.stringify(profile, null, 2))}`,
				},
				"Download for waymark cluster --profile",
			),
		),
	);
}

/** @type {View<Pick<Answers, "profiles" | "vehicle">>} */
export const configuration = {
	title: "Cluster",
	follows: true,
	load: async (route, signal, old) => {
		const profiles = old?.profiles ?? (await get("profiles", {}, signal));
		const vehicle = route.profile
			? await post("/api/preview", {
					source: route.source,
					at: route.at == null ? undefined : Number(route.at),
					vehicle: route.vehicle,
					profile: JSON.parse(route.profile),
				})
			: await get("vehicle", withEndpoint(route), signal);
		return { profiles, vehicle };
	},
	draw: ({ profiles, vehicle }, { route, redraw }) => {
		const chip = (name, profile, title, saved = null) =>
			html(
				"a.chip",
				{
					href: link({ profile: profile && JSON.stringify(profile), saved }),
					title,
					current: (profile ? JSON.stringify(profile) : undefined) === route.profile,
				},
				name,
			);
		const toggle = (key, text) =>
			html(
				"button.chip",
				{ pressed: !!route[key], onclick: () => go({ [key]: route[key] ? null : 1 }, true) },
				text,
			);
		const holder = vehicle.heldBy?.endpoint;
		const own = vehicle.vehicle?.endpoints?.find(one => one.endpoint === holder);
		const { features, limits, distanceUnits, locale } = own ?? { features: profiles.features };
		const shown = route.profile
			? JSON.parse(route.profile)
			: { without: profiles.features.filter(one => !features.includes(one)), limits, distanceUnits, locale };
		const list = (vehicle.why ?? []).filter(one => one.side !== "published");
		return [
			html(
				"p",
				"Configuration: ",
				chip(`as ${holder === "preview" ? "the endpoint" : (holder ?? "published")} has it`, null, ""),
				" ",
				profiles.profiles.map(one => [chip(one.name, one.profile, one.profile.description), " "]),
				Object.entries(saved()).map(([name, profile]) => [
					chip(name, profile, "saved in this browser", name),
					" ",
				]),
			),
			html("p", toggle("area", "safe area"), " ", toggle("light", "light appearance")),
			html(
				"div.clusters",
				SIZES.map(size => cluster(vehicle, size, { isLight: !!route.light, showsArea: !!route.area })),
			),
			html(
				"div.halves",
				editor(shown, profiles, redraw),
				panel(
					"What this configuration cuts",
					list.length
						? html(
								"ul",
								list
									.slice(0, 60)
									.map(one =>
										html("li", { key: one.path }, code(one.path || "everything"), reasonText(one)),
									),
							)
						: note("Nothing is cut or withheld."),
				),
			),
			hint("A preview: nothing is sent to the vehicle."),
		];
	},
};
