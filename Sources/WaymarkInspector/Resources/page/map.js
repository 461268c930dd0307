// A map without tiles: Web Mercator on a canvas. Everything on it is also in a list or table of the page.

import { distance } from "./words.js";

/** @typedef {{x: number, y: number}} World A place in Web Mercator: 0 ... 1 from west to east and from north to south. */
/** @typedef {number[]} Place Latitude and longitude in degrees. */
/**
 * @typedef {object} MapContent
 * @property {{id: string, coordinates: Place[], isCurrent?: boolean}[]} segments
 * @property {{label: string, at: Place, state: string, name: string}[]} maneuvers
 * @property {{at: Place, kind: string, name: string, thresholdMeters?: number, entryPoints?: Place[]}[]} waypoints
 * @property {{at: Place, index?: number, segment?: string, traveled?: Place[]} | null} position Derived from the estimates.
 * @property {any} [basemap] GeoJSON.
 * @property {string} [key] Another route has another key, and is shown as a whole.
 * @property {((place: Place) => void) | null} [pick]
 * @property {Place | null} [picked]
 */

const EARTH = 40_075_016.686, LATITUDE_MAX = 85.05;

/** @param {Place} place @returns {World} */
function project([latitude, longitude]) {
  const limited = Math.max(-LATITUDE_MAX, Math.min(LATITUDE_MAX, latitude)) * Math.PI / 180;
  return { x: (longitude + 180) / 360, y: (1 - Math.log(Math.tan(limited) + 1 / Math.cos(limited)) / Math.PI) / 2 };
}

/** @param {World} world @returns {Place} */
const unproject = ({ x, y }) => [Math.atan(Math.sinh(Math.PI * (1 - 2 * y))) * 180 / Math.PI, x * 360 - 180];

/** The smallest of 1, 2, 5, 10, ... times `unit` that is at least `value`. @param {number} value @param {number} [unit] */
function roundStep(value, unit = 1) {
  const power = unit * 10 ** Math.floor(Math.log10(value / unit));
  return [1, 2, 5, 10].map((factor) => factor * power).find((step) => step >= value * 0.999) ?? power * 10;
}

class WaymarkMap extends HTMLElement {
  constructor() {
    super();
    /** @type {MapContent} */
    this.data = { segments: [], maneuvers: [], waypoints: [], position: null };
    /** @type {World} */
    this.center = { x: 0.5, y: 0.5 };
    /** Pixels for the width of the world. */
    this.scale = 256;
    this.isFollowing = false;
    /** @type {string | null} */
    this.fitted = null;
    this.isMoved = false;
    /** @type {Record<string, string>} */
    this.colors = {};
    this.frame = 0;
  }

  connectedCallback() {
    if (this.canvas) return;
    this.canvas = document.createElement("canvas");
    this.canvas.tabIndex = 0;
    this.canvas.setAttribute("role", "application");
    this.canvas.setAttribute("aria-roledescription", "map");
    this.append(this.canvas, this.controls());
    this.listen(this.canvas);
    new ResizeObserver(() => this.resize()).observe(this);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.draw());
    this.resize();
  }

  controls() {
    const box = document.createElement("div");
    box.className = "map-controls";
    /** @type {[string, string, () => void][]} */
    const buttons = [["+", "Zoom in", () => this.zoom(1.6)], ["−", "Zoom out", () => this.zoom(1 / 1.6)],
      ["⤢", "Show the whole route", () => this.fit()], ["◎", "Follow the position", () => this.follow(!this.isFollowing)]];
    for (const [text, name, action] of buttons) {
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = text;
      button.title = name;
      button.setAttribute("aria-label", name);
      if (text === "◎") this.followButton = button;
      button.onclick = action;
      box.append(button);
    }
    return box;
  }

  /** @param {HTMLCanvasElement} canvas */
  listen(canvas) {
    /** @type {Map<number, PointerEvent>} */
    const pointers = new Map();
    let moved = 0;
    canvas.onpointerdown = (event) => {
      canvas.setPointerCapture(event.pointerId);
      pointers.set(event.pointerId, event);
      moved = 0;
    };
    canvas.onpointermove = (event) => {
      const last = pointers.get(event.pointerId);
      if (!last) return;
      const others = [...pointers.values()].filter((pointer) => pointer.pointerId !== event.pointerId);
      if (others.length) {
        const length = (one) => Math.hypot(one.offsetX - others[0].offsetX, one.offsetY - others[0].offsetY);
        this.zoom(length(event) / Math.max(1, length(last)));
      } else {
        this.move(last.offsetX - event.offsetX, last.offsetY - event.offsetY);
      }
      moved += Math.hypot(event.offsetX - last.offsetX, event.offsetY - last.offsetY);
      pointers.set(event.pointerId, event);
    };
    canvas.onpointerup = canvas.onpointercancel = (event) => {
      pointers.delete(event.pointerId);
      if (event.type === "pointerup" && moved < 4) this.pickAt(event.offsetX, event.offsetY);
    };
    canvas.onwheel = (event) => {
      event.preventDefault();
      this.zoom(2 ** (-event.deltaY / 240), event.offsetX, event.offsetY);
    };
    canvas.onkeydown = (event) => {
      const step = event.shiftKey ? 200 : 60;
      /** @type {Record<string, () => void>} */
      const keys = {
        ArrowLeft: () => this.move(-step, 0), ArrowRight: () => this.move(step, 0), ArrowUp: () => this.move(0, -step),
        ArrowDown: () => this.move(0, step), "+": () => this.zoom(1.6), "-": () => this.zoom(1 / 1.6), 0: () => this.fit(),
        f: () => this.follow(!this.isFollowing), Enter: () => this.pickAt(this.width / 2, this.height / 2),
      };
      if (!keys[event.key] || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      keys[event.key]();
    };
  }

  get width() { return this.clientWidth || 1; }

  get height() { return this.clientHeight || 1; }

  /** @param {MapContent} data */
  update(data) {
    this.data = data;
    const key = data.key ?? "";
    if (this.fitted !== key && this.places().length) {
      this.fitted = key;
      this.fit();
    } else if (this.isFollowing) {
      this.follow(true);
    }
    this.draw();
  }

  places() {
    const { segments, waypoints, maneuvers } = this.data;
    return [...segments.flatMap((segment) => segment.coordinates), ...waypoints.map((waypoint) => waypoint.at),
      ...maneuvers.map((maneuver) => maneuver.at)];
  }

  /** Shows the whole route. */
  fit() {
    const places = this.places().map(project);
    this.isFollowing = false;
    if (!places.length || this.width < 2) return;
    let [left, right, top, bottom] = [1, 0, 1, 0];
    for (const { x, y } of places) {
      [left, right, top, bottom] = [Math.min(left, x), Math.max(right, x), Math.min(top, y), Math.max(bottom, y)];
    }
    this.center = { x: (left + right) / 2, y: (top + bottom) / 2 };
    const margin = Math.min(48, this.width / 6, this.height / 6);
    this.scale = Math.min(2e7, (this.width - 2 * margin) / Math.max(1e-9, right - left), (this.height - 2 * margin) / Math.max(1e-9, bottom - top));
    this.isMoved = false;
    this.draw();
  }

  /** @param {boolean} isFollowing */
  follow(isFollowing) {
    this.isFollowing = isFollowing;
    if (isFollowing && this.data.position) {
      this.center = project(this.data.position.at);
      this.scale = Math.max(this.scale, 2 ** 22);
      this.isMoved = true;
    }
    this.draw();
  }

  /** @param {number} x @param {number} y In pixels. */
  move(x, y) {
    this.isFollowing = false;
    this.isMoved = true;
    this.center = { x: this.center.x + x / this.scale, y: Math.max(0, Math.min(1, this.center.y + y / this.scale)) };
    this.draw();
  }

  /** @param {number} factor @param {number} [x] @param {number} [y] The place that stays where it is. */
  zoom(factor, x = this.width / 2, y = this.height / 2) {
    const [dx, dy] = [x - this.width / 2, y - this.height / 2];
    const scale = Math.max(200, Math.min(4e8, this.scale * factor));
    this.center = { x: this.center.x + dx / this.scale - dx / scale, y: this.center.y + dy / this.scale - dy / scale };
    this.scale = scale;
    this.isMoved = true;
    this.draw();
  }

  /** @param {number} x @param {number} y */
  pickAt(x, y) {
    const place = unproject({ x: this.center.x + (x - this.width / 2) / this.scale, y: this.center.y + (y - this.height / 2) / this.scale });
    this.data.pick?.(place.map((value) => Math.round(value * 1e6) / 1e6));
  }

  resize() {
    const canvas = /** @type {HTMLCanvasElement} */ (this.canvas);
    const ratio = Math.min(3, devicePixelRatio || 1);
    canvas.width = Math.round(this.width * ratio);
    canvas.height = Math.round(this.height * ratio);
    if (!this.isMoved) this.fit();
    this.draw();
  }

  draw() {
    this.canvas?.setAttribute("aria-label", `Map. ${this.summary()} Arrow keys move, plus and minus zoom, 0 shows the whole route, F follows${this.data.pick ? ", Enter takes the place in the middle" : ""}.`);
    this.followButton?.setAttribute("aria-pressed", String(this.isFollowing));
    this.frame ||= requestAnimationFrame(() => {
      this.frame = 0;
      this.paint();
    });
  }

  summary() {
    const { segments, maneuvers, waypoints, position } = this.data;
    return `${segments.length} route segments, ${maneuvers.length} maneuvers, ${waypoints.length} waypoints, ${position ? "position derived from the estimates" : "position not known"}.`;
  }

  /** @param {Place} place @returns {[number, number]} */
  pixel(place) {
    const { x, y } = project(place);
    return [(x - this.center.x) * this.scale + this.width / 2, (y - this.center.y) * this.scale + this.height / 2];
  }

  /** Pixels for one metre. */
  get pixelsPerMeter() {
    return this.scale / EARTH / Math.cos(unproject(this.center)[0] * Math.PI / 180);
  }

  paint() {
    const context = this.canvas?.getContext("2d");
    if (!context) return;
    const ratio = Math.min(3, devicePixelRatio || 1);
    const style = getComputedStyle(this);
    for (const name of ["map", "map-line", "map-text", "map-road", "route", "route-past", "pin", "panel", "text"]) {
      this.colors[name] = style.getPropertyValue(`--${name}`).trim();
    }
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.fillStyle = this.colors.map;
    context.fillRect(0, 0, this.width, this.height);
    context.lineJoin = context.lineCap = "round";
    context.font = "12px system-ui, 'DejaVu Sans', sans-serif";
    this.paintBasemap(context);
    this.paintGraticule(context);
    this.paintWaypointAreas(context);
    this.paintRoute(context);
    this.paintManeuvers(context);
    this.paintWaypoints(context);
    this.paintPosition(context);
    this.paintScale(context);
  }

  /** @param {CanvasRenderingContext2D} context @param {Place[]} places */
  trace(context, places) {
    context.beginPath();
    places.forEach((place, index) => context[index ? "lineTo" : "moveTo"](...this.pixel(place)));
  }

  /** @param {CanvasRenderingContext2D} context */
  paintBasemap(context) {
    const features = this.data.basemap?.features ?? [];
    const turned = (/** @type {number[]} */ [longitude, latitude]) => [latitude, longitude];
    context.strokeStyle = this.colors["map-road"];
    context.fillStyle = this.colors["map-line"];
    context.lineWidth = 3;
    for (const { geometry } of features) {
      const lines = { LineString: [geometry?.coordinates], MultiLineString: geometry?.coordinates, Polygon: geometry?.coordinates,
        MultiPolygon: geometry?.type === "MultiPolygon" ? geometry.coordinates.flat() : [] };
      const rings = lines[/** @type {keyof lines} */ (geometry?.type)] ?? [];
      for (const ring of rings) {
        this.trace(context, ring.map(turned));
        if (geometry.type.endsWith("Polygon")) context.fill();
        else context.stroke();
      }
    }
  }

  /** @param {CanvasRenderingContext2D} context */
  paintGraticule(context) {
    const step = roundStep(110 / this.scale * 360);
    const [top, left] = unproject({ x: this.center.x - this.width / 2 / this.scale, y: this.center.y - this.height / 2 / this.scale });
    const [bottom, right] = unproject({ x: this.center.x + this.width / 2 / this.scale, y: this.center.y + this.height / 2 / this.scale });
    const places = Math.max(0, Math.ceil(-Math.log10(step)));
    context.strokeStyle = this.colors["map-line"];
    context.fillStyle = this.colors["map-text"];
    context.lineWidth = 1;
    context.beginPath();
    for (let index = Math.ceil(left / step); index * step < right && index - left / step < 99; index++) {
      const [x] = this.pixel([0, index * step]);
      context.moveTo(x, 0);
      context.lineTo(x, this.height);
      context.fillText(`${(index * step).toFixed(places)}°`, x + 3, this.height - 5);
    }
    for (let index = Math.ceil(bottom / step); index * step < top && index - bottom / step < 99; index++) {
      const [, y] = this.pixel([index * step, 0]);
      context.moveTo(0, y);
      context.lineTo(this.width, y);
      context.fillText(`${(index * step).toFixed(places)}°`, 4, y - 4);
    }
    context.stroke();
  }

  /** @param {CanvasRenderingContext2D} context */
  paintRoute(context) {
    for (const segment of this.data.segments) {
      this.trace(context, segment.coordinates);
      context.strokeStyle = this.colors.panel;
      context.lineWidth = 8;
      context.stroke();
    }
    for (const segment of this.data.segments) {
      this.trace(context, segment.coordinates);
      context.strokeStyle = this.colors.route;
      context.lineWidth = segment.isCurrent === false ? 3 : 5;
      // A segment that is not the current one is told by its dashes, not by its colour.
      context.setLineDash(segment.isCurrent === false ? [9, 7] : []);
      context.stroke();
      context.setLineDash([]);
    }
    const traveled = this.data.position?.traveled;
    if (!traveled?.length) return;
    this.trace(context, traveled);
    context.strokeStyle = this.colors["route-past"];
    context.lineWidth = 5;
    context.stroke();
  }

  /** @param {CanvasRenderingContext2D} context */
  paintManeuvers(context) {
    context.textAlign = "center";
    context.font = "bold 11px system-ui, 'DejaVu Sans', sans-serif";
    /** @type {[number, number][]} */
    const taken = [];
    const order = { current: 0, upcoming: 1, past: 2 };
    const rank = (state) => order[/** @type {keyof order} */ (state)] ?? 3;
    for (const { at, label, state } of [...this.data.maneuvers].sort((one, other) => rank(one.state) - rank(other.state))) {
      const [x, y] = this.pixel(at);
      const isCurrent = state === "current";
      // Labels that would cover each other become dots.
      const isSmall = !isCurrent && taken.some(([otherX, otherY]) => Math.hypot(x - otherX, y - otherY) < 20);
      context.beginPath();
      context.arc(x, y, isSmall ? 4 : isCurrent ? 12 : 9, 0, 7);
      context.fillStyle = isCurrent ? this.colors.text : this.colors.panel;
      context.strokeStyle = state === "past" ? this.colors["route-past"] : this.colors.text;
      context.lineWidth = 2;
      context.fill();
      context.stroke();
      if (isSmall) continue;
      taken.push([x, y]);
      context.fillStyle = isCurrent ? this.colors.panel : this.colors.text;
      context.fillText(label, x, y + 4);
    }
    context.textAlign = "start";
  }

  /** The area in which a waypoint counts as reached, to scale. @param {CanvasRenderingContext2D} context */
  paintWaypointAreas(context) {
    context.strokeStyle = this.colors.pin;
    context.lineWidth = 1.5;
    for (const { at, thresholdMeters } of this.data.waypoints) {
      if (!thresholdMeters) continue;
      const [x, y] = this.pixel(at);
      const radius = thresholdMeters * this.pixelsPerMeter;
      if (radius < 3 || radius > 4 * (this.width + this.height)) continue;
      context.beginPath();
      context.arc(x, y, radius, 0, 7);
      context.setLineDash([4, 4]);
      context.stroke();
      context.setLineDash([]);
      context.globalAlpha = 0.1;
      context.fillStyle = this.colors.pin;
      context.fill();
      context.globalAlpha = 1;
    }
  }

  /** @param {CanvasRenderingContext2D} context */
  paintWaypoints(context) {
    context.font = "600 12px system-ui, 'DejaVu Sans', sans-serif";
    for (const { at, kind, name, entryPoints } of this.data.waypoints) {
      context.strokeStyle = this.colors.pin;
      context.lineWidth = 2;
      for (const entry of entryPoints ?? []) {
        const [x, y] = this.pixel(entry);
        context.strokeRect(x - 4, y - 4, 8, 8);
      }
      const [x, y] = this.pixel(at);
      context.fillStyle = kind === "origin" ? this.colors.text : this.colors.pin;
      context.beginPath();
      if (kind === "origin") context.arc(x, y, 6, 0, 7);
      else {
        context.moveTo(x, y);
        context.bezierCurveTo(x - 3, y - 9, x - 10, y - 12, x - 10, y - 20);
        context.arc(x, y - 20, 10, Math.PI, 0);
        context.bezierCurveTo(x + 10, y - 12, x + 3, y - 9, x, y);
      }
      context.fill();
      if (kind !== "origin") {
        context.fillStyle = this.colors.panel;
        context.beginPath();
        if (kind === "stop") context.fillRect(x - 5, y - 22, 10, 4);
        else context.arc(x, y - 20, 4, 0, 7);
        context.fill();
      }
      this.label(context, name, x + 14, y - (kind === "origin" ? -4 : 17));
    }
    if (this.data.picked) this.paintPicked(context, this.data.picked);
  }

  /** @param {CanvasRenderingContext2D} context @param {Place} place */
  paintPicked(context, place) {
    const [x, y] = this.pixel(place);
    context.strokeStyle = this.colors.text;
    context.lineWidth = 2;
    context.beginPath();
    context.moveTo(x - 12, y);
    context.lineTo(x + 12, y);
    context.moveTo(x, y - 12);
    context.lineTo(x, y + 12);
    context.arc(x, y, 7, 0, 7);
    context.stroke();
  }

  /** @param {CanvasRenderingContext2D} context @param {string} text @param {number} x @param {number} y */
  label(context, text, x, y) {
    if (!text) return;
    const shown = text.length > 32 ? `${text.slice(0, 31)}…` : text;
    const width = context.measureText(shown).width;
    const left = x + width > this.width - 4 ? x - width - 28 : x;
    context.lineWidth = 4;
    context.strokeStyle = this.colors.map;
    context.strokeText(shown, left, y);
    context.fillStyle = this.colors.text;
    context.fillText(shown, left, y);
  }

  /** @param {CanvasRenderingContext2D} context */
  paintPosition(context) {
    const position = this.data.position;
    if (!position) return;
    const [x, y] = this.pixel(position.at);
    context.beginPath();
    context.arc(x, y, 9, 0, 7);
    context.fillStyle = this.colors.panel;
    context.globalAlpha = 0.75;
    context.fill();
    context.globalAlpha = 1;
    context.lineWidth = 3.5;
    context.strokeStyle = this.colors.route;
    context.stroke();
  }

  /** @param {CanvasRenderingContext2D} context */
  paintScale(context) {
    let meters = roundStep(90 / this.pixelsPerMeter);
    if (meters * this.pixelsPerMeter > 170) meters /= 2;
    const length = meters * this.pixelsPerMeter;
    const [x, y] = [this.width - 14, this.height - 26];
    context.strokeStyle = context.fillStyle = this.colors.text;
    context.lineWidth = 2;
    context.beginPath();
    context.moveTo(x - length, y - 5);
    context.lineTo(x - length, y);
    context.lineTo(x, y);
    context.lineTo(x, y - 5);
    context.stroke();
    context.textAlign = "right";
    context.fillText(distance(meters), x, y - 8);
    context.textAlign = "start";
  }
}

customElements.define("wm-map", WaymarkMap);

/** The length of a line in metres. @param {Place} from @param {Place} to */
export function meters([fromLatitude, fromLongitude], [toLatitude, toLongitude]) {
  const rad = Math.PI / 180;
  const x = (toLongitude - fromLongitude) * rad * Math.cos((fromLatitude + toLatitude) / 2 * rad);
  return Math.hypot(x, (toLatitude - fromLatitude) * rad) * 6_371_009;
}

/**
 * The point of a line that is `along` metres from its beginning, and the part of the line up to it.
 * @param {Place[]} line @param {number} along
 */
export function pointAlong(line, along) {
  let rest = along;
  for (let index = 1; index < line.length; index++) {
    const length = meters(line[index - 1], line[index]);
    if (rest <= length || index === line.length - 1) {
      const share = length ? Math.max(0, Math.min(1, rest / length)) : 0;
      const place = [0, 1].map((axis) => line[index - 1][axis] + (line[index][axis] - line[index - 1][axis]) * share);
      return { at: place, traveled: [...line.slice(0, index), place] };
    }
    rest -= length;
  }
  return line.length ? { at: line[0], traveled: [line[0]] } : null;
}

/** @param {Place[]} line */
export const lengthOf = (line) => line.reduce((sum, place, index) => (index ? sum + meters(line[index - 1], place) : 0), 0);
