// A map without tiles: Web Mercator on a canvas.
// Places are in degrees, latitude first; in the projection the world is 1 wide, from west to east
// and from north to south.

import { html, withoutControls } from "./dom.js";
import { counted, distance } from "./words.js";

/** The length of the equator. */
const EQUATOR_METERS = 40_075_016.686;
const EARTH_RADIUS_METERS = 6_371_009;
const RADIANS_PER_DEGREE = Math.PI / 180;
/** The latitude at which Web Mercator ends, in degrees. */
const LATITUDE_MAX = 85.05;

function project(place) {
	const latitude = Math.max(-LATITUDE_MAX, Math.min(LATITUDE_MAX, place[0])) * RADIANS_PER_DEGREE;
	return [(place[1] + 180) / 360, (1 - Math.log(Math.tan(latitude) + 1 / Math.cos(latitude)) / Math.PI) / 2];
}

const unproject = (x, y) => [Math.atan(Math.sinh(Math.PI * (1 - 2 * y))) / RADIANS_PER_DEGREE, x * 360 - 180];

/** The next 1, 2, 5 or 10 times a power of ten. */
function roundStep(value) {
	const power = 10 ** Math.floor(Math.log10(value));
	return [1, 2, 5, 10].find(factor => factor * power >= value * 0.999) * power;
}

/** A map of `data`: see mapData() in guidance.js. Another `key` is another route, which is shown as a whole. */
class WaymarkMap extends HTMLElement {
	data = /** @type {any} */ ({ segments: [], maneuvers: [], waypoints: [] });
	center = [0.5, 0.5];
	scale = 256;
	isFollowing = false;
	isMoved = false;
	fitted = "";
	frame = 0;

	connectedCallback() {
		if (this.canvas) return;
		const button = (text, name, onclick) => html("button", { title: name, label: name, onclick }, text);
		this.followButton = button("◎", "Follow the position", () => this.follow(!this.isFollowing));
		this.canvas = html("canvas", { tabindex: 0, role: "application" });
		this.append(
			this.canvas,
			html(
				"div.map-controls",
				button("+", "Zoom in", () => this.zoom(1.6)),
				button("−", "Zoom out", () => this.zoom(1 / 1.6)),
				button("⤢", "Show the whole route", () => this.fit()),
				this.followButton,
			),
		);
		this.listen(this.canvas);
		new ResizeObserver(() => this.resize()).observe(this);
		this.resize();
	}

	listen(canvas) {
		const pointers = new Map();
		let moved = 0;
		canvas.onpointerdown = event => {
			canvas.setPointerCapture(event.pointerId);
			pointers.set(event.pointerId, event);
			moved = 0;
		};
		canvas.onpointermove = event => {
			const last = pointers.get(event.pointerId);
			if (!last) return;
			const other = [...pointers.values()].find(one => one.pointerId !== event.pointerId);
			const length = one => Math.hypot(one.offsetX - other.offsetX, one.offsetY - other.offsetY);
			if (other) this.zoom(length(event) / Math.max(1, length(last)));
			else this.move(last.offsetX - event.offsetX, last.offsetY - event.offsetY);
			moved += Math.hypot(event.offsetX - last.offsetX, event.offsetY - last.offsetY);
			pointers.set(event.pointerId, event);
		};
		canvas.onpointerup = canvas.onpointercancel = event => {
			pointers.delete(event.pointerId);
			if (event.type === "pointerup" && moved < 4) this.pickAt(event.offsetX, event.offsetY);
		};
		canvas.onwheel = event => {
			// Without it, the page scrolls.
			if (!event.ctrlKey) return;
			event.preventDefault();
			this.zoom(2 ** (-event.deltaY / 240), event.offsetX, event.offsetY);
		};
		canvas.onkeydown = event => {
			const step = event.shiftKey ? 200 : 60;
			const act = {
				ArrowLeft: () => this.move(-step, 0),
				ArrowRight: () => this.move(step, 0),
				ArrowUp: () => this.move(0, -step),
				ArrowDown: () => this.move(0, step),
				"+": () => this.zoom(1.6),
				"-": () => this.zoom(1 / 1.6),
				0: () => this.fit(),
				f: () => this.follow(!this.isFollowing),
				Enter: () => this.pickAt(),
			}[event.key];
			if (!act || event.ctrlKey || event.metaKey || event.altKey) return;
			event.preventDefault();
			act();
		};
	}

	get width() {
		return this.clientWidth || 1;
	}

	get height() {
		return this.clientHeight || 1;
	}

	update(data) {
		this.data = data;
		if (this.fitted !== data.key && this.places().length) {
			this.fitted = data.key;
			this.fit();
		} else if (this.isFollowing) {
			this.follow(true);
		}
		this.draw();
	}

	places() {
		const { segments, waypoints, maneuvers } = this.data;
		return [
			...segments.flatMap(one => one.coordinates),
			...waypoints.map(one => one.at),
			...maneuvers.map(one => one.at),
		];
	}

	fit() {
		const places = this.places().map(project);
		this.isFollowing = this.isMoved = false;
		if (!places.length || this.width < 2) return;
		const bounds = [0, 1].map(axis =>
			places.reduce(([low, high], one) => [Math.min(low, one[axis]), Math.max(high, one[axis])], [1, 0]),
		);
		this.center = bounds.map(([low, high]) => (low + high) / 2);
		const margin = Math.min(48, this.width / 6, this.height / 6);
		this.scale = Math.min(
			2e7,
			...[this.width, this.height].map(
				(size, axis) => (size - 2 * margin) / Math.max(1e-9, bounds[axis][1] - bounds[axis][0]),
			),
		);
		this.draw();
	}

	follow(isFollowing) {
		this.isFollowing = isFollowing;
		if (isFollowing && this.data.position) {
			this.center = project(this.data.position.at);
			this.scale = Math.max(this.scale, 2 ** 22);
			this.isMoved = true;
		}
		this.draw();
	}

	move(x, y) {
		this.isFollowing = false;
		this.isMoved = true;
		this.center = [this.center[0] + x / this.scale, Math.max(0, Math.min(1, this.center[1] + y / this.scale))];
		this.draw();
	}

	/** The place at `x`, `y` stays where it is. */
	zoom(factor, x = this.width / 2, y = this.height / 2) {
		const scale = Math.max(200, Math.min(4e8, this.scale * factor)),
			change = 1 / this.scale - 1 / scale;
		this.center = [this.center[0] + (x - this.width / 2) * change, this.center[1] + (y - this.height / 2) * change];
		this.scale = scale;
		this.isMoved = true;
		this.draw();
	}

	placeAt(x, y) {
		return unproject(
			this.center[0] + (x - this.width / 2) / this.scale,
			this.center[1] + (y - this.height / 2) / this.scale,
		);
	}

	pickAt(x = this.width / 2, y = this.height / 2) {
		this.data.pick?.(this.placeAt(x, y).map(value => Math.round(value * 1e6) / 1e6));
	}

	get ratio() {
		return Math.min(3, devicePixelRatio || 1);
	}

	resize() {
		this.canvas.width = Math.round(this.width * this.ratio);
		this.canvas.height = Math.round(this.height * this.ratio);
		if (!this.isMoved) this.fit();
		this.draw();
	}

	draw() {
		const { segments, maneuvers, waypoints, position, pick } = this.data;
		this.canvas?.setAttribute(
			"aria-label",
			`Map: ${counted(segments.length, "route segment")}, ${counted(maneuvers.length, "maneuver")}, ` +
				`${counted(waypoints.length, "waypoint")}, ` +
				`position ${position ? "derived from the estimates" : "not known"}. ` +
				"Arrow keys move, plus and minus zoom, 0 shows the whole route, F follows" +
				`${pick ? ", Enter takes the place in the middle" : ""}.`,
		);
		this.followButton?.setAttribute("aria-pressed", String(this.isFollowing));
		this.frame ||= requestAnimationFrame(() => {
			this.frame = 0;
			this.paint();
		});
	}

	pixel(place) {
		const at = project(place);
		return [
			(at[0] - this.center[0]) * this.scale + this.width / 2,
			(at[1] - this.center[1]) * this.scale + this.height / 2,
		];
	}

	get pixelsPerMeter() {
		return this.scale / EQUATOR_METERS / Math.cos(unproject(...this.center)[0] * RADIANS_PER_DEGREE);
	}

	paint() {
		const context = (this.context = this.canvas.getContext("2d")),
			style = this.canvas.style;
		this.colors = Object.fromEntries(
			["map", "map-line", "map-text", "map-road", "route", "route-past", "pin", "panel", "text"].map(name => {
				style.color = `var(--${name})`;
				return [name, getComputedStyle(this.canvas).color];
			}),
		);
		context.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
		context.fillStyle = this.colors.map;
		context.fillRect(0, 0, this.width, this.height);
		context.lineJoin = context.lineCap = "round";
		this.font(12);
		this.paintBasemap();
		this.paintGraticule();
		this.data.waypoints.forEach(one => this.paintThreshold(one));
		this.paintRoute();
		this.paintManeuvers();
		this.data.waypoints.forEach(one => this.paintWaypoint(one));
		this.paintPosition();
		this.paintScale();
	}

	font(size, weight = 400) {
		this.context.font = `${weight} ${size}px system-ui, "DejaVu Sans", sans-serif`;
	}

	stroke(color, width, dash = []) {
		Object.assign(this.context, { strokeStyle: this.colors[color], lineWidth: width });
		this.context.setLineDash(dash);
		this.context.stroke();
		this.context.setLineDash([]);
	}

	fill(color, alpha = 1) {
		Object.assign(this.context, { fillStyle: this.colors[color], globalAlpha: alpha });
		this.context.fill();
		this.context.globalAlpha = 1;
	}

	trace(places) {
		this.context.beginPath();
		for (const place of places) this.context.lineTo(...this.pixel(place));
	}

	circle(x, y, radius) {
		this.context.beginPath();
		this.context.arc(x, y, radius, 0, 7);
	}

	/** GeoJSON has the longitude first. */
	paintBasemap() {
		for (const { geometry } of this.data.basemap?.features ?? []) {
			const { type, coordinates } = geometry ?? {};
			const lines =
				type === "LineString"
					? [coordinates]
					: type === "MultiPolygon"
						? coordinates.flat()
						: /LineString|Polygon/.test(type)
							? coordinates
							: [];
			for (const line of lines) {
				this.trace(line.map(one => [one[1], one[0]]));
				if (type.endsWith("Polygon")) this.fill("map-line");
				else this.stroke("map-road", 3);
			}
		}
	}

	paintGraticule() {
		const { context } = this,
			step = roundStep((110 / this.scale) * 360),
			digits = Math.max(0, Math.ceil(-Math.log10(step)));
		const [top, left] = this.placeAt(0, 0),
			[bottom, right] = this.placeAt(this.width, this.height);
		const line = (index, x, y, left, top) => {
			context.moveTo(x, y);
			context.lineTo(x || this.width, y || this.height);
			context.fillText(`${(index * step).toFixed(digits)}°`, left, top);
		};
		context.fillStyle = this.colors["map-text"];
		context.beginPath();
		for (let index = Math.ceil(left / step); index * step < right; index++) {
			const [x] = this.pixel([0, index * step]);
			line(index, x, 0, x + 3, this.height - 5);
		}
		for (let index = Math.ceil(bottom / step); index * step < top; index++) {
			const y = this.pixel([index * step, 0])[1];
			line(index, 0, y, 4, y - 4);
		}
		this.stroke("map-line", 1);
	}

	/** A segment that is not the current one is told by its dashes, not by its colour. */
	paintRoute() {
		for (const { coordinates, isCurrent } of this.data.segments) {
			this.trace(coordinates);
			this.stroke("panel", 8);
			this.stroke("route", isCurrent ? 5 : 3, isCurrent ? [] : [9, 7]);
		}
		this.trace(this.data.position?.traveled ?? []);
		this.stroke("route-past", 5);
	}

	paintManeuvers() {
		const { context } = this,
			taken = [],
			order = ["current", "upcoming", "past"];
		context.textAlign = "center";
		this.font(11, 700);
		for (const { at, label, state } of [...this.data.maneuvers].sort(
			(one, other) => order.indexOf(one.state) - order.indexOf(other.state),
		)) {
			const [x, y] = this.pixel(at),
				isCurrent = state === "current";
			const isSmall = taken.some(one => Math.hypot(x - one[0], y - one[1]) < 20);
			this.circle(x, y, isSmall ? 4 : isCurrent ? 12 : 9);
			this.fill(isCurrent ? "text" : "panel");
			this.stroke(state === "past" ? "route-past" : "text", 2);
			if (isSmall) continue;
			taken.push([x, y]);
			context.fillStyle = this.colors[isCurrent ? "panel" : "text"];
			context.fillText(label, x, y + 4);
		}
		context.textAlign = "start";
	}

	paintThreshold({ at, thresholdMeters }) {
		const radius = (thresholdMeters ?? 0) * this.pixelsPerMeter;
		if (radius < 3 || radius > 4 * (this.width + this.height)) return;
		this.circle(...this.pixel(at), radius);
		this.fill("pin", 0.1);
		this.stroke("pin", 1.5, [4, 4]);
	}

	paintWaypoint({ at, kind, name, entryPoints }) {
		const { context } = this,
			[x, y] = this.pixel(at),
			isDot = kind === "origin";
		for (const entry of entryPoints ?? []) {
			const [left, top] = this.pixel(entry);
			context.beginPath();
			context.rect(left - 4, top - 4, 8, 8);
			this.stroke("pin", 2);
		}
		this.circle(x, isDot ? y : y - 20, isDot ? 6 : 10);
		if (!isDot) {
			context.moveTo(x - 9, y - 16);
			context.lineTo(x, y);
			context.lineTo(x + 9, y - 16);
		}
		this.fill(isDot ? "text" : "pin");
		context.beginPath();
		if (kind === "stop") context.rect(x - 5, y - 22, 10, 4);
		else if (!isDot) context.arc(x, y - 20, 4, 0, 7);
		this.fill("panel");
		this.label(name, x + 14, isDot ? y + 4 : y - 17);
	}

	label(name, x, y) {
		const { context } = this,
			text = withoutControls(name.length > 32 ? `${name.slice(0, 31)}…` : name);
		this.font(12, 600);
		const width = context.measureText(text).width,
			left = x + width > this.width - 4 ? x - width - 28 : x;
		Object.assign(context, { lineWidth: 4, strokeStyle: this.colors.map, fillStyle: this.colors.text });
		context.strokeText(text, left, y);
		context.fillText(text, left, y);
	}

	/** Hollow, because it is derived. */
	paintPosition() {
		const { position } = this.data;
		if (!position) return;
		this.circle(...this.pixel(position.at), 9);
		this.fill("panel", 0.75);
		this.stroke("route", 3.5);
	}

	paintScale() {
		const { context } = this,
			meters = roundStep(60 / this.pixelsPerMeter),
			length = meters * this.pixelsPerMeter,
			x = this.width - 14,
			y = this.height - 26;
		context.beginPath();
		for (const [dx, dy] of [
			[length, 5],
			[length, 0],
			[0, 0],
			[0, 5],
		])
			context.lineTo(x - dx, y - dy);
		this.stroke("text", 2);
		Object.assign(context, { textAlign: "right", fillStyle: this.colors.text });
		context.fillText(distance(meters), x, y - 8);
		context.textAlign = "start";
	}
}

customElements.define("wm-map", WaymarkMap);

function meters(from, to) {
	const x = (to[1] - from[1]) * RADIANS_PER_DEGREE * Math.cos(((from[0] + to[0]) / 2) * RADIANS_PER_DEGREE);
	return Math.hypot(x, (to[0] - from[0]) * RADIANS_PER_DEGREE) * EARTH_RADIUS_METERS;
}

export function beginningOf(line, share) {
	const lengths = line.map((place, index) => (index ? meters(line[index - 1], place) : 0));
	let rest = lengths.reduce((sum, length) => sum + length, 0) * share;
	const index = lengths.findIndex(length => (rest -= length) < 0);
	return index < 0 ? line : line.slice(0, index);
}
