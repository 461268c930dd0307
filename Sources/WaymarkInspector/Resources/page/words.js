// Names and numbers as people read them.

/** Words for maneuver types that are not those of their names. */
const TYPES = {
	uTurn: "U-turn",
	exitRoundabout: "leave the roundabout",
	offRamp: "take the off-ramp",
	onRamp: "take the on-ramp",
	startRoute: "start of the route",
	arriveAtDestination: "arrive at the destination",
	exitFerry: "leave the ferry",
	changeFerry: "change ferries",
	startRouteWithUTurn: "start with a U-turn",
	uTurnAtRoundabout: "U-turn at the roundabout",
	uTurnWhenPossible: "U-turn when possible",
	highwayOffRamp: "leave the highway",
	leftTurnAtEnd: "left turn at the end of the road",
	rightTurnAtEnd: "right turn at the end of the road",
};

export const degrees = degrees => `${String(degrees).replace("-", "−")}°`;

export function angleWords(angle) {
	if (angle === 0) return "straight on";
	if (Math.abs(angle) === 180) return "back";
	return `${Math.abs(angle)} degrees to the ${angle < 0 ? "left" : "right"}`;
}

/** With the side, if its name ends with one: "arriveAtDestinationLeft". */
function sidedName(type) {
	const [, base, side] = /^(.+?)(Left|Right)?$/.exec(type) ?? [];
	return TYPES[base] && TYPES[base] + (side ? ` on the ${side.toLowerCase()}` : "");
}

export const typeName = type =>
	sidedName(type) ??
	(/^roundaboutExit\d/.test(type)
		? type.replace("roundaboutExit", "roundabout, exit ")
		: sentence(type).replace(/^(enter|follow) /, "$1 the "));

export function roundaboutExit(maneuver) {
	const named = /^roundaboutExit(\d+)$/.exec(maneuver.type ?? "");
	return maneuver.roundaboutExitNumber || Number(named?.[1] ?? 0);
}

export function maneuverName(maneuver) {
	const parts = [typeName(maneuver.type)];
	const exit = roundaboutExit(maneuver);
	if (exit && !parts[0].includes("exit")) parts.push(`exit ${exit}`);
	const angle = maneuver.junctionExitAngle;
	if (angle != null)
		parts.push(
			angle && parts[0].includes(angle < 0 ? "left" : "right") ? `${Math.abs(angle)} degrees` : angleWords(angle),
		);
	if (isRoundabout(maneuver)) parts.push(maneuver.trafficSide === "left" ? "clockwise" : "anticlockwise");
	if (maneuver.isIntermediateWaypoint) parts.push("stop on the way");
	if (maneuver.highwayExitLabel) parts.push(`exit label ${maneuver.highwayExitLabel}`);
	return parts.join(", ");
}

export const isRoundabout = maneuver =>
	maneuver.junctionType === "roundabout" || /roundabout/i.test(maneuver.type ?? "");

export function laneName(lane, index, count) {
	const parts = [
		`lane ${index + 1} of ${count}`,
		lane.status === "notGood" ? "not along the route" : sentence(lane.status),
	];
	const angles = lane.angles ?? [];
	if (lane.highlightedAngle != null) parts.push(`take it ${angleWords(lane.highlightedAngle)}`);
	const others = angles.filter(angle => angle !== lane.highlightedAngle);
	if (others.length)
		parts.push(`${lane.highlightedAngle == null ? "leads" : "also leads"} ${others.map(angleWords).join(" and ")}`);
	if (!angles.length) parts.push("no arrows");
	return parts.join(", ");
}

export const lanesName = guidance =>
	(guidance.lanes ?? []).map((lane, index) => laneName(lane, index, guidance.lanes.length)).join("; ");

export function sentence(name) {
	return String(name ?? "")
		.replace(/([a-z0-9])([A-Z])/g, "$1 $2")
		.replace(/_/g, " ")
		.replace(/ [A-Z](?=[a-z])/g, letter => letter.toLowerCase());
}

export function distance(meters) {
	if (meters == null) return "";
	if (meters < 1000) return `${Math.round(meters)} m`;
	return `${(meters / 1000).toFixed(meters < 100_000 ? 1 : 0)} km`;
}

const UNITS = { meters: "m", kilometers: "km", feet: "ft", yards: "yd", miles: "mi" };

export function displayed(estimates) {
	if (estimates?.displayTenths == null) return "";
	return `${estimates.displayTenths / 10} ${UNITS[estimates.displayUnit] ?? estimates.displayUnit}`;
}

export const shownDistance = estimates => displayed(estimates) || distance(estimates?.distanceMeters);

export function duration(seconds) {
	if (seconds == null) return "";
	if (seconds < 60) return `${Math.round(seconds)} s`;
	const minutes = Math.round(seconds / 60);
	if (minutes < 60) return `${minutes} min`;
	return `${Math.floor(minutes / 60)} h ${String(minutes % 60).padStart(2, "0")} min`;
}

export function bytes(count) {
	if (count == null) return "";
	return count < 1024
		? `${count} B`
		: count < 1_048_576
			? `${(count / 1024).toFixed(1)} KiB`
			: `${(count / 1_048_576).toFixed(1)} MiB`;
}

export function clock(time) {
	const date = new Date(time ?? NaN);
	return Number.isNaN(date.getTime())
		? ""
		: new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(11, 23);
}

export const minutes = time => clock(time).slice(0, 5);

export function offset(seconds) {
	const text = new Date(seconds * 1000).toISOString();
	return seconds < 3600 ? text.slice(14, 21).replace(/^0/, "") : `${Math.floor(seconds / 3600)}${text.slice(13, 21)}`;
}

/** Hidden places are told as 0, 0. */
export const isPlace = coordinate => !!coordinate?.some(Boolean);

export const coordinate = coordinate =>
	isPlace(coordinate) ? `${coordinate[0].toFixed(5)}, ${coordinate[1].toFixed(5)}` : "";

export const estimatesText = estimates =>
	[shownDistance(estimates), duration(estimates?.timeSeconds)].filter(Boolean).join(", ");

export const waypointName = waypoint => waypoint?.nameVariants?.[0] ?? coordinate(waypoint?.center);

export const counted = (count, noun, nouns = `${noun}s`) => `${count} ${count === 1 ? noun : nouns}`;
