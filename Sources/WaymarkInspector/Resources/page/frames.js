// Frames: a list, and one as hex beside its decoded tree.

import { html, hint, soft } from "./dom.js";
import { get } from "./net.js";
import { anchor, badge, frameLink, go, moment, note, place, table, withParameters } from "./parts.js";
import { filterField, messageField, pages, searchField, without } from "./tables.js";
import { bytes, sentence } from "./words.js";

/** Bytes that are shown at one time. */
const WINDOW_BYTES = 1024;
const ROW_BYTES = 16;

let lastShown = "";

const frameFilter = route => ({
	vehicle: route.vehicle,
	kind: "frame",
	message: route.message,
	way: route.way,
	search: route.search,
	rejected: route.rejected || undefined,
});

/** @param {Answer.FrameNode[]} tree @param {string} path @returns {Answer.FrameNode} */
const nodeAt = (tree, path) =>
	path?.split(".").reduce((node, index) => node?.children?.[index], /** @type {any} */ ({ children: tree }));

const isWithin = (range, offset) => range && range[0] <= offset && offset < range[1];

/** @param {Answer.FrameNode[]} nodes @param {number} offset */
function pathOf(nodes, offset) {
	const index = nodes.findIndex(node => isWithin(node.range, offset));
	if (index < 0) return "";
	const below = nodes[index].children?.length ? pathOf(nodes[index].children, offset) : "";
	return below ? `${index}.${below}` : String(index);
}

/** @param {Answer.FrameNode} node */
const valueText = node =>
	node.value == null
		? ""
		: typeof node.value === "string" && !node.value.startsWith("0x")
			? `“${node.value}”`
			: String(node.value);

/** @param {Answer.FrameNode} node @param {string} path @param {string} chosen */
function treeNode(node, path, chosen) {
	const isChosen = path === chosen;
	return html(
		"li",
		{ key: path },
		html(
			`button.node${isChosen ? ".chosen" : ""}`,
			{ pressed: isChosen, onclick: () => go({ node: isChosen ? null : path, byte: null }, true) },
			html("span.node-name", node.name),
			node.number && soft(` #${node.number}`),
			node.type && soft(` ${node.type}`),
			node.value != null && html("span", ` = ${valueText(node)}`),
			node.text && node.text !== String(node.value) && soft(` · ${node.text}`),
			soft(` [${node.range[0]}…${node.range[1] - 1}]`),
			node.unknown && badge("unknown", "warn"),
		),
		node.problem && html("p.problem", badge("not allowed", "bad"), ` ${node.problem}`),
		html(
			"ul",
			(node.children ?? []).map((child, index) => treeNode(child, `${path}.${index}`, chosen)),
		),
	);
}

/** From whom or to whom a frame went. @param {Answer.Members | Answer.FrameHop} line */
const wayText = line => (line?.from ? `from ${line.from}` : `to ${line?.to?.join(", ") ?? "—"}`);

const printable = byte => (byte >= "20" && byte < "7f" ? String.fromCharCode(parseInt(byte, 16)) : "·");

/** @param {Answer.Frame} frame @param {Route} route */
function hexView(frame, route) {
	const data = frame.hex.match(/../g) ?? [];
	const chosen = nodeAt(frame.tree, route.node);
	const cursor = Math.min(Number(route.byte ?? chosen?.range[0] ?? 0), Math.max(0, data.length - 1));
	const first = Math.floor(cursor / WINDOW_BYTES) * WINDOW_BYTES;
	const rows = [];
	for (let offset = first; offset < Math.min(first + WINDOW_BYTES, data.length); offset += ROW_BYTES) {
		const row = data.slice(offset, offset + ROW_BYTES);
		const kind = at =>
			isWithin(chosen?.valueRange, at) ? ".byte-value" : isWithin(chosen?.range, at) ? ".byte-chosen" : "";
		const cells = text =>
			row.map((byte, index) =>
				html(`span.byte${kind(offset + index)}`, { "data-byte": offset + index }, text(byte)),
			);
		rows.push(
			html(
				"div.hex-row",
				{ key: offset },
				html("span.hex-offset", offset.toString(16).padStart(4, "0")),
				html(
					"span.hex-bytes",
					cells(byte => byte),
				),
				html("span", { hide: true }, cells(printable)),
			),
		);
	}
	const shown = `${route.entry} ${route.node} ${route.byte}`;
	if (shown !== lastShown) {
		lastShown = shown;
		queueMicrotask(() =>
			[".node.chosen", route.byte ? `[data-byte="${cursor}"]` : ".byte-chosen,.byte-value"].forEach(one =>
				document.querySelector(one)?.scrollIntoView({ block: "nearest" }),
			),
		);
	}
	const pick = offset => go({ node: pathOf(frame.tree, offset) || null, byte: offset }, true);
	return html(
		"div.hex",
		{
			tabindex: 0,
			role: "group",
			key: "hex",
			label: `${data.length} bytes. Arrow keys choose a byte, page keys go on.`,
			onclick: event => event.target.dataset?.byte != null && pick(Number(event.target.dataset.byte)),
			onkeydown: event => {
				const step = {
					ArrowLeft: -1,
					ArrowRight: 1,
					ArrowUp: -ROW_BYTES,
					ArrowDown: ROW_BYTES,
					PageUp: -WINDOW_BYTES,
					PageDown: WINDOW_BYTES,
				}[event.key];
				if (!step) return;
				event.preventDefault();
				pick(Math.max(0, Math.min(data.length - 1, Number(place.route.byte ?? cursor) + step)));
			},
		},
		rows,
	);
}

/** @param {Answer.Frame} frame @param {Route} route */
function chosenText(frame, route) {
	const chosen = nodeAt(frame.tree, route.node);
	if (!chosen) return "No field is chosen: choose one, or a byte.";
	const [first, end] = chosen.range;
	const field = chosen.value == null ? chosen.name : `${chosen.name} = ${valueText(chosen)}`;
	const value = chosen.valueRange ? `, its value from ${chosen.valueRange[0]}` : "";
	return `${field}: bytes ${first} to ${end - 1}${value}.`;
}

/** @param {Answer.Frame} frame @param {Route} route @param {boolean} isVirtual */
const frameView = (frame, route, isVirtual) =>
	html(
		"section.panel",
		{ label: "Frame", key: "frame" },
		html(
			"h2",
			`${sentence(frame.line?.message ?? frame.line?.kind)} `,
			frame.line?.rejected && badge("rejected", "bad"),
			frame.line?.fitted && badge("fitted", "warn"),
		),
		hint(
			moment({ at: frame.at, time: frame.line?.time }, isVirtual),
			` · ${wayText(frame.line)} · ${bytes(frame.line?.bytes ?? frame.hex.length / 2)}`,
		),
		html("p", { role: "status" }, chosenText(frame, route)),
		frame.hexTruncated &&
			note("Only the first 64 KiB are shown.", "Export the frame with waymark recording export."),
		html(
			"div.frame-parts",
			hexView(frame, route),
			html(
				"ul.tree",
				{ label: "Decoded" },
				frame.tree.map((node, index) => treeNode(node, String(index), route.node ?? "")),
			),
		),
		frame.others?.length > 0 &&
			html(
				"p",
				"The same publication: ",
				frame.others.map(other => [
					frameLink(other.entry, `${wayText(other)}${other.fitted ? ", fitted" : ""}`),
					" ",
				]),
			),
		html("p", anchor({ entry: null, node: null, byte: null }, "Close this frame")),
	);

/** @type {View<ListedEntries & Pick<Answers, "frame">>} */
export const frames = {
	title: "Frames",
	streams: route => (route.before ? [] : [withParameters("entries", frameFilter(route))]),
	load: async (route, signal, old) => {
		const isSame = old?.frame?.entry === route.entry;
		const [entries, frame] = await Promise.all([
			get(
				"entries",
				{ source: route.source, ...frameFilter(route), to: route.at, before: route.before, limit: 60 },
				signal,
			),
			!route.entry
				? null
				: isSame
					? old.frame
					: get("frame", { source: route.source, entry: route.entry }, signal),
		]);
		return { entries, frame };
	},
	draw: (data, { route, isVirtual, names }) => [
		data.frame && frameView(data.frame, route, isVirtual),
		html(
			"div.filters",
			messageField(route, names),
			filterField(
				"way",
				route,
				"Way",
				[
					["from", "from a peer"],
					["to", "to a peer"],
				],
				"both",
			),
			filterField("rejected", route, "Show", [["1", "rejected only"]], "all frames"),
			searchField("search", route, "Search", "anywhere in the line"),
		),
		table(
			"Frames",
			[
				{ name: "Time", cell: row => moment(row, isVirtual) },
				{
					name: "Message",
					cell: row => [
						frameLink(row.entry, sentence(row.message), row.entry === route.entry),
						row.rejected && badge("rejected", "bad"),
					],
				},
				{ name: "From / to", cell: wayText },
				{ name: "Number", kind: "number", cell: "sequence" },
				{ name: "What it says", kind: "wide", cell: "text" },
				{ name: "Size", kind: "number", cell: "bytes", show: bytes },
				{
					name: "Marks",
					cell: row =>
						[
							row.fitted && "fitted",
							row.more && "part",
							row.fromGateway && "by the gateway",
							row.redacted && "redacted",
						]
							.filter(Boolean)
							.join(", "),
				},
			],
			data.entries.entries,
			{
				key: "entry",
				classes: row => (row.entry === route.entry ? "state-current" : row.rejected ? "rejected" : ""),
				empty: without(
					data.entries,
					"No frame matches.",
					anchor({ message: null, search: null, way: null, rejected: null, before: null }, "Show all frames"),
				),
			},
		),
		hint(`Newest first. ${data.entries.scanned} entries were looked through. A message is a link to its bytes.`),
		pages(data.entries, route, data.skipped),
	],
};
