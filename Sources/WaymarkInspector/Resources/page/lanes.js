// Lanes over time: what a vehicle was told, as bands of words and curves of numbers, on one axis.

import { hint, html, soft, svg } from "./dom.js";
import { LaneData } from "./lane-data.js";
import { distance, duration, bytes, sentence } from "./words.js";

const BANDS = ["maneuver", "state", "lanes", "alert", "request", "client", "connection"];
const CURVES = ["distanceLeft", "timeLeft", "speedLimit", "rate", "shown", "waiting"];
const NAMES = { client: "navigation client", rate: "publications", shown: "shown after", waiting: "waiting bytes" };
const short = value => (value < 100 ? Math.round(value * 10) / 10 : Math.round(value));

/** How the values of curves are written. */
const VALUES = {
	distanceLeft: distance,
	timeLeft: duration,
	speedLimit: String,
	rate: value => `${short(value)}/s`,
	shown: value => `${short(value)} ms`,
	waiting: bytes,
};
const SHORTEST_SECONDS = 0.1;
const HEIGHT = 24;
/** The least part of the width that has a word in it. */
const wordPart = () => 55 / innerWidth;

/** @param {{ name: string, endpoint?: string }} lane */
const titleOf = ({ name, endpoint }) => [sentence(NAMES[name] ?? name), endpoint].filter(Boolean).join(" · ");

/** What holds at a time. @template {any[]} One @param {One[]} list */
const holding = (list, at) => list.findLast(([begin]) => begin <= at)?.[1];

export class Lanes {
	/** What is zoomed to; null: all. @type {{ from: number, to: number } | null} */
	window = null;
	/** Lanes that are hidden, and lanes of marks. @type {Set<string>} */
	off = new Set();
	/** Where a drag began. @type {{ x: number, from: number, to: number, isMoved: boolean } | null} */
	dragged = null;
	/** The time below the pointer. @type {number | null} */
	pointed = null;
	/** The end of time when it was drawn last. */
	newest = 0;

	/** @param {any} line The time line. */
	constructor(line) {
		this.line = line;
		const redraw = () => {
			this.update();
			line.draw();
		};
		this.all = new LaneData(redraw);
		this.detail = new LaneData(redraw);
	}

	get shown() {
		return this.window ?? this.line.range;
	}

	/** What is known of all time. */
	update() {
		const { source, route } = this.line.context,
			{ from, to } = this.line.range;
		if (route.vehicle) this.all.update({ source: source.source, id: route.vehicle, from, to });
	}

	show(from, length) {
		const { range } = this.line;
		const long = Math.min(range.to - range.from, Math.max(SHORTEST_SECONDS, length));
		const begin = Math.max(range.from, Math.min(range.to - long, from));
		this.window = long >= range.to - range.from ? null : { from: begin, to: begin + long };
		this.line.draw();
	}

	/** A factor below 1 shows less, around a time, by default the moment if it is shown. */
	zoom(factor, at = this.line.at) {
		const { from, to } = this.shown,
			middle = at >= from && at <= to ? at : (from + to) / 2;
		this.show(middle - (middle - from) * factor, (to - from) * factor);
	}

	/** By a part of what is shown. */
	move(by) {
		const { from, to } = this.shown;
		this.show(from + by * (to - from), to - from);
	}

	/** To the next mark, or with -1 to the one before. */
	goToMark(way) {
		const marks = this.marks.map(mark => mark.at),
			{ at } = this.line;
		const found = way > 0 ? marks.find(one => one > at + 1e-6) : marks.findLast(one => one < at - 1e-6);
		if (found != null) this.go(found);
	}

	/** A zoomed time goes along. */
	go(at) {
		const { from, to } = this.shown;
		if (this.window && (at < from || at > to)) this.show(at - (to - from) / 2, to - from);
		this.line.go(at, true);
	}

	/** @returns {Answer.Moment[]} */
	get marks() {
		return (this.line.moments?.moments ?? []).filter(mark => !this.off.has(`mark ${kindOf(mark)}`));
	}

	/** @param {KeyboardEvent} event */
	key(event) {
		if (event.ctrlKey || event.altKey || event.metaKey) return;
		const { from, to } = this.shown,
			step = (to - from) / 100,
			{ at } = this.line;
		const way = event.key.endsWith("Left") ? -1 : 1;
		const actions = {
			"+": () => this.zoom(0.5),
			"=": () => this.zoom(0.5),
			"-": () => this.zoom(2),
			0: () => this.zoom(Infinity),
			Home: () => this.go(from),
			End: () => this.go(to),
			PageUp: () => this.goToMark(-1),
			PageDown: () => this.goToMark(1),
			ArrowLeft: () => (event.shiftKey ? this.move(-0.25) : this.go(at - step)),
			ArrowRight: () => (event.shiftKey ? this.move(0.25) : this.go(at + way * step)),
		};
		if (!actions[event.key]) return;
		event.preventDefault();
		actions[event.key]();
	}

	/** The time at the pointer. @param {any} event */
	timeAt(event) {
		const { left, width } = event.currentTarget.getBoundingClientRect(),
			{ from, to } = this.shown;
		return from + Math.max(0, Math.min(1, (event.clientX - left) / (width || 1))) * (to - from);
	}

	/** Handlers of what has the axis of time: a drag moves it, a press goes there, the wheel with Ctrl zooms. */
	get handlers() {
		return {
			onpointerdown: event => {
				if (event.button) return;
				this.dragged = { x: event.clientX, ...this.shown, isMoved: false };
			},
			onpointermove: event => {
				const { dragged } = this;
				if (dragged && Math.abs(event.clientX - dragged.x) > 4) {
					if (!dragged.isMoved) event.currentTarget.setPointerCapture(event.pointerId);
					dragged.isMoved = true;
				}
				if (dragged?.isMoved) {
					const long = dragged.to - dragged.from;
					const by = ((dragged.x - event.clientX) / (event.currentTarget.clientWidth || 1)) * long;
					return this.show(dragged.from + by, long);
				}
				this.point(this.timeAt(event));
			},
			onpointerup: event => {
				const { dragged } = this;
				this.dragged = null;
				if (dragged && !dragged.isMoved) this.go(this.timeAt(event));
				else this.line.draw();
			},
			onpointercancel: () => {
				this.dragged = null;
			},
			onpointerleave: () => this.point(null),
			onwheel: event => {
				if (!event.ctrlKey) return;
				event.preventDefault();
				this.zoom(event.deltaY > 0 ? 1.25 : 0.8, this.timeAt(event));
			},
		};
	}

	/** Shows the values at a time, with the next frame of the browser. */
	point(at) {
		if (this.pointed == null && at == null) return;
		if (!this.frame) this.frame = requestAnimationFrame(() => ((this.frame = 0), this.line.draw()));
		this.pointed = at;
	}

	frame = 0;

	draw() {
		const { source, route, isLive } = this.line.context,
			{ range } = this.line;
		// A view that shows now goes along with time.
		if (this.window && isLive && this.window.to >= this.newest - 1e-6 && this.newest && !this.dragged) {
			const by = Math.max(0, range.to - this.window.to);
			this.window = { from: this.window.from + by, to: this.window.to + by };
		}
		this.newest = range.to;
		const { from, to } = this.shown;
		if (this.window && !this.dragged) this.detail.update({ source: source.source, id: route.vehicle, from, to });
		const data = this.window ? this.detail : this.all,
			times = (this.window && this.detail.times) || this.all.times;
		const at = this.pointed ?? this.line.at;
		const lanes = [...BANDS, ...CURVES].flatMap(name =>
			(times?.lanes ?? [])
				.filter(lane => lane.name === name && (lane.points.length || lane.bands.some(band => band[1])))
				.sort((a, b) => titleOf(a).localeCompare(titleOf(b))),
		);
		const isOn = lane => !this.off.has(titleOf(lane));
		return html(
			"div.over-time",
			this.controls(from, to),
			data.problem && html("p.problem", { role: "alert" }, data.problem),
			times?.isSampled && hint("There are more entries than columns can show: of some, only a part is read."),
			!times && !data.problem && hint("Loading lanes …"),
			times &&
				html(
					"div.lane-list",
					{
						tabindex: 0,
						role: "group",
						label: "Lanes over time",
						"aria-describedby": "lane-keys",
						onkeydown: event => this.key(event),
					},
					row(
						"time",
						html("span.soft.lane-name", this.pointed == null ? "moment " : "pointer ", this.line.text(at)),
						[html("div.lane-picture", this.handlers, this.axis(from, to, at))],
					),
					row("marks", html("span.lane-name", "Marks"), [
						html("div.lane-picture", this.handlers, this.markPicture(from, to, at)),
					]),
					lanes
						.filter(isOn)
						.map(lane =>
							row(
								titleOf(lane),
								[this.toggle(titleOf(lane), true), html("span.lane-value", valueAt(lane, at))],
								[html("div.lane-picture", this.handlers, picture(lane, times, from, to, at))],
							),
						),
				),
			times && this.legend(lanes),
			html(
				"p.soft.lane-keys",
				{ id: "lane-keys" },
				"Drag moves, a press goes there, Ctrl and the wheel zoom. ",
				"Keys in the lanes: ← → moment, Shift ← → move, + − zoom, 0 all, Page Up and Down marks.",
			),
		);
	}

	controls(from, to) {
		const button = (text, name, action) =>
			html("button.small", { label: name, title: name, onclick: action }, text);
		return html(
			"div.timeline-controls",
			button("+", "Shorter time", () => this.zoom(0.5)),
			button("−", "Longer time", () => this.zoom(2)),
			button("◂", "Earlier", () => this.move(-0.5)),
			button("▸", "Later", () => this.move(0.5)),
			button("All", "Show all of the time", () => this.zoom(Infinity)),
			button("◂ mark", "Mark before", () => this.goToMark(-1)),
			button("mark ▸", "Next mark", () => this.goToMark(1)),
			html("span.soft.shown-time", `${this.line.text(from)} – ${this.line.text(to)}`),
		);
	}

	toggle(name, pressed, ...more) {
		return html(
			"button.small.lane-name",
			{
				key: name,
				pressed,
				title: `${pressed ? "Hide" : "Show"} ${name}`,
				onclick: () => {
					if (!this.off.delete(name)) this.off.add(name);
					this.line.draw();
				},
			},
			more.length ? more : name,
		);
	}

	/** The marks by their colours, and the lanes that are hidden. */
	legend(lanes) {
		const kinds = [...new Set((this.line.moments?.moments ?? []).map(kindOf))].sort();
		const hidden = lanes.map(titleOf).filter(name => this.off.has(name));
		return html(
			"div.legend",
			kinds.length > 0 && soft("Marks:"),
			kinds.map(kind =>
				this.toggle(
					`mark ${kind}`,
					!this.off.has(`mark ${kind}`),
					svg("svg.swatch", { hide: true }, svg(`path.mark-${kind}`, { d: "M4 0 V12", "stroke-width": 4 })),
					sentence(kind),
				),
			),
			hidden.length > 0 && soft("Hidden:"),
			hidden.map(name => this.toggle(name, false)),
		);
	}

	axis(from, to, at) {
		const ticks = [0, 0.25, 0.5, 0.75, 1];
		const text = time => (to - from > 20 ? this.line.text(time).replace(/\.\d+$/, "") : this.line.text(time));
		return svg(
			"svg.lane-svg",
			{ hide: true },
			ticks.map(part =>
				svg(
					part % 0.5 ? "text.inner" : "text",
					{ x: `${part * 100}%`, y: 16, "text-anchor": !part ? "start" : part < 1 ? "middle" : "end" },
					text(from + part * (to - from)),
				),
			),
			now(from, to, at),
		);
	}

	markPicture(from, to, at) {
		const long = Math.max(1e-6, to - from);
		const marks = this.marks.filter(mark => mark.at >= from && mark.at <= to);
		// A mark has its name up to the next one.
		const names = marks.flatMap((mark, index) => {
			const begin = (mark.at - from) / long,
				end = ((marks[index + 1]?.at ?? to) - from) / long;
			return end - begin > wordPart() ? [word(begin, end, mark.text, 5)] : [];
		});
		return svg(
			"svg.lane-svg",
			{ hide: true },
			scaled(marks.map(mark => svg(`path.mark-${kindOf(mark)}`, { d: `M${across(mark.at, from, to)} 3 V21` }))),
			names,
			now(from, to, at),
		);
	}
}

/** The class of its colour. @param {Answer.Moment} mark */
export const kindOf = mark => (mark.verdict === "passed" ? "passed" : mark.lane);

/** Where a time is, from 0 to 1000 in what is shown. */
export const across = (at, from, to) =>
	Math.max(-10, Math.min(1010, ((at - from) / Math.max(1e-6, to - from)) * 1000)).toFixed(1);

const row = (key, name, pictures) => html("div.time-lane", { key }, html("div.lane-title", name), pictures);

/** Drawn in a thousand parts of the width. */
const scaled = (...children) =>
	svg("svg", { viewBox: `0 0 1000 ${HEIGHT}`, preserveAspectRatio: "none", width: "100%", height: HEIGHT }, children);

const now = (from, to, at) =>
	at >= from && at <= to && scaled(svg("path.lane-now", { d: `M${across(at, from, to)} 0 V${HEIGHT}` }));

/** A text that ends where its place ends. */
const word = (begin, end, text, indent = 4) =>
	svg(
		"svg",
		{ x: `${(begin * 100).toFixed(2)}%`, width: `${((end - begin) * 100).toFixed(2)}%`, height: HEIGHT },
		svg("text", { x: indent, y: 16 }, text),
	);

/** Of a curve with its highest value, which is at the top of its lane. */
function valueAt({ name, bands, points }, at) {
	if (!points.length) return holding(bands, at) || "–";
	const value = holding(points, at);
	return [value == null ? "–" : VALUES[name](value), soft(` / ${VALUES[name](highest(points))}`)];
}

/** @param {number[][]} points */
const highest = points => points.reduce((most, point) => Math.max(most, point[1]), 0);

/** Every other band is lighter, so that two beside each other differ. @param {[number, string][]} bands */
export function bandPaths(bands, end, from, to, top, height) {
	const paths = ["", ""];
	bands.forEach(([at, text], index) => {
		const last = bands[index + 1]?.[0] ?? end;
		if (!text || last < from || at > to) return;
		const left = Number(across(at, from, to)),
			right = Number(across(last, from, to));
		paths[index % 2] += `M${left} ${top}H${Math.max(left + 0.7, right)}v${height}H${left}z`;
	});
	return paths.map((d, index) => svg(`path.band-${index}`, { d }));
}

/** A value holds until the next one. @param {number[][]} points */
export function curvePath(points, end, from, to, top, height) {
	const most = highest(points) || 1;
	const begin = Math.max(
		0,
		points.findLastIndex(point => point[0] <= from),
	);
	let path = "";
	for (let index = begin; index < points.length && points[index][0] <= to; index++) {
		const [at, value] = points[index];
		const y = (top + height - (value / most) * height).toFixed(1);
		path += path ? `H${across(at, from, to)}V${y}` : `M${across(at, from, to)} ${y}`;
	}
	return path && `${path}H${across(Math.min(end, to), from, to)}`;
}

/** @param {LaneTimes["lanes"][0]} lane @param {LaneTimes} times */
function picture({ name, bands, points }, times, from, to, at) {
	if (points.length) {
		const path = curvePath(points, times.to, from, to, 2, HEIGHT - 4);
		return svg("svg.lane-svg", { hide: true }, scaled(path && svg("path.curve", { d: path })), now(from, to, at));
	}
	const long = Math.max(1e-6, to - from);
	const words = bands.flatMap(([begin, text], index) => {
		const left = Math.max(0, (begin - from) / long),
			right = Math.min(1, ((bands[index + 1]?.[0] ?? times.to) - from) / long);
		return text && right - left > wordPart() ? [word(left, right, name === "state" ? sentence(text) : text)] : [];
	});
	return svg(
		"svg.lane-svg",
		{ hide: true },
		scaled(bandPaths(bands, times.to, from, to, 2, HEIGHT - 4)),
		words,
		now(from, to, at),
	);
}
