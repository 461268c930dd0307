// Talks to the server of this page alone.

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

export const get = (name, parameters = {}, signal) => ask(`/api/${name}${query(parameters)}`, { signal });

export const post = (path, body) =>
	ask(path, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) });

export const begin = token => post("/session", { token });

const EVENTS = [
	"overview",
	"vehicle",
	"requests",
	"receipts",
	"findings",
	"entries",
	"actions",
	"connection",
	"gap",
	"unavailable",
	"beat",
];
/** A stream that says nothing for longer is opened again. */
const SILENCE_MILLISECONDS = 12_000;
const RETRY_MILLISECONDS = 3000;

/** The one stream of this page. A page that is not visible closes it, since a browser has few connections to a host. */
export class Stream {
	path = "";
	/** @type {EventSource | null} */
	source = null;
	timer = 0;

	constructor(deliver, tell) {
		this.deliver = deliver;
		this.tell = tell;
		document.addEventListener("visibilitychange", () => this.reopen());
	}

	want(path) {
		if (path === this.path) return;
		this.path = path;
		this.reopen();
	}

	reopen() {
		this.source?.close();
		this.source = null;
		clearTimeout(this.timer);
		if (!this.path) return this.tell("off");
		if (document.hidden) return this.tell("paused");
		this.tell("opening");
		const source = (this.source = new EventSource(this.path));
		this.heard();
		source.onopen = () => this.tell("open");
		source.onerror = () => {
			this.tell("lost");
			if (source.readyState === EventSource.CLOSED) this.retry(RETRY_MILLISECONDS);
		};
		for (const name of EVENTS) {
			source.addEventListener(name, event => {
				if (this.source !== source) return;
				this.heard();
				const data = JSON.parse(event.data);
				readClock(data);
				this.tell("open");
				this.deliver(name, data);
			});
		}
	}

	heard() {
		this.retry(SILENCE_MILLISECONDS);
	}

	retry(milliseconds) {
		clearTimeout(this.timer);
		this.timer = window.setTimeout(() => {
			this.tell("lost");
			this.reopen();
		}, milliseconds);
	}
}
