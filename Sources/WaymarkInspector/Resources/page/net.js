// Talks to the server of this page alone.

import { Hub, SIGN_MILLISECONDS } from "./hub.js";

export class Refusal extends Error {
	constructor(status, error) {
		super(error.field ? `${error.field}: ${error.reason}` : (error.reason ?? `status ${status}`));
		this.status = status;
	}
}

let clockOffset = 0;

export const now = () => Date.now() + clockOffset;

function readClock(answer) {
	const read = Date.parse(answer?.now ?? "");
	if (!Number.isNaN(read)) clockOffset = read - Date.now();
}

/** @returns {Promise<any>} */
async function ask(path, options) {
	let response;
	try {
		response = await fetch(path, { credentials: "same-origin", cache: "no-store", ...options });
	} catch (error) {
		if (error.name === "AbortError") throw error;
		throw new Refusal(0, { reason: "waymark inspect does not answer: it has ended, or a tunnel is closed" });
	}
	const text = response.status === 204 ? "" : await response.text();
	let body = {};
	try {
		if (text) body = JSON.parse(text);
	} catch {
		throw new Refusal(response.status, { reason: text.slice(0, 200) });
	}
	if (!response.ok) throw new Refusal(response.status, body.error ?? {});
	readClock(body);
	return body;
}

export function query(parameters) {
	const known = Object.entries(parameters).filter(([, value]) => value != null && value !== "");
	return known.length ? `?${new URLSearchParams(known.map(([key, value]) => [key, String(value)]))}` : "";
}

/**
 * @template {keyof Answers} Name
 * @param {Name} name @param {object} [parameters] @param {AbortSignal} [signal] @returns {Promise<Answers[Name]>}
 */
export const get = (name, parameters = {}, signal) => ask(`/api/${name}${query(parameters)}`, { signal });

/** @returns {Promise<any>} */
export const post = (path, body) =>
	ask(path, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) });

export const begin = token => post("/session", { token });

/** A path to the stream's worker, or the stream itself where a browser has no such workers. */
function openHub(receive) {
	if (typeof SharedWorker === "undefined") {
		const hub = new Hub();
		return views => hub.want(receive, views);
	}
	const { port } = new SharedWorker("/page/stream-worker.js", { type: "module", name: "waymark" });
	port.onmessage = ({ data }) => receive(data);
	return views => port.postMessage(views);
}

/** What this window wants of the stream of all windows. A window that is not visible wants nothing. */
export class Stream {
	/** @type {string[]} */
	views = [];

	constructor(deliver, tell) {
		this.tell = tell;
		this.want = openHub(({ state, name, data }) => {
			if (!this.isWanting) return;
			if (state) return tell(state);
			readClock(data);
			// The stream may still be that of the view before.
			if (data.view == null || this.views.includes(data.view)) deliver(name, data);
		});
		document.addEventListener("visibilitychange", () => this.update());
		addEventListener("pagehide", () => this.want([]));
		addEventListener("pageshow", event => event.persisted && this.update());
		setInterval(() => this.isWanting && this.want(this.views), SIGN_MILLISECONDS);
	}

	get isWanting() {
		return this.views.length > 0 && !document.hidden;
	}

	show(views) {
		if (views.join() === this.views.join()) return;
		this.views = views;
		this.update();
	}

	update() {
		this.tell(!this.views.length ? "off" : document.hidden ? "paused" : "opening");
		this.want(this.isWanting ? this.views : []);
	}
}
