// The time line: the moments of a recording, or of what is kept of a gateway, and playing.

import { hidden, hint, html, show, soft, svg } from "./dom.js";
import { across, bandPaths, curvePath, kindOf, Lanes } from "./lanes.js";
import { get } from "./net.js";
import { anchor, go, isKnown, place, select, timeAt } from "./parts.js";
import { clock, offset, sentence } from "./words.js";

/** How often playing shows another moment. */
const STEP_MILLISECONDS = 250;
/** How often moments that happened meanwhile are asked for. */
const ASK_AGAIN_MILLISECONDS = 4000;
const MOMENTS_MAX = 5000;

export class Timeline {
	/** @type {Context} */
	context = null;
	/** @type {Pick<Answer.Moments, "moments">} */
	moments = null;
	/** How much crossed in equal parts of a time; not of a vehicle. */
	/** @type {Pick<Answer.Moments, "from" | "to" | "density">} */
	density = { from: 0, to: 0, density: [] };
	/** Up to where moments are known, and when they were asked for. */
	known = 0;
	asked = 0;
	identity = "";
	speed = 1;
	timer = 0;
	problem = "";
	/** @type {number | null} */
	dragged = null;

	constructor(element) {
		this.element = element;
		this.lanes = new Lanes(this);
		// The end of a view, and what has the focus, are above it, however high it is.
		new ResizeObserver(() => {
			const height = `${element.offsetHeight + 16}px`;
			document.body.style.marginBottom = height;
			document.documentElement.style.scrollPaddingBottom = height;
		}).observe(element);
	}

	get range() {
		const { source } = this.context;
		return {
			from: source?.from ?? 0,
			to: Math.max(source?.to ?? 0, source?.kind === "live" ? this.context.newest : 0),
		};
	}

	get at() {
		return place.route.at == null ? this.range.to : Number(place.route.at);
	}

	update(context) {
		this.context = context;
		if (!context.source) return show(this.element);
		const identity = [context.source.source, context.route.vehicle].join(" ");
		if (identity !== this.identity) {
			this.identity = identity;
			this.moments = null;
			this.density = { from: 0, to: 0, density: [] };
			Object.assign(this.lanes, { window: null, newest: 0 });
			this.load();
		} else if (context.isLive && this.moments && Date.now() - this.asked > ASK_AGAIN_MILLISECONDS) {
			this.load(this.known);
		}
		this.lanes.update();
		if (!context.isBusy) this.dropDrag();
		if (context.route.at == null && context.source.kind === "live") this.stop();
		return this.draw();
	}

	/** The moments from a time on; the newest are kept. */
	async load(from) {
		const { source, route } = this.context,
			identity = this.identity;
		const isUpdate = from != null;
		this.asked = Date.now();
		try {
			for (let count = 0; count < MOMENTS_MAX && (!count || from != null);) {
				const part = await get("moments", { source: source.source, vehicle: route.vehicle, from });
				if (identity !== this.identity) return;
				const all = [...(this.moments?.moments ?? []).filter(one => one.at < from), ...part.moments];
				this.moments = { moments: all.slice(-MOMENTS_MAX) };
				if (from == null) this.density = part;
				this.known = part.to;
				count += part.moments.length || 1;
				from = part.next;
				this.draw();
			}
			// The bytes of a gateway's history change as a whole: it grows at one end, and is forgotten at the other.
			if (isUpdate && !route.vehicle) {
				const question = { source: source.source, marks: 0 };
				const density = await get("moments", question);
				if (identity === this.identity) this.density = density;
			}
		} catch {
			/* The line works without marks. */
		}
		this.draw();
	}

	go(at, replaces = false) {
		const { from, to } = this.range;
		go({ at: Math.max(from, Math.min(to, Math.round(at * 1e6) / 1e6)) }, replaces);
	}

	/** One question at a time; the last place counts. */
	drag(at) {
		this.dragged = at;
		if (!this.context.isBusy) this.dropDrag();
	}

	dropDrag() {
		const at = this.dragged;
		this.dragged = null;
		if (at != null) this.go(at, true);
	}

	play() {
		if (this.timer) return this.stop();
		// Now stands still: the page stays at its moment.
		if (this.context.source.kind === "live" && place.route.at == null) return this.go(this.at);
		if (this.at >= this.range.to) this.go(this.range.from);
		this.timer = window.setInterval(() => {
			// A step waits for the answer to the one before.
			if (this.context.isBusy) return;
			if (this.at >= this.range.to) this.stop();
			else this.go(this.at + (this.speed * STEP_MILLISECONDS) / 1000, true);
		}, STEP_MILLISECONDS);
		return this.draw();
	}

	stop() {
		clearInterval(this.timer);
		this.timer = 0;
		if (this.context) this.draw();
	}

	async step(way) {
		const { source, route } = this.context,
			at = this.at;
		// The server looks at so many entries at once.
		const ask = async bound => {
			const { entries, next } = await get("entries", {
				source: source.source,
				vehicle: route.vehicle,
				kind: "frame",
				limit: 1,
				text: 0,
				...bound,
			});
			return entries.length || !next ? entries[0] : ask(bound.after ? { after: next } : { before: next });
		};
		try {
			let found = await ask({ to: at });
			// Frames to several endpoints have the same time.
			if (way === "before") while (found?.at === at) found = await ask({ before: found.entry });
			else
				do found = await ask({ after: found?.entry ?? "0-0-0" });
				while (found?.at === at);
			this.problem = found ? "" : "There is no further frame.";
			if (found && this.at === at) go({ at: found.at });
		} catch (error) {
			this.problem = error.message;
		}
		this.draw();
	}

	/** Seconds of "63.25", "1:03" or a time of day. */
	parse(text) {
		const parts = text.trim().split(":").map(Number);
		if (!text.trim() || parts.some(Number.isNaN) || parts.length > 3) return;
		const seconds = parts.reduce((sum, part) => sum * 60 + part, 0);
		if (parts.length < 3 || this.context.isVirtual) return seconds;
		const begin = Date.parse(this.context.source.begin),
			day = new Date(begin);
		day.setHours(parts[0], parts[1], 0, parts[2] * 1000);
		const found = (day.getTime() - begin) / 1000;
		return found + Math.floor((this.range.to - found) / 86_400) * 86_400;
	}

	text(at) {
		const begin = Date.parse(this.context.source.begin);
		return this.context.isVirtual || Number.isNaN(begin) ? offset(at) : clock(begin + at * 1000);
	}

	/** Marks, and below them the maneuvers and the publications of a vehicle, or all bytes that crossed. */
	picture() {
		const { from, to } = this.range,
			{ window, all } = this.lanes;
		const { density, from: first, to: last } = this.density;
		const times = this.context.route.vehicle ? all.times : null;
		const lane = name => times?.lanes.find(lane => lane.name === name);
		const step = (last - first) / Math.max(1, density.length);
		const rate = times
			? (lane("rate")?.points ?? [])
			: this.context.route.vehicle
				? []
				: density.map((count, index) => [first + index * step, count]);
		const path = curvePath(rate, times?.to ?? last, from, to, 16, 14);
		return svg(
			"svg.marks",
			{ viewBox: "0 0 1000 30", preserveAspectRatio: "none", hide: true },
			times && bandPaths(lane("maneuver")?.bands ?? [], times.to, from, to, 16, 14),
			path && svg("path.curve", { d: path }),
			(this.moments?.moments ?? []).map(moment =>
				svg(`path.mark-${kindOf(moment)}`, { d: `M${across(moment.at, from, to)} 2 V14`, "stroke-width": 3 }),
			),
			window &&
				svg("path.zoomed", {
					d: `M${across(window.from, from, to)} 1V29H${across(window.to, from, to)}V1z`,
				}),
		);
	}

	draw() {
		const { source, route, isVirtual } = this.context,
			{ from, to } = this.range,
			at = this.at;
		const button = (text, name, action, more = {}) =>
			html("button.small", { label: name, title: name, onclick: action, ...more }, text);
		const isLive = source.kind === "live",
			isPlaying = !!this.timer || (isLive && route.at == null);
		const nowText = route.at == null && isLive && isKnown(source) ? "now " : "";
		show(
			this.element,
			html(
				"div.timeline-controls",
				button("◂ frame", "Frame before", () => this.step("before")),
				button(isPlaying ? "❚❚ Pause" : "▶ Play", isPlaying ? "Pause" : "Play", () => this.play(), {
					pressed: isPlaying,
				}),
				button("frame ▸", "Next frame", () => this.step("after")),
				html(
					"label",
					hidden("Speed"),
					select(
						"speed",
						[0.1, 0.5, 1, 2, 5, 10, 60, 600].map(one => [String(one), `×${one}`]),
						String(this.speed),
						{
							onchange: event => {
								this.speed = Number(event.target.value);
							},
						},
					),
				),
				isLive && button("● Live", "Go to now", () => go({ at: null }), { pressed: route.at == null }),
				html(
					"form.goto",
					{
						onsubmit: event => {
							event.preventDefault();
							const found = this.parse(event.target.elements.time.value);
							this.problem =
								found == null
									? "Time: must be seconds, minutes:seconds, or a time of day"
									: found < from || found > to
										? `Time: there is history from ${this.text(from)} to ${this.text(to)}`
										: "";
							if (!this.problem && found != null) {
								event.target.reset();
								this.go(found);
							}
							this.draw();
						},
					},
					html(
						"label",
						hidden("Go to a time"),
						html("input", {
							keep: 1,
							name: "time",
							placeholder: isVirtual ? "1:03.5" : "12:03:07 local",
							autocomplete: "off",
						}),
					),
					html("button.small", "Go"),
				),
				html("output.time", nowText, this.text(at), soft(` +${offset(at)}`)),
				anchor(isVirtual ? { at } : { at: null, time: timeAt(source, at) }, "Link to this moment"),
			),
			html(
				"div.scrubber",
				this.picture(),
				html("input", {
					type: "range",
					min: from,
					max: to,
					step: "any",
					value: this.dragged ?? at,
					label: "Moment",
					"aria-valuetext": this.text(at),
					oninput: event => this.drag(Number(event.target.value)),
					onkeydown: event => {
						const step = { ArrowLeft: -1, ArrowRight: 1, PageUp: 30, PageDown: -30 }[event.key];
						if (!step) return;
						event.preventDefault();
						this.go(this.at + step * (event.shiftKey ? 0.1 : 1), true);
					},
				}),
			),
			this.problem && html("p.problem", { role: "alert" }, this.problem),
			route.vehicle &&
				html(
					"details",
					{ key: "lanes", ontoggle: () => this.draw() },
					html("summary", "Lanes over time"),
					this.element.querySelector("[data-key=lanes][open]") && this.lanes.draw(),
				),
			html(
				"details",
				{ key: "moments", ontoggle: () => this.draw() },
				html("summary", "Moments"),
				this.element.querySelector("[data-key=moments][open]") &&
					hint(
						route.vehicle
							? "Below the marks: the maneuvers, and publications each second."
							: "Below the marks: bytes that crossed.",
					),
				this.element.querySelector("[data-key=moments][open]") &&
					html(
						"ol.moments",
						(this.moments?.moments ?? []).map((moment, index) =>
							html(
								"li",
								{ key: index },
								anchor({ at: moment.at }, this.text(moment.at)),
								` ${[sentence(moment.lane), moment.verdict, moment.text].filter(Boolean).join(": ")}`,
							),
						),
					),
			),
		);
	}
}
