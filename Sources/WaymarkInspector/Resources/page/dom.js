// Builds elements and brings a shown tree up to date. Text is only ever set as text: nothing here parses markup.

const SVG = "http://www.w3.org/2000/svg";

/**
 * @typedef {Node | string | number | null | undefined | false} Child
 * @typedef {Record<string, any>} Props
 */

/** @param {Element} element @param {Props} props */
function apply(element, props) {
  for (const [name, value] of Object.entries(props)) {
    if (value === undefined || value === null || value === false) continue;
    if (typeof value === "function") {
      /** @type {any} */ (element)[name] = value;
      ((/** @type {any} */ (element)).handlers ??= []).push(name);
    } else if (name === "data") {
      /** @type {any} */ (element).data = value;
    } else if (name === "value" && element instanceof HTMLInputElement) {
      element.value = String(value);
      element.setAttribute("value", String(value));
    } else {
      element.setAttribute(name, value === true ? "" : String(value));
    }
  }
}

/** @param {Element} element @param {(Child | Child[])[]} children */
function append(element, children) {
  for (const child of children.flat()) {
    if (child === null || child === undefined || child === false) continue;
    element.append(child instanceof Node ? child : String(child));
  }
}

/**
 * An element: `h("td.number", {title: "x"}, "text")`. Functions among the properties are handlers, `data` is given to custom elements.
 * @param {string} spec The tag and its classes.
 * @param {Props | null} [props]
 * @param {...(Child | Child[])} children
 * @returns {HTMLElement}
 */
export function h(spec, props, ...children) {
  const [tag, ...classes] = spec.split(".");
  const element = document.createElement(tag);
  if (classes.length) element.className = classes.join(" ");
  if (props) apply(element, props);
  append(element, children);
  return element;
}

/**
 * An element of SVG.
 * @param {string} spec @param {Props | null} [props] @param {...(Child | Child[])} children
 * @returns {SVGElement}
 */
export function s(spec, props, ...children) {
  const [tag, ...classes] = spec.split(".");
  const element = document.createElementNS(SVG, tag);
  if (classes.length) element.setAttribute("class", classes.join(" "));
  if (props) apply(element, props);
  append(element, children);
  return element;
}

/** What identifies a child among its siblings. @param {Node} node */
const keyOf = (node) => (node instanceof Element && (node.id || node.getAttribute("data-key"))) || null;

/** @param {Node} a @param {Node} b */
const alike = (a, b) => a.nodeType === b.nodeType && a.nodeName === b.nodeName && keyOf(a) === keyOf(b);

function syncAttributes(shown, wanted) {
  for (const { name } of [...shown.attributes]) {
    // What the reader opened stays open.
    if (name === "open" && shown.nodeName === "DETAILS") continue;
    if (!wanted.hasAttribute(name)) shown.removeAttribute(name);
  }
  for (const { name, value } of wanted.attributes) {
    if (name === "open" && shown.nodeName === "DETAILS") continue;
    if (shown.getAttribute(name) !== value) shown.setAttribute(name, value);
  }
  for (const name of shown.handlers ?? []) if (!wanted.handlers?.includes(name)) shown[name] = null;
  for (const name of wanted.handlers ?? []) shown[name] = wanted[name];
  shown.handlers = wanted.handlers;
}

/** Whether the reader is changing it, or has changed it. @param {Element} element */
const isBeingEdited = (element) =>
  element === document.activeElement
  && (element instanceof HTMLInputElement || element instanceof HTMLTextAreaElement || element instanceof HTMLSelectElement);

/** @param {Node} shown @param {Node} wanted */
function sync(shown, wanted) {
  if (!(shown instanceof Element) || !(wanted instanceof Element)) {
    if (shown.nodeValue !== wanted.nodeValue) shown.nodeValue = wanted.nodeValue;
    return;
  }
  // A form belongs to the reader once it is shown, until the view asks for another one by another key.
  if (shown.hasAttribute("data-keep")) return;
  syncAttributes(shown, wanted);
  if ("update" in shown) {
    /** @type {any} */ (shown).update(/** @type {any} */ (wanted).data);
    return;
  }
  if (shown instanceof HTMLInputElement && wanted instanceof HTMLInputElement) {
    if (!isBeingEdited(shown)) [shown.value, shown.checked] = [wanted.value, wanted.checked];
    return;
  }
  if (isBeingEdited(shown)) return;
  show(shown, ...wanted.childNodes);
  if (shown instanceof HTMLSelectElement && wanted instanceof HTMLSelectElement) shown.value = wanted.value;
}

/**
 * Makes `children` the content of `parent`, keeping what is alike: focus, scroll position and open details stay.
 * @param {Element} parent @param {...(Child | Child[])} children
 */
export function show(parent, ...children) {
  const wanted = children.flat().filter((child) => child !== null && child !== undefined && child !== false)
    .map((child) => (child instanceof Node ? child : document.createTextNode(String(child))));
  const keyed = new Map();
  for (const child of parent.childNodes) if (keyOf(child)) keyed.set(`${child.nodeName} ${keyOf(child)}`, child);
  let next = parent.firstChild;
  for (const child of wanted) {
    const known = keyOf(child) ? keyed.get(`${child.nodeName} ${keyOf(child)}`) : null;
    if (known && known !== next) {
      // Elements in between that are not wanted any more go first, so that those behind them need not move.
      while (next && next !== known && !wanted.some((other) => keyOf(other) && alike(other, /** @type {Node} */ (next)))) {
        const gone = next;
        next = next.nextSibling;
        gone.parentNode?.removeChild(gone);
      }
      if (next !== known) parent.insertBefore(known, next);
    }
    if (known) next = known;
    if (next && alike(next, child)) {
      const following = next.nextSibling;
      sync(next, child);
      next = following;
    } else {
      parent.insertBefore(child, next);
    }
  }
  while (next) {
    const gone = next;
    next = next.nextSibling;
    gone.parentNode?.removeChild(gone);
  }
}

/**
 * Defines an element that draws itself from `data`.
 * @param {string} name
 * @param {(element: HTMLElement, data: any) => void} draw
 */
export function define(name, draw) {
  customElements.define(name, class extends HTMLElement {
    connectedCallback() { if (/** @type {any} */ (this).data !== undefined) draw(this, /** @type {any} */ (this).data); }

        update(data) {
      /** @type {any} */ (this).data = data;
      if (this.isConnected) draw(this, data);
    }
  });
}
