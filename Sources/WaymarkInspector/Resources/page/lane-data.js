// Lanes of what a vehicle was told over a time: asked for part by part, and thinned to the columns of a drawing.

import { get } from "./net.js";

const COLUMNS_MAX = 800;
/** How often what is new is asked for. */
const ASK_AGAIN_MILLISECONDS = 1000;

/** Seconds of a column: 1, 2 or 5 of a decimal place, so that columns rarely change while time goes on. */
function stepOf(length) {
	const least = Math.max(0.001, length / COLUMNS_MAX),
		place = 10 ** Math.floor(Math.log10(least));
	return [1, 2, 5, 10].map(one => one * place).find(step => step > least * 0.999) ?? least;
}

/** @param {{ name: string, endpoint?: string }} lane */
const keyOf = ({ name, endpoint }) => `${name} ${endpoint ?? ""}`;

export class LaneData {
	/** @type {LaneTimes | null} */
	times = null;
	problem = "";
	isLoading = false;
	asked = 0;
	identity = "";
	timer = 0;

	constructor(redraw) {
		this.redraw = redraw;
	}

	/**
	 * Loads what is missing of a time. What is known is kept, and only what is new is asked for.
	 * @param {{ source: string, id: string, from: number, to: number }} wanted
	 */
	update(wanted) {
		const { source, id, from, to } = wanted,
			identity = `${source} ${id}`;
		if (identity !== this.identity) Object.assign(this, { identity, times: null, problem: "", asked: 0 });
		const { times } = this,
			step = stepOf(to - from);
		// A zoomed time needs finer columns, an earlier one other entries.
		const isKnown = times && times.step <= step * 1.001 && times.from <= from + step && times.to >= from;
		const wait = this.asked + ASK_AGAIN_MILLISECONDS - Date.now();
		if (this.isLoading || (isKnown && to - times.to < step)) return;
		if (wait > 0 && (isKnown || this.problem)) {
			clearTimeout(this.timer);
			if (isKnown) this.timer = window.setTimeout(this.redraw, wait);
			return;
		}
		this.load(wanted, isKnown ? thinned(times, from, step) : null, step);
	}

	/**
	 * @param {{ source: string, id: string, from: number, to: number }} wanted
	 * @param {LaneTimes | null} times What is known of it.
	 */
	async load({ source, id, from, to }, times, step) {
		const { identity } = this;
		this.isLoading = true;
		this.asked = Date.now();
		// The columns of a later question are those of the first one.
		const begin = times ? times.from + Math.max(0, Math.floor((times.to - times.from) / step)) * step : from;
		const columns = Math.max(1, Math.ceil((to - begin) / step - 1e-6));
		try {
			for (let part; !part || part.truncated;) {
				part = await get("lanes", {
					source,
					id,
					from: (Math.ceil(begin * 1e6) / 1e6).toFixed(6),
					to: (begin + columns * step).toFixed(6),
					columns,
					after: times?.last,
				});
				if (identity !== this.identity) break;
				times = joined(times ?? { from, to: from, step, last: "", isSampled: false, lanes: [] }, part);
				Object.assign(this, { times, problem: "" });
				this.redraw();
			}
		} catch (error) {
			// Lanes that are no longer kept are asked for anew.
			if (identity === this.identity) Object.assign(this, { times: null, problem: error.message });
		}
		this.isLoading = false;
		this.redraw();
	}
}

/**
 * The lowest, the highest and the last value of each column; of the rate, the sum of its parts.
 * @param {number[][]} points
 */
function thin(points, name, from, step, old = step) {
	/** @type {number[][][]} */
	const columns = [];
	let last = -1;
	for (const point of points) {
		const column = Math.floor((point[0] - from) / step + 1e-3),
			own = columns.at(-1);
		const value = name === "rate" ? [from + column * step, (point[1] * old) / step] : point;
		if (!own || column !== last) columns.push([value, value, value]);
		else if (name === "rate") own[0] = own[1] = own[2] = [value[0], own[2][1] + value[1]];
		else {
			if (value[1] < own[0][1]) own[0] = value;
			if (value[1] >= own[1][1]) own[1] = value;
			own[2] = value;
		}
		last = column;
	}
	return columns.flatMap(own => [...new Set(own)].sort((a, b) => a[0] - b[0]));
}

/**
 * With wider columns, and without what is earlier than `from`, but with what holds then.
 * @param {LaneTimes} times @returns {LaneTimes}
 */
function thinned(times, from, step) {
	const begin = times.from + Math.max(0, Math.floor((from - times.from) / times.step)) * times.step;
	if (begin === times.from && step === times.step) return times;
	const lanes = times.lanes.map(lane => {
		const first = list =>
			Math.max(
				0,
				list.findLastIndex(([at]) => at <= begin),
			);
		/** @type {LaneTimes["lanes"][0]} */
		const kept = { ...lane, bands: [], points: lane.points.slice(first(lane.points)) };
		for (const band of lane.bands.slice(first(lane.bands))) {
			const column = Math.floor((band[0] - begin) / step),
				before = kept.bands.at(-1);
			if (before && Math.floor((before[0] - begin) / step) === column) kept.bands.pop();
			kept.bands.push(band);
		}
		kept.points = thin(kept.points, lane.name, begin, step, times.step);
		return kept;
	});
	return { ...times, from: begin, step, lanes };
}

/**
 * A part begins with what holds; a lane that it does not have has ended.
 * @param {LaneTimes} times @param {Answer.Lanes} part @returns {LaneTimes}
 */
function joined(times, part) {
	const lanes = new Map(times.lanes.map(lane => [keyOf(lane), { ...lane, bands: [...lane.bands] }]));
	const laneOf = (name, endpoint) => {
		const key = keyOf({ name, endpoint });
		if (!lanes.has(key)) lanes.set(key, { name, endpoint, bands: [], points: [] });
		return /** @type {LaneTimes["lanes"][0]} */ (lanes.get(key));
	};
	const told = new Set();
	for (const { lane: name, endpoint, at, text } of part.bands) {
		const { bands } = laneOf(name, endpoint);
		told.add(bands);
		if ((bands.at(-1)?.[1] ?? "") !== text) bands.push([at, text]);
	}
	for (const { bands } of lanes.values()) if (!told.has(bands) && bands.at(-1)?.[1]) bands.push([times.to, ""]);
	for (const { name, endpoint, points } of part.curves) {
		const lane = laneOf(name, endpoint);
		// The last column alone can have points of both.
		const tail = thin([...lane.points.slice(-3), ...points], name, times.from, times.step);
		lane.points = [...lane.points.slice(0, -3), ...tail];
	}
	return {
		...times,
		to: Math.max(times.to, part.to),
		last: part.last,
		isSampled: times.isSampled || part.sampled,
		lanes: [...lanes.values()],
	};
}
