// What several views are made of: tables, cells that say why they are empty, notes, badges.

import { h, show, soft } from "./dom.js";
import { get } from "./net.js";
import { clock, sentence } from "./words.js";

/** Where the page is: `route`, `go(changes, replaces)`, `link(changes)`; set by app.js. @type {any} */
export const place = {};

const REASONS = {
	withheld: "Withheld by the gateway", notPublished: "Not published", slots: "Out of the endpoint's slots", fitted: "Cut to a limit",
	conflated: "Skipped for a newer value", underWay: "Under way", hidden: "Hidden from this observer", noSession: "No session",
};

export const reasonName = why => REASONS[(why.reason)] ?? sentence(why.reason);

export function reasons(list, path, side) {
	return (list ?? []).filter(why => (!side || !why.side || why.side === side)
		&& (why.path === "" || why.path === path || path.startsWith(`${why.path}/`)));
}

export function reasonText(why) {
	const detail = [why.feature && `feature ${why.feature}`, why.code && sentence(why.code), why.limit && `limit ${why.limit} = ${why.value}`,
		why.count && `${why.count} skipped`, why.sequence && `number ${why.sequence}`].filter(Boolean);
	return h("div.reason", h("strong", reasonName(why)), detail.length ? soft(` · ${detail.join(" · ")}`) : null,
		h("p", why.text ?? ""), why.next && h("p.next", why.next),
		why.entry && h("p", anchor({ view: "frames", entry: why.entry }, "the frame that shows it")));
}

function whyBox() {
	const known = document.getElementById("why-box");
	if (known) return known;
	const box = h("div.why-box", { id: "why-box", popover: "auto", role: "dialog", label: "Why", tabindex: -1 });
	document.body.append(box);
	return box;
}

function openWhy(button, list) {
	const box = (whyBox());
	show(box, ...list.map(reasonText), h("button.small", { onclick: () => box.hidePopover() }, "Close"));
	box.showPopover();
	const { left, bottom } = button.getBoundingClientRect();
	const width = Math.min(360, innerWidth - 16);
	box.style.width = `${width}px`;
	box.style.left = `${Math.max(8, Math.min(left, innerWidth - width - 8))}px`;
	box.style.top = `${Math.max(8, Math.min(bottom + 4, innerHeight - box.offsetHeight - 8))}px`;
	box.addEventListener("toggle", event => event.newState === "closed" && button.focus(), { once: true });
	box.focus();
}

/** A button that says why, or nothing if there is no reason. `of`: what it is about. */
export const why = (list, of, text = "why?") => (list.length
	? h("button.why", { label: `${text === "why?" ? "Why" : text}: ${of}`, "aria-haspopup": "dialog",
		onclick: event => openWhy(event.currentTarget, list) }, text)
	: null);

export const isEmpty = value => value === undefined || value === null || value === "" || value === false || (Array.isArray(value) && !value.length);

export const explained = (value, list, of) => [isEmpty(value) ? h("span.none", "—") : value, why(list, of)];

/** A mark that the server or this page computed a value. */
export const derived = () => h("abbr.derived", { title: "derived: computed, not published" }, "*");

export const anchor = (changes, ...children) => h("a", { href: place.link(changes) }, children);

export const link = changes => place.link(changes);
export const go = (changes, replaces) => place.go(changes, replaces);

export const ofVehicle = route => ({ source: route.source, id: route.vehicle, at: route.at });

/** Loads one answer. */
export const loads = (name, parameters, as = name) => (route, signal) => get(name, (parameters ?? ofVehicle)(route), signal).then(answer => ({ [as]: answer }));

export const vehicleStream = route => [`vehicle:${route.vehicle}${route.endpoint ? `/${route.endpoint}` : ""}`];

export const withEndpoint = route => ({ ...ofVehicle(route), endpoint: route.endpoint });

export const badge = (text, kind = "plain") =>
	h(`span.badge.badge-${kind}`, { good: "✓ ", warn: "▲ ", bad: "✕ ", plain: "" }[kind] ?? "", text);

/** What a cell has: of a key, or of a function; undefined if that is empty. */
export function read(cell, row) {
	const value = typeof cell === "string" ? row[cell] : cell(row);
	return isEmpty(value) ? undefined : value;
}

/**
 * A table that scrolls in itself. A column is its name, its class ("number", "text", "wide"; with a star if its values are derived), and its cell: a key, or a function of the row.
 * @param {any} options `key`, `classes`, `empty` (shown without rows), `hideCaption`.
 */
export function table(caption, columns, rows, options = {}) {
	if (!rows.length) return options.empty ?? note("Nothing yet.");
	const spec = (tag, kind) => (kind.replace("*", "") ? `${tag}.${kind.replace("*", "")}` : tag);
	return h("div.scroll", { tabindex: 0, role: "region", label: caption, key: caption }, h("table",
		h(options.hideCaption ? "caption.hidden-text" : "caption", caption),
		h("thead", h("tr", columns.map(([name, kind]) => h(spec("th", kind), { scope: "col" }, name, kind.endsWith("*") && derived())))),
		h("tbody", rows.map((row, index) => h(spec("tr", options.classes?.(row) ?? ""), { key: options.key?.(row) ?? index },
			columns.map(([, kind, cell], position) => h(spec(position ? "td" : "th", kind), position ? {} : { scope: "row" }, read(cell, row) ?? "—")))))));
}

/** A sentence about why there is nothing, and what to do. */
export const note = (text, ...next) => h("div.note", h("p", text), next.length ? h("p.next", ...next) : null);

export const facts = pairs => h("dl.facts", pairs.map(([name, value]) =>
	h("div", { key: name }, h("dt", name), h("dd", isEmpty(value) ? "—" : value))));

/** A list of variants: one a line. `chosen`: the index of the one that is shown. */
export const variants = (variants, chosen) => (variants?.length
	? h("ul.variants", variants.map((text, index) => h(index === chosen ? "li.chosen" : "li", text,
		index === chosen && soft(" (the one that fits)")))) : null);

export const moment = (entry, isVirtual) => h("a.moment", { href: link({ at: entry.at }), title: "show this moment" },
	isVirtual || !entry.time ? `${Number(entry.at ?? 0).toFixed(3)} s` : clock(entry.time));

export const frameLink = (entry, text) => (entry ? anchor({ view: "frames", entry, node: null }, text) : text);

export const field = (label, control, hint) => h("label.field", h("span", label), control, hint && h("small", hint));

export function select(name, options, chosen, properties = {}) {
	const control = (h("select", { name, ...properties }, options.map(option => {
		const [value, text] = typeof option === "string" ? [option, sentence(option)] : option;
		return h("option", { value, selected: value === chosen }, text);
	})));
	if (chosen !== undefined) control.value = chosen;
	return control;
}
