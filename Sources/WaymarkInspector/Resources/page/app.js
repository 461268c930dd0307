// The page: its place is the fragment of the address.

import { actions } from "./actions.js";
import { spoken } from "./card.js";
import { configuration } from "./configuration.js";
import { element, html, hidden, hint, show } from "./dom.js";
import { frames } from "./frames.js";
import { guidance } from "./guidance.js";
import { begin, get, query, Stream } from "./net.js";
import { compare, overview } from "./overview.js";
import { badge, hidesTexts, isKnown, note, place, secondsAt, select } from "./parts.js";
import { storyViews } from "./story.js";
import { tableViews } from "./tables.js";
import { Timeline } from "./timeline.js";
import { clock, counted } from "./words.js";
/** @type {{ [name: string]: View<any> }} */
const VIEWS = { overview, guidance, ...tableViews, ...storyViews, frames, actions, cluster: configuration, compare };
const GROUPS = [
	["Now", ["guidance", "sides", "actions", "cluster"]],
	["Tables", ["updates", "maneuvers", "lanes", "destination", "route"]],
	["Why", ["requests", "receipts", "findings"]],
	["Traffic", ["log", "frames"]],
	["Recordings", ["compare"]],
];
const EVERYWHERE = ["overview", "findings", "log", "frames", "compare"];
const KEPT = ["source", "vehicle", "endpoint", "at"];
const SHOWN_ONLY = ["node", "byte", "light", "area", "saved"];
const OUT = { vehicle: null, endpoint: null, after: null };
const REFRESH_MILLISECONDS = 1000;
const SPEAK_MILLISECONDS = 2000;
const ROWS_MAX = 200;

const app = {
	route: /** @type {any} */ ({}),
	shown: {},
	sources: /** @type {Answer.Source[]} */ ([]),
	act: /** @type {Answer.Act} */ ({ enabled: false }),
	names: /** @type {Answer.Names} */ ({}),
	hasBasemap: false,
	redact: false,
	data: null,
	dataOf: "",
	loaded: "",
	view: "",
	error: null,
	stream: "off",
	missed: 0,
	newest: 0,
	isBusy: false,
	/** The time of a link, if no source has it. */
	lostTime: "",
	spokenText: "",
	spokenAt: 0,
	drawing: 0,
	refreshing: 0,
	refreshed: 0,
	abort: new AbortController(),
};

const parse = hash => Object.fromEntries(new URLSearchParams(hash.replace(/^#/, "")));

function link(changes) {
	const isOther = changes.view != null && changes.view !== app.route.view;
	const base = isOther
		? Object.fromEntries(KEPT.filter(key => app.route[key] != null).map(key => [key, app.route[key]]))
		: app.route;
	return `#${query({ ...base, ...changes }).slice(1)}`;
}

function go(changes, replaces = false) {
	const hash = link(changes);
	if (hash === location.hash) return;
	history[replaces ? "replaceState" : "pushState"](null, "", hash);
	enter();
}
Object.assign(place, { go, link });

const view = () => VIEWS[app.view];
const source = () => app.sources.find(one => one.source === app.route.source) ?? app.sources[0];
const isLive = () => source()?.kind === "live" && app.route.at == null;

/** @returns {Context} */
const context = () => ({
	...app,
	source: source(),
	isLive: isLive(),
	isVirtual: source()?.recording?.run?.clock === "virtual",
	redraw: draw,
	reload: load,
});

function enter() {
	app.route = parse(location.hash);
	// A new link of waymark inspect: start() signs in.
	if (app.route.token != null) return location.reload();
	place.route = app.route;
	if (app.route.time != null) return enterTime();
	app.route.source ??= app.sources[0]?.source;
	const wanted = app.route.view ?? (app.route.vehicle ? "guidance" : "overview");
	app.view = !VIEWS[wanted] || (!app.route.vehicle && !EVERYWHERE.includes(wanted)) ? "overview" : wanted;
	app.route.view = app.view;
	const identity = JSON.stringify(Object.entries(app.route).filter(([key]) => !SHOWN_ONLY.includes(key)));
	if (identity === app.loaded) return draw();
	const isOther = ["view", "source", "vehicle"].some(key => app.shown[key] !== app.route[key]);
	Object.assign(app, { loaded: identity, shown: app.route });
	if (isOther) {
		app.data = null;
		window.scrollTo(0, 0);
	}
	return load();
}

/** Goes to the time of a link, in the source that the link names, or in another one that has the time. */
function enterTime() {
	const { time, source: wanted, ...rest } = app.route;
	const has = one => {
		const at = secondsAt(one, time);
		return at >= one.from && at <= Math.max(one.to, one.kind === "live" ? app.newest : 0);
	};
	const found = [...app.sources]
		.sort((one, other) => Number(other.source === wanted) - Number(one.source === wanted))
		.find(has);
	app.lostTime = found ? "" : time;
	const chosen = found ? { source: found.source, at: secondsAt(found, time) } : {};
	history.replaceState(null, "", `#${query({ ...rest, ...chosen }).slice(1)}`);
	return enter();
}

async function load() {
	app.abort.abort();
	const { signal } = (app.abort = new AbortController());
	app.isBusy = true;
	const identity = app.loaded;
	draw();
	try {
		const data = await view().load(app.route, signal, app.data, app.sources);
		if (signal.aborted) return;
		// The stream may have told something newer meanwhile.
		if (isLive() && app.dataOf === identity) {
			for (const [key, old] of Object.entries(app.data ?? {})) if (old?.at > data[key]?.at) data[key] = old;
			if (data.entries?.entries) keepNewer(data.entries, app.data?.entries?.entries ?? []);
		}
		Object.assign(app, { data, dataOf: identity, error: null });
	} catch (error) {
		if (signal.aborted) return;
		app.error = error;
	}
	Object.assign(app, { isBusy: false, refreshed: Date.now() });
	for (const one of Object.values(app.data ?? {})) if (isLive() && one?.at > app.newest) app.newest = one.at;
	listen();
	draw();
}

/** Keeps the rows that are newer than those of an answer. @param {Answer.Entries} answer @param {Entry[]} rows */
function keepNewer(answer, rows) {
	const known = new Set(answer.entries.map(one => one.entry)),
		newest = answer.entries[0]?.at ?? 0;
	answer.entries.unshift(...rows.filter(one => one.at >= newest && !known.has(one.entry)));
}

/** The views that the stream tells of: each with its own parameters, as behind a `?`. */
function streamViews() {
	if (!isLive() || app.error?.status === 401) return [];
	const { streams, follows } = view();
	return streams?.(app.route) ?? (follows ? [`vehicle:${app.route.vehicle}`] : []);
}

const listen = () => stream.show(streamViews());

function refresh(work) {
	if (app.refreshing) return;
	app.refreshing = window.setTimeout(
		async () => {
			app.refreshing = 0;
			app.refreshed = Date.now();
			const { signal } = app.abort;
			try {
				await work(signal);
			} catch {
				/* The next change asks again. */
			}
			if (!signal.aborted) draw();
		},
		Math.max(0, app.refreshed + REFRESH_MILLISECONDS - Date.now()),
	);
}

function receive(event, data) {
	const live = app.sources.find(one => one.kind === "live");
	if (event === "connection") {
		if (live) live.connection = data;
		if (data.state === "connected") readSources().catch(draw);
		return draw();
	}
	if (data.at != null) app.newest = Math.max(app.newest, data.at);
	if (live && event === "beat") live.from = data.from ?? live.from;
	if (event === "gap") app.missed += data.missed ?? 0;
	// While a view loads, the stream may still be that of another one.
	else if (event !== "beat" && stream.views.join() === streamViews().join()) {
		if (event === "unavailable")
			return fail({ status: 404, message: data.error?.reason ?? "this is not there any more" });
		if (app.error && !app.isBusy) refresh(load);
		else if (app.data) receiveView(event, data);
	}
	return draw();
}

function fail(error) {
	app.error = error;
	listen();
	draw();
}

function receiveView(event, data) {
	const { receive: own, follows, after } = view();
	if (event === "entries") {
		if (!app.data.entries) return;
		const known = new Set(app.data.entries.entries.map(one => one.entry));
		const added = data.entries.filter(one => !known.has(one.entry)).reverse();
		const all = [...added, ...app.data.entries.entries],
			kept = all.slice(0, ROWS_MAX);
		app.data.entries = {
			...app.data.entries,
			entries: kept,
			...(kept.length < all.length && { truncated: true, next: kept[ROWS_MAX - 1].entry }),
		};
		app.data.skipped = (app.data.skipped ?? 0) + (data.skipped ?? 0);
	} else if (event === "overview") {
		own?.(app.data, data);
	} else if (follows) {
		refresh(async signal => {
			app.data = await view().load(app.route, signal, app.data, app.sources);
		});
	} else {
		app.data[event] = data;
		if (event === "vehicle" && after) refresh(signal => after(app.data, app.route, signal));
	}
}

function draw() {
	app.drawing ||= requestAnimationFrame(() => {
		app.drawing = 0;
		paint();
	});
}

const stream = new Stream(receive, state => {
	if (state === app.stream || (state === "opening" && app.stream !== "open")) return;
	if (state === "open") {
		if (["lost", "paused"].includes(app.stream)) readSources().catch(draw);
		// A new stream begins with now: it does not tell what happened after the answer and before it.
		if (app.error || app.data?.entries) load();
	}
	if (state === "lost") readSources().catch(error => error.status === 401 && fail(error));
	app.stream = state;
	draw();
});
const timeline = new Timeline(element("timeline"));

/** The state of the connection: of the stream to this page, then of the server to the gateway. */
function connectionBadge() {
	if (app.error?.status === 401 || (!source() && app.error?.status === 403)) return badge("not signed in", "bad");
	if (!source()) return badge("not connected", "bad");
	const { kind, connection, recording } = source();
	if (kind === "recording")
		return recording?.whole === false ? badge("recording, not whole", "warn") : badge("recording");
	if (app.error?.status === 0 || app.stream === "lost") return badge("page disconnected, trying again", "bad");
	if (!isKnown(source())) return badge("no gateway yet", "bad");
	if (connection && connection.state !== "connected")
		return badge(
			`gateway ${connection.state}: shown is the state of ${clock(connection.since) || "before"}`,
			"bad",
		);
	return app.route.at != null
		? badge("past moment", "warn")
		: app.stream === "paused"
			? badge("paused while hidden", "warn")
			: app.data && !stream.views.length
				? badge("not updated live", "warn")
				: badge("live", "good");
}

function paintTop() {
	const theme = document.documentElement.dataset.theme === "dark" ? "light" : "dark";
	show(
		element("top"),
		html(
			"a.skip",
			{
				href: "#",
				key: "skip",
				onclick: event => {
					event.preventDefault();
					element("main").focus();
				},
			},
			"Skip to the content",
		),
		html(
			"a.brand",
			{ href: link({ view: "overview", ...OUT }) },
			html("img", { src: "/page/icon.svg", alt: "", width: 26, height: 26 }),
			"Waymark Inspector",
		),
		app.route.vehicle && app.view !== "compare"
			? html("h1.crumb", app.route.vehicle, hidden(`: ${view().title}`))
			: html("h1.hidden-text", view().title),
		html("span.spring"),
		connectionBadge(),
		app.redact && badge("places hidden", "warn"),
		!app.act.enabled && html("span.read-only", { title: app.act.reason ?? "" }, "read-only"),
		app.sources.length > 1 &&
			html(
				"label",
				hidden("Source"),
				select(
					"source",
					app.sources.map(one => [one.source, one.file ?? `live: ${one.gateway?.instance || one.address}`]),
					app.route.source,
					{ onchange: event => go({ source: event.target.value, at: null, view: "overview", ...OUT }) },
				),
			),
		html(
			"button.small",
			{ label: `Use the ${theme} theme`, onclick: () => setTheme(theme, true) },
			theme === "dark" ? "☾" : "☀",
		),
	);
	document.title = `${app.route.vehicle ? `${app.route.vehicle}: ` : ""}${view().title} – Waymark Inspector`;
}

function paintNav() {
	const item = name =>
		html(
			"li",
			{ key: name },
			html(
				"a",
				{ href: link({ view: name, ...(name === "overview" && OUT) }), current: name === app.view && "page" },
				VIEWS[name].title,
			),
		);
	/** @type {any[]} */
	const groups = app.route.vehicle ? [["", ["overview"]], ...GROUPS] : [["", EVERYWHERE]];
	const list = groups.map(([title, names]) =>
		html("li.group", { key: title }, title && html("span.group-title", title), html("ul", names.map(item))),
	);
	show(
		element("nav"),
		html(
			"details",
			{ key: "menu", open: innerWidth > 800 },
			html("summary", `Views: ${view().title}`),
			html("ul", list),
		),
	);
}

function errorNote(error) {
	const next = {
		401: "Open the link that waymark inspect printed: it has the token that this browser needs.",
		403: "Open the page by the address that waymark inspect printed.",
		404: html("a", { href: link({ view: "overview", ...OUT }) }, "Go to the overview"),
		409: html("a", { href: link({ at: null, entry: null, before: null }) }, "Go to the newest moment"),
		429: "Close other pages of the inspector, or wait a moment.",
		0: "Start waymark inspect again, and open the new link.",
	}[error.status];
	return html(
		"div.note.problem-note",
		{ role: "alert" },
		html("p", html("strong", "This cannot be shown: "), error.message, "."),
		next && html("p.next", next),
		html("button", { onclick: () => (app.sources.length ? load() : location.reload()) }, "Try again"),
	);
}

/** What a view shows; a failure to draw it is told. */
function content() {
	if (app.data && app.error?.status !== 401) {
		try {
			const isCut = Object.values(app.data).some(one => one?.truncated && !one.next);
			return [
				view().draw(app.data, context()),
				isCut && hint("There is more than is shown: older rows are left out, or points of lines."),
			];
		} catch (error) {
			console.error(error);
			return errorNote(error);
		}
	}
	return !app.error && note(`Loading ${view().title} …`, "If this stays, look at the terminal of waymark inspect.");
}

/** Whether something of what is shown was too much to be kept. */
const lacksContent = () =>
	Object.values(app.data ?? {}).some(one => one?.totals?.sessionsWithoutContent || one?.session?.withoutContent);

function paint() {
	paintTop();
	paintNav();
	const main = element("main");
	main.setAttribute("aria-busy", String(app.isBusy));
	show(
		main,
		app.missed
			? note(
					`${counted(app.missed, "entry was", "entries were")} missed: ` +
						"this page or the inspector was too slow. " +
						"What is shown is whole again.",
				)
			: null,
		!isKnown(source()) &&
			note(
				`No gateway answers at ${source().address}: nothing is known.`,
				"This page goes on by itself as soon as one does. To start one: waymarkd",
			),
		app.lostTime &&
			note(
				`No source here has the time of this link, ${app.lostTime}.`,
				"It is in another recording: waymark inspect FILE",
			),
		lacksContent() &&
			note(
				"What some sessions publish is not kept here: all of it would take too much memory.",
				"To keep all of it: waymark record",
			),
		hidesTexts(source()) &&
			note(
				"Places and texts are hidden here.",
				app.redact
					? "It was started with --redact places."
					: "The listener's setting observe: content shows them.",
			),
		html("h2.view-title", { key: "title" }, view().title),
		html("div", { key: `view-${app.view}`, id: "view" }, app.error && errorNote(app.error), content()),
	);
	timeline.update(context());
	speak();
}

function speak() {
	if (!app.data?.vehicle?.vehicle || app.view !== "guidance" || Date.now() - app.spokenAt < SPEAK_MILLISECONDS)
		return;
	const text = spoken(app.data.vehicle);
	if (text === app.spokenText) return;
	Object.assign(app, { spokenText: text, spokenAt: Date.now() });
	element("live").textContent = text;
}

function setTheme(theme, isChosen = false) {
	document.documentElement.dataset.theme = theme;
	if (isChosen) localStorage.setItem("waymark-theme", theme);
	if (app.view) draw();
}

async function readSources() {
	const { sources, act, basemap, redact } = await get("sources");
	Object.assign(app, { sources, act, hasBasemap: basemap, redact });
}

async function start() {
	const dark = matchMedia("(prefers-color-scheme: dark)");
	const theme = () => setTheme(localStorage.getItem("waymark-theme") ?? (dark.matches ? "dark" : "light"));
	theme();
	dark.addEventListener("change", theme);
	matchMedia("(min-width: 801px)").addEventListener("change", event => {
		const menu = document.querySelector("#nav details");
		if (menu) menu.toggleAttribute("open", event.matches);
	});
	addEventListener("hashchange", enter);
	addEventListener("popstate", enter);
	const { token, ...rest } = parse(location.hash);
	try {
		if (token != null) {
			history.replaceState(null, "", `#${new URLSearchParams(rest)}`);
			await begin(token);
		}
		await readSources();
		app.names = await get("names").catch(() => app.names);
	} catch (error) {
		app.error = error;
		app.view = "overview";
		return paint();
	}
	setInterval(() => {
		if (document.hidden) return;
		if (!app.isBusy && view().reloads?.(app.data)) load();
		else if (view().ticks) draw();
	}, 1000);
	return enter();
}

start();
