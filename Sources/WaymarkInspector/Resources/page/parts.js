// What several views are made of.

import { element, html, show, soft } from "./dom.js";
import { get, query } from "./net.js";
import { clock, sentence } from "./words.js";

/** Whether the gateway of a source has ever answered; a recording has one. @param {Answer.Source} source */
export const isKnown = source => source?.kind !== "live" || !!source.gateway?.start || !!source.gateway?.instance;

/** Whether texts and places of a source are hidden from the page. @param {Answer.Source} source */
export const hidesTexts = source => isKnown(source) && source?.gateway?.showsContent === false;

/** Where the page is: `route`, `go(changes, replaces)`, `link(changes)`; set by app.js. @type {any} */
export const place = {};

export const LOG_KINDS = "event,connection,log,finding,dropped,synchronized,fault,mark,verdict";

const REASONS = {
	withheld: "withheld by the gateway",
	slots: "out of the endpoint's slots",
	fitted: "cut to a limit",
	conflated: "skipped for a newer value",
	hidden: "hidden from this observer",
};

/**
 * What is not published is not held either.
 * @param {Answer.Reason[]} list @param {string} path @param {string} [side]
 */
export function reasons(list, path, side) {
	return (list ?? [])
		.filter(
			why =>
				(side !== "published" || why.side !== "held") &&
				(!why.path || why.path === path || path.startsWith(`${why.path}/`)),
		)
		.sort((a, b) => Number(!a.path) - Number(!b.path));
}

/** Reasons by how much they decide: what is not published is not sent, what is withheld needs no slot, and so on. */
const DECIDING = ["noSession", "notPublished", "hidden", "withheld", "slots", "fitted", "conflated", "underWay"];

/** @param {Answer.Reason} why */
const rank = why => (DECIDING.indexOf(why.reason) + 1 || DECIDING.length + 1) + (why.path ? 0 : 0.5);

/** Each reason once, the one that decides first. @param {Answer.Reason[]} list */
export const byRank = list =>
	[...new Map(list.map(why => [why.text, why])).values()].sort((one, other) => rank(one) - rank(other));

/** @param {Answer.Reason} why */
const reasonParts = why => {
	const detail = [
		why.feature && `feature ${why.feature}`,
		why.code && sentence(why.code),
		why.limit && `limit ${why.limit} = ${why.value}`,
		why.count && `${why.count} skipped`,
		why.sequence && `number ${why.sequence}`,
	].filter(Boolean);
	return [
		html("strong", REASONS[why.reason] ?? sentence(why.reason)),
		detail.length ? soft(` · ${detail.join(" · ")}`) : null,
		html("p", why.text ?? ""),
		why.next && html("p.next", why.next),
	];
};

export const reasonText = why => html("div.reason", reasonParts(why));

function openWhy(button, list) {
	const box = element("why-box");
	show(
		box,
		byRank(list).map((one, index, all) => [
			index === 1 && html("h3.also", "Also, but this does not decide:"),
			html("div.reason", all.length > 1 && index === 0 && badge("this decides", "warn"), reasonParts(one)),
		]),
		html("button.small", { onclick: () => box.hidePopover() }, "Close"),
	);
	box.showPopover();
	const { left, bottom } = button.getBoundingClientRect();
	const width = Math.min(360, innerWidth - 16);
	box.style.width = `${width}px`;
	box.style.left = `${Math.max(8, Math.min(left, innerWidth - width - 8))}px`;
	box.style.top = `${Math.max(8, Math.min(bottom + 4, innerHeight - box.offsetHeight - 8))}px`;
	box.focus();
}

/** A button that says why, or nothing. `of`: what about. @param {Answer.Reason[]} list @param {string} of */
export const why = (list, of, text = "why?") =>
	list.length
		? html(
				"button.why",
				{
					label: `${text === "why?" ? "Why" : text}: ${of}`,
					"aria-haspopup": "dialog",
					onclick: event => openWhy(event.currentTarget, list),
				},
				text,
			)
		: null;

export const isEmpty = value =>
	value == null || value === "" || value === false || (Array.isArray(value) && !value.length);

/**
 * A value and why it is so. What concerns the whole state does not explain a value that is there.
 * @param {any} value @param {Answer.Reason[]} list @param {string} of
 */
export const explained = (value, list, of) =>
	isEmpty(value)
		? [html("span.none", "—"), why(list, of)]
		: [
				value,
				why(
					list.filter(one => one.path),
					of,
				),
			];

export const derived = () => html("abbr.derived", { title: "derived: computed, not published" }, "*");

export const anchor = (changes, ...children) => html("a", { href: place.link(changes) }, children);

export const link = changes => place.link(changes);
export const go = (changes, replaces) => place.go(changes, replaces);

export const ofVehicle = route => ({ source: route.source, id: route.vehicle, at: route.at });

/** @type {Loads} */
export const loads =
	(name, parameters, as = name) =>
	(route, signal) =>
		get(name, (parameters ?? ofVehicle)(route), signal).then(answer => /** @type {any} */ ({ [as]: answer }));

/** A view of the stream with parameters of its own. */
export const withParameters = (view, parameters) => `${view}${query(parameters)}`;

export const vehicleStream = route => [`vehicle:${route.vehicle}${route.endpoint ? `/${route.endpoint}` : ""}`];

export const withEndpoint = route => ({ ...ofVehicle(route), endpoint: route.endpoint });

export const badge = (text, kind = "plain") =>
	html(`span.badge.badge-${kind}`, { good: "✓ ", warn: "▲ ", bad: "✕ ", plain: "" }[kind] ?? "", text);

export function read(cell, row, format = (value, row) => value) {
	const value = typeof cell === "string" ? row[cell] : cell(row);
	return isEmpty(value) ? undefined : format(value, row);
}

/** The browser keeps a file. */
function save(name, text) {
	const href = URL.createObjectURL(new Blob([text]));
	html("a", { download: name, href }).click();
	URL.revokeObjectURL(href);
}

/** What a spreadsheet would take for a formula is a text in it. */
const quoted = text => `"${text.replace(/^[=+@-](?![\d.,]+$)/, "'$&").replaceAll('"', '""')}"`;

/** Buttons that save the rows on the screen: as shown, or all that is known of them. */
const savers = (caption, columns, rows) =>
	buttons(
		html(
			"button.small",
			{
				label: `Save ${caption} as CSV`,
				onclick: () => {
					const shown = row =>
						columns.map(column => html("td", read(column.cell, row, column.show) ?? "").textContent);
					const lines = [columns.map(column => column.name), ...rows.map(shown)];
					save(`${caption}.csv`, lines.map(line => `${line.map(quoted).join(",")}\r\n`).join(""));
				},
			},
			"CSV",
		),
		html(
			"button.small",
			{
				label: `Save ${caption} as JSON Lines`,
				onclick: () => save(`${caption}.jsonl`, rows.map(row => `${JSON.stringify(row)}\n`).join("")),
			},
			"JSON Lines",
		),
	);

/**
 * A table that scrolls in itself. Rows of a history can be saved.
 * @template Row
 * @param {string} caption @param {Column<Row>[]} columns @param {Row[]} rows @param {TableOptions<Row>} options
 */
export function table(caption, columns, rows, options = {}) {
	if (!rows.length) return options.empty ?? note("Nothing yet.");
	const spec = (tag, kind) => (kind ? `${tag}.${kind}` : tag);
	// A count in the caption may change.
	const shown = html(
		"div.scroll",
		{ tabindex: 0, role: "region", label: caption, key: caption.replace(/\d+/g, "") },
		html(
			"table",
			html(options.hideCaption ? "caption.hidden-text" : "caption", caption),
			html(
				"thead",
				html(
					"tr",
					columns.map(column =>
						html(spec("th", column.kind), { scope: "col" }, column.name, column.isDerived && derived()),
					),
				),
			),
			html(
				"tbody",
				rows.map((row, index) =>
					html(
						`tr.${options.classes?.(row) ?? ""}`,
						{ key: (options.key && read(options.key, row)) ?? index },
						columns.map((column, position) => {
							const value = read(column.cell, row, column.show) ?? "—";
							return position
								? html(spec("td", column.kind), value)
								: html(spec("th", column.kind), { scope: "row" }, value);
						}),
					),
				),
			),
		),
	);
	return rows[0]["entry"] ? [shown, savers(caption, columns, rows)] : shown;
}

export const note = (text, ...next) => html("div.note", html("p", text), next.length ? html("p.next", ...next) : null);

export const panel = (title, ...children) => html("section.panel", html("h2", title), children);

export const buttons = (...children) => html("div.buttons", children);

export const facts = pairs =>
	html(
		"dl.facts",
		pairs.map(([name, value]) =>
			html("div", { key: name }, html("dt", name), html("dd", isEmpty(value) ? "—" : value)),
		),
	);

export const variants = (variants, chosen = -1) =>
	variants?.length
		? html(
				"ul.variants",
				variants.map((text, index) =>
					html(index === chosen ? "li.chosen" : "li", text, index === chosen && soft(" (the one that fits)")),
				),
			)
		: null;

/**
 * The time of day of a second of a source; empty if it has none, as virtual time.
 * @param {number} at @param {Answer.Source} source
 */
export function timeOfDay(at, source) {
	const isVirtual = source?.recording?.run?.clock === "virtual";
	return isVirtual || at == null ? "" : clock(Date.parse(source?.begin) + at * 1000);
}

/**
 * A second of a source as a time that other inspectors understand, to the microsecond.
 * @param {Answer.Source} source @param {number} at
 */
export function timeAt(source, at) {
	const micros = Math.round(Date.parse(source.begin) * 1000 + at * 1e6);
	const rest = String(((micros % 1000) + 1000) % 1000).padStart(3, "0");
	return new Date(Math.floor(micros / 1000)).toISOString().replace("Z", rest === "000" ? "Z" : `${rest}Z`);
}

/** The second of a source at such a time. @param {Answer.Source} source @param {string} time */
export function secondsAt(source, time) {
	const micros = Number(/\.\d{3}(\d{3})/.exec(time)?.[1] ?? 0);
	const seconds = (Date.parse(time) - Date.parse(source.begin)) / 1000 + micros / 1e6;
	return Math.round(seconds * 1e6) / 1e6;
}

export const moment = (entry, isVirtual) =>
	html(
		"a.moment",
		{ href: link({ at: entry.at }) },
		isVirtual || !entry.time ? `${Number(entry.at ?? 0).toFixed(3)} s` : clock(entry.time),
	);

export const frameLink = (entry, text, current = false) =>
	entry ? html("a", { href: link({ view: "frames", entry, node: null, byte: null }), current }, text) : text;

export const field = (label, control, hint) =>
	html("label.field", html("span", label), control, hint && html("small", hint));

/**
 * Whose side is shown, and the other endpoints.
 * @param {Pick<Answer.Vehicle, "vehicle" | "heldBy">} data @param {...any} more
 */
export const heldBy = ({ vehicle, heldBy: holder }, ...more) =>
	html(
		"p",
		"As held by: ",
		(vehicle?.endpoints ?? []).map(one => [
			html(
				"a.chip",
				{ href: link({ endpoint: one.endpoint }), current: one.endpoint === holder?.endpoint },
				one.endpoint,
			),
			" ",
		]),
		holder ? soft(`${holder.text}. `) : "no endpoint. ",
		more,
	);

export function select(name, options, chosen, properties = {}) {
	const control = html(
		"select",
		{ name, ...properties },
		options.map(option => {
			const [value, text = sentence(value)] = [option].flat();
			return html("option", { value, selected: value === chosen }, text);
		}),
	);
	if (chosen != null) control.value = chosen;
	return control;
}
