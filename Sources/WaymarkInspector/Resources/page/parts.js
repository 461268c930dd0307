// What several views are made of.

import { element, h, show, soft } from "./dom.js";
import { get } from "./net.js";
import { clock, sentence } from "./words.js";

/** Where the page is: `route`, `go(changes, replaces)`, `link(changes)`; set by app.js. @type {any} */
export const place = {};

export const LOG_KINDS = "event,connection,log,finding,dropped,synchronized,fault,mark,verdict";

const REASONS = {
	withheld: "withheld by the gateway", slots: "out of the endpoint's slots", fitted: "cut to a limit", conflated: "skipped for a newer value", hidden: "hidden from this observer",
};

/** What is not published is not held either. */
export function reasons(list, path, side) {
	return (list ?? []).filter(why => (side !== "published" || why.side !== "held")
		&& (!why.path || why.path === path || path.startsWith(`${why.path}/`))).sort((a, b) => Number(!a.path) - Number(!b.path));
}

export function reasonText(why) {
	const detail = [why.feature && `feature ${why.feature}`, why.code && sentence(why.code), why.limit && `limit ${why.limit} = ${why.value}`,
		why.count && `${why.count} skipped`, why.sequence && `number ${why.sequence}`].filter(Boolean);
	return h("div.reason", h("strong", REASONS[why.reason] ?? sentence(why.reason)), detail.length ? soft(` · ${detail.join(" · ")}`) : null,
		h("p", why.text ?? ""), why.next && h("p.next", why.next),
		why.entry && h("p", anchor({ view: "frames", entry: why.entry }, "the frame that shows it")));
}

function openWhy(button, list) {
	const box = element("why-box");
	show(box, ...Array.from(new Map(list.map(one => [one.text, one])).values(), reasonText), h("button.small", { onclick: () => box.hidePopover() }, "Close"));
	box.showPopover();
	const { left, bottom } = button.getBoundingClientRect();
	const width = Math.min(360, innerWidth - 16);
	box.style.width = `${width}px`;
	box.style.left = `${Math.max(8, Math.min(left, innerWidth - width - 8))}px`;
	box.style.top = `${Math.max(8, Math.min(bottom + 4, innerHeight - box.offsetHeight - 8))}px`;
	box.focus();
}

/** A button that says why, or nothing. `of`: what about. */
export const why = (list, of, text = "why?") => (list.length
	? h("button.why", { label: `${text === "why?" ? "Why" : text}: ${of}`, "aria-haspopup": "dialog",
		onclick: event => openWhy(event.currentTarget, list) }, text)
	: null);

export const isEmpty = value => value == null || value === "" || value === false || (Array.isArray(value) && !value.length);

/** A value and why it is so. What concerns the whole state does not explain a value that is there. */
export const explained = (value, list, of) => (isEmpty(value) ? [h("span.none", "—"), why(list, of)] : [value, why(list.filter(one => one.path), of)]);

export const derived = () => h("abbr.derived", { title: "derived: computed, not published" }, "*");

export const anchor = (changes, ...children) => h("a", { href: place.link(changes) }, children);

export const link = changes => place.link(changes);
export const go = (changes, replaces) => place.go(changes, replaces);

export const ofVehicle = route => ({ source: route.source, id: route.vehicle, at: route.at });

export const loads = (name, parameters, as = name) => (route, signal) => get(name, (parameters ?? ofVehicle)(route), signal).then(answer => ({ [as]: answer }));

export const vehicleStream = route => [`vehicle:${route.vehicle}${route.endpoint ? `/${route.endpoint}` : ""}`];

export const withEndpoint = route => ({ ...ofVehicle(route), endpoint: route.endpoint });

export const badge = (text, kind = "plain") =>
	h(`span.badge.badge-${kind}`, { good: "✓ ", warn: "▲ ", bad: "✕ ", plain: "" }[kind] ?? "", text);

export function read(cell, row, format = (value, row) => value) {
	const value = typeof cell === "string" ? row[cell] : cell(row);
	return isEmpty(value) ? undefined : format(value, row);
}

/**
 * A table that scrolls in itself. A column is its name, its cell: a key, or a function of the row, and how its value is shown. After the name: # for numbers, ~ for texts, = for long texts, * if derived.
 * @param {any} options `key`, `classes`, `empty` (shown without rows), `hideCaption`.
 */
export function table(caption, columns, rows, options = {}) {
	if (!rows.length) return options.empty ?? note("Nothing yet.");
	const heads = columns.map(([name]) => /^(.*?)([#~=]?)(\*?)$/.exec(name)), spec = (tag, mark) => tag + ({ "#": ".number", "~": ".text", "=": ".wide" }[mark] ?? "");
	// A count in the caption may change.
	return h("div.scroll", { tabindex: 0, role: "region", label: caption, key: caption.replace(/\d+/g, "") }, h("table",
		h(options.hideCaption ? "caption.hidden-text" : "caption", caption),
		h("thead", h("tr", heads.map(([, name, mark, isDerived]) => h(spec("th", mark), { scope: "col" }, name, isDerived && derived())))),
		h("tbody", rows.map((row, index) => h(`tr.${options.classes?.(row) ?? ""}`, { key: (options.key && read(options.key, row)) ?? index },
			columns.map(([, cell, format], position) => h(spec(position ? "td" : "th", heads[position][2]), position ? {} : { scope: "row" }, read(cell, row, format) ?? "—")))))));
}

export const note = (text, ...next) => h("div.note", h("p", text), next.length ? h("p.next", ...next) : null);

export const facts = pairs => h("dl.facts", pairs.map(([name, value]) =>
	h("div", { key: name }, h("dt", name), h("dd", isEmpty(value) ? "—" : value))));

export const variants = (variants, chosen = -1) => (variants?.length
	? h("ul.variants", variants.map((text, index) => h(index === chosen ? "li.chosen" : "li", text,
		index === chosen && soft(" (the one that fits)")))) : null);

export const moment = (entry, isVirtual) => h("a.moment", { href: link({ at: entry.at }) },
	isVirtual || !entry.time ? `${Number(entry.at ?? 0).toFixed(3)} s` : clock(entry.time));

export const frameLink = (entry, text, current = false) => (entry ? h("a", { href: link({ view: "frames", entry, node: null, byte: null }), current }, text) : text);

export const field = (label, control, hint) => h("label.field", h("span", label), control, hint && h("small", hint));

/** Whose side is shown, and the other endpoints. */
export const heldBy = ({ vehicle, heldBy: holder }, ...more) => h("p", "As held by: ", (vehicle?.endpoints ?? []).map(one =>
	[h("a.chip", { href: link({ endpoint: one.endpoint }), current: one.endpoint === holder?.endpoint }, one.endpoint), " "]), holder ? soft(`${holder.text}. `) : "no endpoint. ", more);

export function select(name, options, chosen, properties = {}) {
	const control = h("select", { name, ...properties }, options.map(option => {
		const [value, text = sentence(value)] = [option].flat();
		return h("option", { value, selected: value === chosen }, text);
	}));
	if (chosen != null) control.value = chosen;
	return control;
}
