// The one stream of events of all windows of a browser: a stream keeps one of the few connections to a host.

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
/** Windows that are restored together open one stream. */
const GATHER_MILLISECONDS = 20;
/** A window that says nothing for longer has gone: it need not be able to say so. */
const WINDOW_SILENCE_MILLISECONDS = 60_000;
/** How often a window says that it is there. */
export const SIGN_MILLISECONDS = 10_000;

/** Opens a stream of what its windows want, and tells each what it wants. A window is a function of messages. */
export class Hub {
	/** The views that each window wants, and when it was heard last. */
	windows = new Map();
	/** @type {EventSource | null} */
	source = null;
	path = "";
	state = "off";
	gathering = 0;
	retrying = 0;

	/** A window wants other views, or none; the same views are a sign of life. */
	want(window, views) {
		const known = this.windows.get(window);
		if (views.length) this.windows.set(window, { views: new Set(views), heard: Date.now() });
		else this.windows.delete(window);
		if ((known ? [...known.views] : []).join() === views.join()) return;
		// Also if the stream has these views: a new one begins with what they hold now.
		this.gathering ||= setTimeout(() => {
			this.gathering = 0;
			this.open();
		}, GATHER_MILLISECONDS);
	}

	open() {
		this.source?.close();
		this.source = null;
		clearTimeout(this.retrying);
		for (const [window, { heard }] of this.windows)
			if (Date.now() - heard > WINDOW_SILENCE_MILLISECONDS) this.windows.delete(window);
		const views = new Set([...this.windows.values()].flatMap(window => [...window.views]));
		if (!views.size) return;
		this.tell("opening");
		const source = (this.source = new EventSource(`/events?views=${encodeURIComponent([...views].join())}`));
		this.heard();
		source.onopen = () => this.tell("open");
		source.onerror = () => {
			this.tell("lost");
			if (source.readyState === EventSource.CLOSED) this.retry(RETRY_MILLISECONDS);
		};
		for (const name of EVENTS)
			source.addEventListener(name, event => {
				if (this.source !== source) return;
				this.heard();
				this.tell("open");
				this.deliver(name, JSON.parse(event.data));
			});
	}

	/** An event without a view is for all windows. */
	deliver(name, data) {
		for (const [window, { views }] of this.windows)
			if (data.view == null || views.has(data.view)) window({ name, data });
	}

	tell(state) {
		for (const window of this.windows.keys()) window({ state });
	}

	heard() {
		this.retry(SILENCE_MILLISECONDS);
	}

	retry(milliseconds) {
		clearTimeout(this.retrying);
		this.retrying = setTimeout(() => {
			this.tell("lost");
			this.open();
		}, milliseconds);
	}
}
