// Frames: a list, and one as hex beside its decoded tree.

import { h, hint, soft } from "./dom.js";
import { get } from "./net.js";
import { anchor, badge, frameLink, go, moment, note, place, table } from "./parts.js";
import { filterField, messageField, pages, searchField, without } from "./tables.js";
import { bytes, sentence } from "./words.js";

const WINDOW = 1024;

let lastShown = "";

const frameFilter = route => ({ vehicle: route.vehicle, kind: "frame", message: route.message, way: route.way, search: route.search, rejected: route.rejected || undefined });

const nodeAt = (tree, path) => path?.split(".").reduce((node, index) => node?.children?.[index], { children: tree });

const isWithin = (range, offset) => range && range[0] <= offset && offset < range[1];

function pathOf(nodes, offset) {
	const index = nodes.findIndex(node => isWithin(node.range, offset));
	if (index < 0) return "";
	const below = nodes[index].children?.length ? pathOf(nodes[index].children, offset) : "";
	return below ? `${index}.${below}` : String(index);
}

const valueText = node => (node.value == null ? "" : typeof node.value === "string" && !node.value.startsWith("0x") ? `“${node.value}”` : String(node.value));

function treeNode(node, path, chosen) {
	const isChosen = path === chosen;
	return h("li", { key: path },
		h(`button.node${isChosen ? ".chosen" : ""}`, { pressed: isChosen, onclick: () => go({ node: isChosen ? null : path, byte: null }, true) },
			h("span.node-name", node.name), node.number && soft(` #${node.number}`), node.type && soft(` ${node.type}`),
			node.value != null && h("span", ` = ${valueText(node)}`), node.text && node.text !== String(node.value) && soft(` · ${node.text}`),
			soft(` [${node.range[0]}…${node.range[1] - 1}]`), node.unknown && badge("unknown", "warn")),
		node.problem && h("p.problem", badge("not allowed", "bad"), ` ${node.problem}`),
		node.rule && isChosen && hint(`rule: ${node.rule}`),
		h("ul", (node.children ?? []).map((child, index) => treeNode(child, `${path}.${index}`, chosen))));
}

const printable = byte => (byte >= "20" && byte < "7f" ? String.fromCharCode(parseInt(byte, 16)) : "·");

function hexView(frame, route) {
	const data = frame.hex.match(/../g) ?? [];
	const chosen = nodeAt(frame.tree, route.node);
	const cursor = Math.min(Number(route.byte ?? chosen?.range[0] ?? 0), Math.max(0, data.length - 1));
	const first = Math.floor(cursor / WINDOW) * WINDOW;
	const rows = [];
	for (let offset = first; offset < Math.min(first + WINDOW, data.length); offset += 16) {
		const row = data.slice(offset, offset + 16);
		const kind = at => (isWithin(chosen?.valueRange, at) ? ".byte-value" : isWithin(chosen?.range, at) ? ".byte-chosen" : "");
		const cells = text => row.map((byte, index) => h(`span.byte${kind(offset + index)}`, { "data-byte": offset + index }, text(byte)));
		rows.push(h("div.hex-row", { key: offset }, h("span.hex-offset", offset.toString(16).padStart(4, "0")),
			h("span.hex-bytes", cells(byte => byte)), h("span", { hide: true }, cells(printable))));
	}
	const shown = `${route.entry} ${route.node} ${route.byte}`;
	if (shown !== lastShown) {
		lastShown = shown;
		queueMicrotask(() => [".node.chosen", route.byte ? `[data-byte="${cursor}"]` : ".byte-chosen,.byte-value"].forEach(one => document.querySelector(one)?.scrollIntoView({ block: "nearest" })));
	}
	const pick = offset => go({ node: pathOf(frame.tree, offset) || null, byte: offset }, true);
	return h("div.hex", {
		tabindex: 0, role: "group", key: "hex", label: `${data.length} bytes. Arrow keys choose a byte, page keys go on.`,
		onclick: event => event.target.dataset?.byte != null && pick(Number(event.target.dataset.byte)),
		onkeydown: event => {
			const step = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -16, ArrowDown: 16, PageUp: -WINDOW, PageDown: WINDOW }[event.key];
			if (!step) return;
			event.preventDefault();
			pick(Math.max(0, Math.min(data.length - 1, Number(place.route.byte ?? cursor) + step)));
		},
	}, rows);
}

function chosenText(frame, route) {
	const chosen = nodeAt(frame.tree, route.node);
	if (!chosen) return "No field is chosen: choose one, or a byte.";
	return `${chosen.name}${chosen.value == null ? "" : ` = ${valueText(chosen)}`}: bytes ${chosen.range[0]} to ${chosen.range[1] - 1}${chosen.valueRange ? `, its value from ${chosen.valueRange[0]}` : ""}.`;
}

const frameView = (frame, route, isVirtual) => h("section.panel", { label: "Frame", key: "frame" },
	h("h2", `${sentence(frame.line?.message ?? frame.line?.kind)} `, frame.line?.rejected && badge("rejected", "bad"), frame.line?.fitted && badge("fitted", "warn")),
	hint(moment({ at: frame.at, time: frame.line?.time }, isVirtual), ` · ${frame.line?.from ? `from ${frame.line.from}` : `to ${frame.line?.to?.join(", ") ?? "—"}`} · ${bytes(frame.line?.bytes ?? frame.hex.length / 2)}`),
	h("p", { role: "status" }, chosenText(frame, route)),
	frame.hexTruncated && note("Only the first 64 KiB are shown.", "Export the frame with waymark recording export."),
	h("div.frame-parts", hexView(frame, route), h("ul.tree", { label: "Decoded" }, frame.tree.map((node, index) => treeNode(node, String(index), route.node ?? "")))),
	frame.others?.length > 0 && h("p", "The same publication: ", frame.others.map(other => [frameLink(other.entry, `${other.from ? `from ${other.from}` : `to ${other.to?.join(", ")}`}${other.fitted ? ", fitted" : ""}`), " "])),
	h("p", anchor({ entry: null, node: null, byte: null }, "Close this frame")));

export const frames = {
	title: "Frames",
	streams: route => (route.before ? [] : ["entries"]), streamParameters: frameFilter,
	load: async (route, signal, old) => {
		const isSame = old?.frame?.entry === route.entry;
		const [entries, frame] = await Promise.all([
			get("entries", { source: route.source, ...frameFilter(route), to: route.at, before: route.before, limit: 60 }, signal),
			!route.entry ? null : isSame ? old.frame : get("frame", { source: route.source, entry: route.entry }, signal),
		]);
		return { entries, frame };
	},
	draw: (data, { route, isVirtual, names }) => [
		data.frame && frameView(data.frame, route, isVirtual),
		h("div.filters", messageField(route, names), filterField("way", route, "Way", [["from", "from a peer"], ["to", "to a peer"]], "both"),
			filterField("rejected", route, "Show", [["1", "rejected only"]], "all frames"), searchField("search", route, "Search", "anywhere in the line")),
		table("Frames", [
			["Time", row => moment(row, isVirtual)],
			["Message", row => [frameLink(row.entry, sentence(row.message), row.entry === route.entry), row.rejected && badge("rejected", "bad")]],
			["From / to", row => (row.from ? `from ${row.from}` : `to ${row.to?.join(", ") ?? "—"}`)],
			["Number#", "sequence"],
			["What it says=", "text"],
			["Size#", "bytes", bytes],
			["Marks", row => [row.fitted && "fitted", row.more && "part", row.fromGateway && "by the gateway", row.redacted && "redacted"].filter(Boolean).join(", ")],
		], data.entries.entries, { key: "entry", classes: row => (row.entry === route.entry ? "state-current" : row.rejected ? "rejected" : ""),
			empty: without(data.entries, "No frame matches.", anchor({ message: null, search: null, way: null, rejected: null, before: null }, "Show all frames")) }),
		hint(`Newest first. ${data.entries.scanned} entries were looked through. A message is a link to its bytes.`), pages(data.entries, route, data.skipped),
	],
};
