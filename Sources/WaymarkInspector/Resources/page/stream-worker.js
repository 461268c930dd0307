// Runs once for all windows of a browser: see Hub.

import { Hub } from "./hub.js";

const hub = new Hub();

globalThis.addEventListener("connect", (/** @type {any} */ { ports: [port] }) => {
	const window = message => port.postMessage(message);
	port.onmessage = ({ data: views }) => hub.want(window, views);
});
