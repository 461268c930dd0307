// Draws a speed limit as the sign beside the road: round of the Vienna Convention, or rectangular of the MUTCD.

import { html, svg } from "./dom.js";
import { sentence, shownDistance } from "./words.js";

const UNITS = { kilometersPerHour: "km/h", milesPerHour: "mph" };

/** In words, e.g. "35 mph, school zone"; empty for a limit that is not known. */
export function limitWords(limit) {
	if (!limit || limit.status === "unknown") return "";
	const value = limit.status === "limited" ? `${limit.value} ${UNITS[limit.unit] ?? limit.unit ?? ""}` : "no limit";
	return [value, limit.kind !== "posted" && limit.kind && sentence(limit.kind)].filter(Boolean).join(", ");
}

export const aheadWords = next => (next ? [limitWords(next), shownDistance(next)].filter(Boolean).join(" in ") : "");

const text = (y, size, content) =>
	svg("text.sign-text", { x: 50, y, "font-size": size, "text-anchor": "middle" }, content);

function drawing({ status, value, sign }) {
	if (status === "limited" && sign === "mutcd")
		return [
			svg("rect.sign-plate", { x: 12, y: 2, width: 76, height: 96, rx: 8, "stroke-width": 3 }),
			text(24, 18, "SPEED"),
			text(43, 18, "LIMIT"),
			text(87, value > 99 ? 36 : 44, value),
		];
	const plate = kind => svg(`circle.sign-${kind}`, { cx: 50, cy: 50, r: 44, "stroke-width": 9 });
	if (status === "limited" && sign === "vienna") return [plate("ring"), text(65, value > 99 ? 34 : 44, value)];
	if (status === "none" && sign === "vienna")
		return [plate("plate"), svg("path.sign-end", { d: "M24 76 L76 24", "stroke-width": 9 })];
	return null;
}

/** The sign of a limit; words where its shape is not known, and null for a limit that is not known. */
export function speedSign(limit) {
	const words = limitWords(limit);
	if (!words) return null;
	const shapes = drawing(limit);
	if (!shapes) return html("span.sign-words", words);
	return svg("svg.sign", { viewBox: "0 0 100 100", role: "img", label: `Speed limit ${words}` }, shapes);
}
