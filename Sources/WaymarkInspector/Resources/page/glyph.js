// Draws a maneuver from its type and angles, and lanes from their angles and status.
// 0 degrees is straight on, clockwise is positive.

import { svg } from "./dom.js";
import { isRoundabout, lanesName, maneuverName, roundaboutExit } from "./words.js";

const TYPE_ANGLES = {
	leftTurn: -90,
	rightTurn: 90,
	leftTurnAtEnd: -90,
	rightTurnAtEnd: 90,
	sharpLeftTurn: -135,
	sharpRightTurn: 135,
	slightLeftTurn: -45,
	slightRightTurn: 45,
	keepLeft: -25,
	keepRight: 25,
	highwayOffRampLeft: -40,
	highwayOffRampRight: 40,
	changeHighwayLeft: -30,
	changeHighwayRight: 30,
};

function toward(from, angle, length) {
	const radians = (angle * Math.PI) / 180;
	return [from[0] + Math.sin(radians) * length, from[1] - Math.cos(radians) * length];
}

const at = (...points) => points.map(one => `${one[0].toFixed(1)} ${one[1].toFixed(1)}`).join(" ");

const line = (d, kind = "route", width = 9) => svg(`path.glyph-${kind}`, { d, "stroke-width": width, fill: "none" });

function head(tip, angle, size = 15, kind = "route") {
	const left = toward(tip, angle + 180 - 38, size),
		right = toward(tip, angle + 180 + 38, size);
	return svg(`path.glyph-${kind}-head`, { d: `M${at(tip)} L${at(left)} L${at(right)} Z`, "stroke-width": 3 });
}

const stub = (from, angle, length) => line(`M${at(from)} L${at(toward(from, angle, length))}`, "road", 8);

/** The angle in which the glyph leaves: as published, otherwise by the type. */
function exitAngle(maneuver) {
	if (maneuver.junctionExitAngle != null) return maneuver.junctionExitAngle;
	const side = maneuver.trafficSide === "left" ? -1 : 1;
	const exit = roundaboutExit(maneuver);
	if (exit && maneuver.type !== "exitRoundabout") {
		return side * (exit <= 3 ? 180 - 90 * exit : Math.max(-165, 90 - 60 * (exit - 1)));
	}
	return (
		{ uTurnAtRoundabout: -179, offRamp: 40, exitRoundabout: 50 }[maneuver.type] * side ||
		(TYPE_ANGLES[maneuver.type] ?? 0)
	);
}

function turn(angle, roads) {
	if (Math.abs(angle) > 110) return sharpTurn(angle, roads);
	const center = [50, 52];
	const radius = 14;
	const tip = toward(center, angle, 40),
		end = toward(center, angle, 31);
	const bend = toward(center, angle, radius);
	return [
		...roads.map(road => stub(center, road, 36)),
		line(`M50 96 L50 ${center[1] + radius} Q${at(center)} ${at(bend)} L${at(end)}`),
		head(tip, angle),
	];
}

function sharpTurn(angle, roads) {
	const side = angle < 0 ? -1 : 1,
		radius = 13,
		x = 50 - 16 * side,
		top = 45;
	const radians = (Math.abs(angle) * Math.PI) / 180;
	const bend = [x + side * radius * (1 - Math.cos(radians)), top - radius * Math.sin(radians)];
	const arc = `A${radius} ${radius} 0 0 ${side > 0 ? 1 : 0} ${at(bend)}`;
	return [
		...roads.map(road => stub([x, top], road, 32)),
		line(`M${x} 96 L${x} ${top} ${arc} L${at(toward(bend, angle, 30))}`),
		head(toward(bend, angle, 40), angle),
	];
}

function fork(angle, roads) {
	const side = angle < 0 ? -1 : 1;
	const others = roads.length ? roads : [-side * 22];
	const center = [50, 66];
	const shown = Math.abs(angle) < 12 ? side * 12 : angle;
	const tip = toward(center, shown, 58),
		end = toward(center, shown, 48);
	return [
		...others.map(road =>
			line(`M50 96 L50 72 Q50 60 ${at(toward(center, road, 24))} L${at(toward(center, road, 54))}`, "road", 8),
		),
		line(`M50 96 L50 74 Q50 62 ${at(toward(center, shown, 22))} L${at(end)}`),
		head(tip, shown),
	];
}

const merge = side => [
	line("M50 96 L50 8", "road", 10),
	line(`M${50 - side * 34} 96 L${50 - side * 34} 78 Q${50 - side * 30} 58 50 50 L50 22`),
	head([50, 10], 0),
];

/** `side`: 1: traffic on the right, so the turn is to the left. */
function uTurn(side, isOptional) {
	const x = 50 + 16 * side,
		far = 50 - 18 * side;
	const path = line(`M${x} 96 L${x} 42 A17 17 0 0 ${side > 0 ? 0 : 1} ${far} 42 L${far} 66`);
	if (isOptional) path.setAttribute("stroke-dasharray", "12 13");
	return [path, head([far, 80], 180)];
}

function roundabout(maneuver, roads) {
	const isClockwise = maneuver.trafficSide === "left";
	const published = exitAngle(maneuver);
	// Back to the road it came from, all the way round.
	const angle = Math.abs(published) === 180 ? (isClockwise ? 179 : -179) : published;
	const isEntered = maneuver.type === "enterRoundabout",
		isLeft = maneuver.type === "exitRoundabout";
	const center = [50, 47];
	const radius = 21;
	const on = at => toward(center, at, radius);
	const parts = [
		svg("circle.glyph-road", { cx: center[0], cy: center[1], r: radius, fill: "none", "stroke-width": 8 }),
	];
	for (const road of roads) parts.push(line(`M${at(on(road))} L${at(toward(center, road, 43))}`, "road", 8));
	const travelled = isClockwise ? (angle + 180 + 360) % 360 : (180 - angle + 360) % 360;
	const span = isEntered ? 90 : travelled;
	const end = isEntered ? (isClockwise ? -90 : 90) : angle;
	const arc = `A${radius} ${radius} 0 ${span > 180 ? 1 : 0} ${isClockwise ? 1 : 0} ${at(on(end))}`;
	const start = isLeft ? angle + (isClockwise ? -70 : 70) : 180;
	const from = isLeft
		? `M${at(on(start))} A${radius} ${radius} 0 0 ${isClockwise ? 1 : 0} ${at(on(end))}`
		: `M50 97 L${at(on(180))} ${arc}`;
	parts.push(line(isEntered ? from : `${from} L${at(toward(center, angle, 38))}`));
	parts.push(isEntered ? head(toward(on(end), 0, 9), 0, 13) : head(toward(center, angle, 46), angle, 13));
	const exit = roundaboutExit(maneuver);
	if (exit && !isLeft) {
		parts.push(
			svg(
				"text.glyph-number",
				{ x: center[0], y: center[1] + 7.5, "text-anchor": "middle", "font-size": 22, "font-weight": 700 },
				exit,
			),
		);
	}
	return parts;
}

/** `side`: -1, 0 or 1: on which side the destination is. */
function arrival(side, isVia) {
	const x = 50 + side * 26;
	const pin = svg("path.glyph-pin", {
		d:
			`M${x} 62 C${x - 6} 48 ${x - 19} 42 ${x - 19} 28 A19 19 0 0 1 ${x + 19} 28 ` +
			`C${x + 19} 42 ${x + 6} 48 ${x} 62 Z`,
	});
	const middle = isVia
		? svg("path.glyph-pin-mark", { d: `M${x - 7} 28 L${x + 7} 28`, "stroke-width": 6 })
		: svg("circle.glyph-pin-hole", { cx: x, cy: 28, r: 7 });
	const road = side
		? [line("M50 96 L50 10", "road", 8), line("M50 96 L50 82 Q50 72 " + `${50 + side * 14} 70`)]
		: [line("M50 96 L50 76")];
	return [...road, pin, middle];
}

function ferry(isLeaving, isChanging) {
	const boat = svg("path.glyph-boat", {
		d: "M16 46 L84 46 L74 66 L26 66 Z M34 42 L34 28 L66 28 L66 42 Z M46 24 L46 14 L54 14 L54 24 Z",
	});
	const waves = line("M10 78 Q20 70 30 78 T50 78 T70 78 T90 78", "road", 5);
	const sign = isChanging
		? [line("M34 92 L60 92", "route", 6), head([72, 92], 90, 12), line("M60 84 L66 84", "road", 1)]
		: isLeaving
			? [line("M50 84 L50 88", "route", 6), head([50, 99], 180, 12)]
			: [line("M50 97 L50 94", "route", 6), head([50, 83], 0, 12)];
	return [waves, boat, ...sign];
}

function drawing(maneuver) {
	const roads = maneuver.junctionElementAngles ?? [];
	const type = maneuver.type ?? "noTurn";
	const side = maneuver.trafficSide === "left" ? -1 : 1;
	const angle = exitAngle(maneuver);
	if (/^arrive/.test(type))
		return arrival(type.endsWith("Left") ? -1 : type.endsWith("Right") ? 1 : 0, !!maneuver.isIntermediateWaypoint);
	if (/ferry/i.test(type)) return ferry(type === "exitFerry", type === "changeFerry");
	if (isRoundabout(maneuver)) return roundabout(maneuver, roads);
	switch (type) {
		case "uTurn":
		case "uTurnWhenPossible":
			return uTurn(Math.abs(angle) > 150 || !angle ? side : angle > 0 ? -1 : 1, type !== "uTurn");
		case "startRouteWithUTurn":
			return [...uTurn(side, false), svg("circle.glyph-start", { cx: 50 + 16 * side, cy: 88, r: 9 })];
		case "startRoute":
			return [line("M50 84 L50 26"), head([50, 10], 0), svg("circle.glyph-start", { cx: 50, cy: 84, r: 10 })];
		case "leftTurnAtEnd":
		case "rightTurnAtEnd":
			return turn(angle, roads.length ? roads : [angle < 0 ? 90 : -90]);
		case "keepLeft":
		case "keepRight":
		case "changeHighway":
		case "changeHighwayLeft":
		case "changeHighwayRight":
			return fork(type === "changeHighway" && !angle ? 25 * side : angle, roads);
		case "offRamp":
		case "highwayOffRampLeft":
		case "highwayOffRampRight":
			return fork(angle, roads.length ? roads : [0]);
		case "onRamp":
			return merge(side);
		case "followRoad":
			return [line("M28 96 L28 8 M72 96 L72 8", "road", 5), line("M50 94 L50 26"), head([50, 10], 0)];
		case "noTurn":
			return [line("M50 94 L50 10", "road", 9)];
		default:
			return turn(angle, roads);
	}
}

export function glyph(maneuver) {
	const name = maneuverName(maneuver);
	return svg(
		"svg.glyph",
		{ viewBox: "0 0 100 100", role: "img", label: name },
		svg(
			"title",
			maneuver.junctionExitAngle != null
				? name
				: `${name} (the client published no exit angle: drawn from the type)`,
		),
		...drawing(maneuver),
	);
}

function laneArrow(angle, kind, x) {
	const width = kind === "lane-dim" ? 4 : 6;
	if (Math.abs(angle) >= 170) {
		const side = angle > 0 ? 1 : -1;
		return [
			line(
				`M${x} 62 L${x} 30 A8 8 0 0 ${side > 0 ? 1 : 0} ${x + side * 15} 30 L${x + side * 15} 38`,
				kind,
				width,
			),
			head([x + side * 15, 48], 180, 10, kind),
		];
	}
	const center = [x, angle === 0 ? 30 : 36];
	const length = angle === 0 ? 20 : 16;
	const tip = toward(center, angle, length),
		end = toward(center, angle, length - 6);
	return [
		line(`M${x} 62 L${x} ${center[1] + 10} Q${at(center)} ${at(end)}`, kind, width),
		head(tip, angle, 10, kind),
	];
}

function laneDrawing(lane, index) {
	const left = index * 44,
		x = left + 22;
	const isTaken = lane.status !== "notGood",
		kind = lane.status === "preferred" ? "preferred" : "good";
	const angles = [...(lane.angles ?? [])].sort(one => (one === lane.highlightedAngle ? 1 : -1));
	const arrows = angles.flatMap(angle =>
		laneArrow(
			angle,
			isTaken && (angle === lane.highlightedAngle || lane.highlightedAngle == null) ? `lane-${kind}` : "lane-dim",
			x,
		),
	);
	const none = angles.length ? [] : [line(`M${x} 62 L${x} 16`, isTaken ? `lane-${kind}` : "lane-dim", 3)];
	// The marks below the arrow tell the status, too: two bars for preferred, one for good.
	const mark =
		lane.status === "preferred"
			? `M${left + 10} 72 h24 M${left + 10} 77 h24`
			: lane.status === "good"
				? `M${left + 10} 74 h24`
				: "";
	return svg(
		"g",
		svg(`rect.lane-tile.lane-tile-${isTaken ? kind : "off"}`, { x: left + 3, y: 2, width: 38, height: 66, rx: 6 }),
		...arrows,
		...none,
		mark && svg("path.lane-mark", { d: mark, "stroke-width": 3 }),
	);
}

export function lanes(guidance) {
	const list = guidance.lanes ?? [];
	const name = lanesName(guidance) || "no lanes";
	const width = Math.max(1, list.length) * 44;
	const borders = Array.from({ length: Math.max(0, list.length - 1) }, (_, index) =>
		svg("path.lane-border", { d: `M${(index + 1) * 44} 6 v58`, "stroke-width": 1.5, "stroke-dasharray": "6 5" }),
	);
	return svg(
		"svg.lanes",
		{ viewBox: `0 0 ${width} 80`, width, height: 80, role: "img", label: name },
		svg("title", name),
		...borders,
		...list.map(laneDrawing),
	);
}
