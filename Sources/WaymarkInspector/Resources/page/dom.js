// Builds elements and brings a shown tree up to date. Text is only ever set as text: nothing here parses markup.

const SVG = "http://www.w3.org/2000/svg";

/** Embeddings and overrides of direction, and isolates. */
const DIRECTION_CONTROL = /[\u202a-\u202e\u2066-\u2069]/g;
const OVERRIDE = /[\u202a-\u202e]/;

/** Whether each isolate is closed within the text, so that it does not act on what follows. */
function areIsolatesClosed(text) {
	let depth = 0;
	for (const letter of text) {
		if (letter === "\u2069") depth--;
		else if (letter >= "\u2066" && letter <= "\u2068") depth++;
		if (depth < 0) return false;
	}
	return depth === 0;
}

/** A text whose controls of direction do not act on the page: they are shown by their numbers. */
export function withoutControls(text) {
	const shown = String(text);
	if (!OVERRIDE.test(shown) && areIsolatesClosed(shown)) return shown;
	return shown.replace(DIRECTION_CONTROL, letter => `⟨U+${letter.charCodeAt(0).toString(16).toUpperCase()}⟩`);
}

/** Attributes that are shown or read out. */
const TEXT_ATTRIBUTES = new Set(["label", "title", "placeholder", "aria-valuetext"]);

const isNothing = value => value == null || value === false;

/** Short names of attributes. Not to be pressed is told, too. */
const LONG = {
	key: "data-key",
	label: "aria-label",
	current: "aria-current",
	hide: "aria-hidden",
	keep: "data-keep",
	pressed: "aria-pressed",
};

function apply(element, props) {
	for (const [name, value] of Object.entries(props)) {
		if (isNothing(value) && !(value === false && name === "pressed")) continue;
		if (typeof value === "function") {
			element[name] = value;
			(element.handlers ??= []).push(name);
		} else if (name === "data") {
			element.data = value;
		} else {
			if (name === "value" && element instanceof HTMLInputElement) element.value = String(value);
			const text = TEXT_ATTRIBUTES.has(name) ? withoutControls(value) : String(value);
			element.setAttribute(LONG[name] ?? name, value === true && !LONG[name] ? "" : text);
		}
	}
}

/** A node, or a text as a node. */
const nodeOf = child => (child instanceof Node ? child : document.createTextNode(withoutControls(child)));

/** The first of `rest` may be properties. */
function build(element, spec, rest) {
	const classes = spec.split(".").slice(1).join(" ");
	if (classes) element.setAttribute("class", classes);
	// A button with a value or without a handler sends its form.
	if (element.type === "submit" && rest[0]?.onclick) element.type = "button";
	if (rest[0]?.constructor === Object) apply(element, rest.shift());
	element.append(
		...rest
			.flat(9)
			.filter(child => !isNothing(child))
			.map(nodeOf),
	);
	return element;
}

/**
 * An element, for example `html("td.number", { title: "x" }, "text")`: properties are optional, functions among them
 * are handlers, and `data` is for custom elements.
 * @param {string} spec @param {...any} rest @returns {any}
 */
export const html = (spec, ...rest) => build(document.createElement(spec.split(".")[0]), spec, rest);

/** An element of SVG. @param {string} spec @param {...any} rest @returns {any} */
export const svg = (spec, ...rest) => build(document.createElementNS(SVG, spec.split(".")[0]), spec, rest);

/** @param {string} id @returns {any} */
export const element = id => document.getElementById(id);

/** Text that matters less, the same as a paragraph, and text for people who do not see the page. @returns {any} */
export const soft = (...children) => html("span.soft", ...children);
export const hint = (...children) => html("p.soft", ...children);
export const code = text => html("code", text);
export const hidden = (...children) => html("span.hidden-text", ...children);

const keyOf = node => (node instanceof Element && (node.getAttribute("data-key") || node.id)) || "";
const nameOf = node => `${node.nodeName} ${keyOf(node)}`;

function syncAttributes(shown, wanted) {
	// What the reader opened stays open; the policy of the page forbids style attributes.
	const isTheirs = name => (name === "open" && shown.nodeName === "DETAILS") || name === "style";
	for (const { name } of [...shown.attributes])
		if (!wanted.hasAttribute(name) && !isTheirs(name)) shown.removeAttribute(name);
	for (const { name, value } of wanted.attributes)
		if (shown.getAttribute(name) !== value && !isTheirs(name)) shown.setAttribute(name, value);
	for (const name of shown.handlers ?? []) shown[name] = null;
	for (const name of wanted.handlers ?? []) shown[name] = wanted[name];
	shown.handlers = wanted.handlers;
	if (wanted.style?.cssText) shown.style.cssText = wanted.style.cssText;
}

/** Makes a shown node what another one is. @param {any} shown @param {any} wanted */
function sync(shown, wanted) {
	if (shown.nodeType !== Node.ELEMENT_NODE) {
		if (shown.nodeValue !== wanted.nodeValue) shown.nodeValue = wanted.nodeValue;
		return;
	}
	// What the reader fills in is theirs, until the view asks for another by another key.
	if (shown.hasAttribute("data-keep")) return;
	syncAttributes(shown, wanted);
	const isEdited =
		shown === document.activeElement && ["INPUT", "SELECT"].includes(shown.nodeName) && shown.type !== "range";
	if ("update" in shown) shown.update(wanted.data);
	else if (shown.nodeName === "INPUT") {
		if (!isEdited) [shown.value, shown.checked] = [wanted.value, wanted.checked];
	} else if (!isEdited) {
		show(shown, ...wanted.childNodes);
		if (shown.nodeName === "SELECT") shown.value = wanted.value;
	}
}

/**
 * Makes `children` the content of `parent`, keeping what is alike: focus, scroll position and open details stay.
 * @param {any} parent @param {...any} children
 */
export function show(parent, ...children) {
	const wanted = children
		.flat(9)
		.filter(child => !isNothing(child))
		.map(nodeOf);
	const names = new Set(wanted.map(nameOf)),
		known = new Map();
	for (const child of [...parent.childNodes]) {
		if (!keyOf(child)) continue;
		if (names.has(nameOf(child))) known.set(nameOf(child), child);
		else child.remove();
	}
	let next = parent.firstChild;
	for (const child of wanted) {
		const old = keyOf(child) ? known.get(nameOf(child)) : next && nameOf(next) === nameOf(child) ? next : null;
		known.delete(nameOf(child));
		if (!old) {
			parent.insertBefore(child, next);
			continue;
		}
		if (old !== next) parent.insertBefore(old, next);
		next = old.nextSibling;
		sync(old, child);
	}
	while (next) {
		const gone = next;
		next = next.nextSibling;
		gone.remove();
	}
}
