// Lanes over time: what a vehicle was told, as bands of words and curves of numbers.

import { hint, html, soft, svg } from "./dom.js";
import { get } from "./net.js";
import { sentence } from "./words.js";

const COLUMNS = 400;
/** Parts of a history that one drawing asks for. */
const PARTS_MAX = 200;
const BANDS = ["maneuver", "state", "lanes", "alert", "request", "connection"];
/** The units of curves; of others, milliseconds. */
const UNITS = { distanceLeft: " m", timeLeft: " s", speedLimit: "", rate: "/s" };
const SHORTEST_SECONDS = 0.5;

export class Lanes {
	/** @type {{ from: number, to: number } | null} */
	window = null;
	/** @type {Answer.Lanes | null} */
	data = null;
	identity = "";
	problem = "";
	isLoading = false;
	off = new Set();
	/** Where a drag began. @type {{ x: number, from: number, to: number } | null} */
	dragged = null;

	/** @param {any} line The time line. */
	constructor(line) {
		this.line = line;
	}

	get shown() {
		return this.window ?? this.line.range;
	}

	update() {
		const { source, route } = this.line.context;
		const { from, to } = this.shown;
		const identity = [source.source, route.vehicle, from, this.window ? to : Math.floor(to / 5)].join(" ");
		if (identity === this.identity || this.isLoading || this.dragged) return;
		this.identity = identity;
		this.load({ source: source.source, id: route.vehicle, from, to });
	}

	/** Part by part: the server answers others in between. */
	async load(question) {
		const named = [question.source, question.id].join();
		/** @type {Answer.Lanes | null} */
		let all = null;
		let after;
		this.isLoading = true;
		try {
			for (let count = 0; count < PARTS_MAX; count++) {
				const bounds = { from: question.from.toFixed(6), to: question.to.toFixed(6) };
				const part = await get("lanes", { ...question, ...bounds, columns: COLUMNS, after });
				all = all ? join(all, part) : part;
				after = part.next;
				if (!after) break;
			}
			if (all) all.truncated = !!after;
			this.problem = "";
		} catch (error) {
			this.problem = error.message;
		}
		this.isLoading = false;
		const { source, route } = this.line.context;
		if (named !== [source?.source, route.vehicle].join()) this.identity = "";
		else if (all) this.data = all;
		this.line.draw();
	}

	/** A factor below 1 shows less, around the moment; `by` moves by a part of what is shown. */
	zoom(factor, by = 0) {
		const { from, to } = this.line.range,
			now = this.shown;
		const length = Math.min(to - from, Math.max(SHORTEST_SECONDS, (now.to - now.from) * factor));
		const isInside = this.line.at >= now.from && this.line.at <= now.to;
		const middle = by || !isInside ? (now.from + now.to) / 2 : this.line.at;
		const begin = Math.max(from, Math.min(to - length, middle - length / 2 + by * length));
		this.window = length >= to - from ? null : { from: begin, to: begin + length };
		this.line.draw();
	}

	/** @param {PointerEvent} event */
	press(event) {
		this.dragged = { x: event.clientX, ...this.shown };
	}

	/** @param {any} event */
	move(event) {
		if (!this.dragged || !this.window) return;
		const { x, from, to } = this.dragged,
			width = event.currentTarget.clientWidth || 1;
		const by = ((x - event.clientX) / width) * (to - from),
			range = this.line.range;
		const begin = Math.max(range.from, Math.min(range.to - (to - from), from + by));
		this.window = { from: begin, to: begin + to - from };
		this.line.draw();
	}

	/** A press without moving goes there. @param {any} event */
	release(event) {
		const { dragged } = this;
		this.dragged = null;
		if (dragged && Math.abs(event.clientX - dragged.x) < 4) {
			const { left, width } = event.currentTarget.getBoundingClientRect(),
				{ from, to } = this.shown;
			this.line.go(from + ((event.clientX - left) / width) * (to - from));
		}
		this.line.draw();
	}

	draw() {
		this.update();
		const { from, to } = this.shown,
			data = this.data && {
				...this.data,
				bands: [...this.data.bands, ...bandsOf(this.line.moments?.moments ?? [])],
			},
			at = this.line.at;
		const button = (text, name, action) =>
			html("button.small", { label: name, title: name, onclick: action }, text);
		const curves = data ? [...data.curves, rate(data)] : [];
		const names = [...BANDS, ...curves.map(curve => curve.name)].filter(name => !this.off.has(name));
		const isOn = name => names.includes(name);
		return html(
			"div.over-time",
			html(
				"div.timeline-controls",
				button("+", "Shorter time", () => this.zoom(0.5)),
				button("−", "Longer time", () => this.zoom(2)),
				button("◂", "Earlier", () => this.zoom(1, -0.5)),
				button("▸", "Later", () => this.zoom(1, 0.5)),
				button("All", "Show all of the time", () => this.zoom(Infinity)),
				soft(`${this.line.text(from)} – ${this.line.text(to)}`),
			),
			this.problem && html("p.problem", { role: "alert" }, this.problem),
			data?.truncated && hint("The end is left out: zoom in to see it."),
			!data && !this.problem && hint("Loading lanes …"),
			html(
				"div.lane-list",
				[...BANDS.map(name => ({ name, points: null })), ...curves].map(lane =>
					html(
						"div.time-lane",
						{ key: lane.name },
						html(
							"button.small.lane-name",
							{
								pressed: isOn(lane.name),
								onclick: () => {
									if (!this.off.delete(lane.name)) this.off.add(lane.name);
									this.line.draw();
								},
							},
							sentence(lane.name),
							isOn(lane.name) &&
								soft(` ${lane.points ? valueAt(lane, at) : wordAt(data, lane.name, at)}`),
						),
						isOn(lane.name) &&
							data &&
							html(
								"div.lane-picture",
								{
									onpointerdown: event => this.press(event),
									onpointermove: event => this.move(event),
									onpointerup: event => this.release(event),
									onpointercancel: () => {
										this.dragged = null;
									},
								},
								picture(data, lane, from, to, at),
							),
					),
				),
			),
		);
	}
}

/** @param {Answer.Lanes} all @param {Answer.Lanes} part */
function join(all, part) {
	// A part begins with what holds.
	const words = new Map(all.bands.map(band => [band.lane, band.text]));
	const begun = part.bands.filter(band => {
		const isSame = words.get(band.lane) === band.text;
		words.set(band.lane, band.text);
		return !isSame;
	});
	const names = new Set([...all.curves, ...part.curves].map(curve => curve.name));
	const points = (lanes, name) => lanes.curves.find(curve => curve.name === name)?.points ?? [];
	return {
		...part,
		bands: [...all.bands, ...begun],
		curves: [...names].map(name => ({ name, points: [...points(all, name), ...points(part, name)] })),
		publications: all.publications.map((count, index) => count + part.publications[index]),
	};
}

/**
 * Bands from the marks of the time line: a request is open until it ends, a connection has its last event.
 * @param {Answer.Moment[]} moments @returns {Answer.Band[]}
 */
function bandsOf(moments) {
	const open = new Map();
	return moments.flatMap(({ lane, at, text, event, requestID }) => {
		if (lane === "connection") return [{ lane, at, text }];
		if (lane !== "request") return [];
		if (event === "requestEnded") open.delete(requestID);
		else open.set(requestID, text);
		return [{ lane, at, text: [...open.values()].join("; ") }];
	});
}

/** Publications a second. @param {Answer.Lanes} data */
function rate({ publications, from, to }) {
	const length = Math.max(1e-6, to - from) / publications.length;
	return { name: "rate", points: publications.map((count, index) => [from + index * length, count / length]) };
}

const newest = (list, at, time) => list.filter(one => time(one) <= at).at(-1);

/** @param {Answer.Lanes | null} data */
const wordAt = (data, name, at) =>
	newest(data?.bands.filter(band => band.lane === name) ?? [], at, band => band.at)?.text || "–";

function valueAt({ name, points }, at) {
	const value = newest(points, at, point => point[0])?.[1];
	return value == null ? "–" : `${Math.round(value * 10) / 10}${UNITS[name] ?? " ms"}`;
}

/** @param {Answer.Lanes} data */
function picture(data, { name, points }, from, to, at) {
	const across = time => Math.max(-10, Math.min(1010, ((time - from) / Math.max(1e-6, to - from)) * 1000));
	const bands = data.bands.filter(band => band.lane === name);
	const most = Math.max(1e-9, ...(points ?? []).map(point => point[1]));
	return svg(
		`svg.lane-svg`,
		{ viewBox: "0 0 1000 24", preserveAspectRatio: "none", hide: true },
		points
			? svg("polyline", {
					points: points
						.map(([x, y]) => `${across(x).toFixed(1)},${(23 - (y / most) * 21).toFixed(1)}`)
						.join(" "),
				})
			: bands.map((band, index) => {
					const end = bands[index + 1]?.at ?? data.to;
					const [left, right] = [across(band.at), across(end)];
					return (
						band.text &&
						svg(
							`rect.band-${index % 2}`,
							{ x: left.toFixed(1), y: 3, width: Math.max(0.5, right - left).toFixed(1), height: 18 },
							svg("title", band.text),
						)
					);
				}),
		svg("path.lane-now", { d: `M${across(at).toFixed(1)} 0 V24` }),
	);
}
