// Names and numbers as people read them.

/** The names of CarPlay's maneuver types, in the order of their raw values; the words follow where they are not those of the name. */
const TYPES = `noTurn leftTurn rightTurn straightAhead uTurn:U-turn followRoad:follow_the_road enterRoundabout:enter_the_roundabout exitRoundabout:leave_the_roundabout
offRamp:take_the_off-ramp onRamp:take_the_on-ramp arriveEndOfNavigation startRoute:start_of_the_route arriveAtDestination:arrive_at_the_destination keepLeft keepRight
enterFerry:enter_the_ferry exitFerry:leave_the_ferry changeFerry:change_ferries startRouteWithUTurn:start_with_a_U-turn uTurnAtRoundabout:U-turn_at_the_roundabout
leftTurnAtEnd:left_turn_at_the_end_of_the_road rightTurnAtEnd:right_turn_at_the_end_of_the_road highwayOffRampLeft:leave_the_highway_on_the_left
highwayOffRampRight:leave_the_highway_on_the_right arriveAtDestinationLeft:arrive_at_the_destination_on_the_left
arriveAtDestinationRight:arrive_at_the_destination_on_the_right uTurnWhenPossible:U-turn_when_possible arriveEndOfDirections
${Array.from({ length: 19 }, (_, index) => `roundaboutExit${index + 1}:roundabout,_exit_${index + 1}`).join(" ")}
sharpLeftTurn sharpRightTurn slightLeftTurn slightRightTurn changeHighway:change_highways changeHighwayLeft:change_highways,_keep_left
changeHighwayRight:change_highways,_keep_right`.split(/\s+/).map(type => type.split(":"));
export const maneuverTypes = TYPES.map(([name]) => name);

const typeWords = new Map(TYPES.map(([name, words]) => [name, words?.replace(/_/g, " ")]));

export const degrees = degrees => `${String(degrees).replace("-", "−")}°`;

export function angleWords(angle) {
	if (angle === 0) return "straight on";
	if (Math.abs(angle) === 180) return "back";
	return `${Math.abs(angle)} degrees to the ${angle < 0 ? "left" : "right"}`;
}

export const typeName = type => typeWords.get(type) ?? sentence(type).toLowerCase();

/** The number of the exit of a roundabout; undefined if there is none. */
export function roundaboutExit(maneuver) {
	const named = /^roundaboutExit(\d+)$/.exec(maneuver.type ?? "");
	return maneuver.roundaboutExitNumber || (named ? Number(named[1]) : undefined);
}

export function maneuverName(maneuver) {
	const parts = [typeName(maneuver.type)];
	const exit = roundaboutExit(maneuver);
	if (exit && !parts[0].includes("exit")) parts.push(`exit ${exit}`);
	if (maneuver.junctionExitAngle !== undefined) {
		const angle = maneuver.junctionExitAngle;
		const side = angle < 0 ? "left" : "right";
		const isNamed = parts[0].includes(side) && angle !== 0;
		parts.push(isNamed ? `${Math.abs(angle)} degrees` : angleWords(angle));
	}
	if (isRoundabout(maneuver)) parts.push(maneuver.trafficSide === "left" ? "clockwise" : "anticlockwise");
	if (maneuver.isIntermediateWaypoint) parts.push("stop on the way");
	if (maneuver.highwayExitLabel) parts.push(`exit label ${maneuver.highwayExitLabel}`);
	return parts.join(", ");
}

export const isRoundabout = maneuver =>
	maneuver.junctionType === "roundabout" || /roundabout/i.test(maneuver.type ?? "");

export function laneName(lane, index, count) {
	const parts = [`lane ${index + 1} of ${count}`, laneStatus(lane.status)];
	const angles = lane.angles ?? [];
	if (lane.highlightedAngle !== undefined) parts.push(`take it ${angleWords(lane.highlightedAngle)}`);
	const others = angles.filter(angle => angle !== lane.highlightedAngle);
	if (others.length) parts.push(`${lane.highlightedAngle === undefined ? "leads" : "also leads"} ${others.map(angleWords).join(" and ")}`);
	if (!angles.length) parts.push("no arrows");
	return parts.join(", ");
}

export const laneStatus = status => ({ notGood: "not along the route", good: "good", preferred: "preferred" })[status] ?? sentence(status);

export const lanesName = guidance =>
	(guidance.lanes ?? []).map((lane, index) =>
		laneName(lane, index, guidance.lanes.length)).join("; ");

export function sentence(name) {
	return String(name ?? "").replace(/([a-z0-9])([A-Z])/g, "$1 $2").replace(/_/g, " ")
		.replace(/ [A-Z](?=[a-z])/g, letter => letter.toLowerCase());
}

export function distance(meters) {
	if (meters === undefined || meters === null) return "";
	if (meters < 1000) return `${Math.round(meters)} m`;
	return `${(meters / 1000).toFixed(meters < 100_000 ? 1 : 0)} km`;
}

const UNITS = { meters: "m", kilometers: "km", feet: "ft", yards: "yd", miles: "mi" };

/** The distance that the client wants shown; empty if it leaves that to the vehicle. */
export function displayed(estimates) {
	if (estimates?.displayTenths === undefined) return "";
	const unit = UNITS[(estimates.displayUnit)] ?? estimates.displayUnit;
	return `${estimates.displayTenths / 10} ${unit}`;
}

/** The distance to show: the client's, otherwise the true one. */
export const shownDistance = estimates => displayed(estimates) || distance(estimates?.distanceMeters);

export function duration(seconds) {
	if (seconds === undefined || seconds === null) return "";
	if (seconds < 60) return `${Math.round(seconds)} s`;
	const minutes = Math.round(seconds / 60);
	if (minutes < 60) return `${minutes} min`;
	return `${Math.floor(minutes / 60)} h ${String(minutes % 60).padStart(2, "0")} min`;
}

export function bytes(count) {
	if (count === undefined || count === null) return "";
	if (count < 1024) return `${count} B`;
	if (count < 1024 * 1024) return `${(count / 1024).toFixed(1)} KiB`;
	return `${(count / 1024 / 1024).toFixed(1)} MiB`;
}

/** The time of day, with milliseconds, in the reader's time zone. */
export function clock(time) {
	if (time === undefined || time === null || time === "") return "";
	const date = new Date(time);
	if (Number.isNaN(date.getTime())) return String(time);
	const two = value => String(value).padStart(2, "0");
	return `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}.${String(date.getMilliseconds()).padStart(3, "0")}`;
}

export const minutes = time => clock(new Date(time)).slice(0, 5);

export function offset(seconds) {
	const whole = Math.floor(seconds);
	const two = value => String(value).padStart(2, "0");
	const hours = Math.floor(whole / 3600);
	const rest = `${hours ? two(Math.floor(whole / 60) % 60) : Math.floor(whole / 60)}:${two(whole % 60)}`;
	return `${hours ? `${hours}:` : ""}${rest}.${Math.floor((seconds - whole) * 10)}`;
}

export const coordinate = coordinate =>
	coordinate ? `${coordinate[0].toFixed(5)}, ${coordinate[1].toFixed(5)}` : "";

export const estimatesText = estimates => [shownDistance(estimates), duration(estimates?.timeSeconds)].filter(Boolean).join(", ");

/** The first of a waypoint's names, otherwise its place. */
export const waypointName = waypoint => waypoint?.nameVariants?.[0] ?? coordinate(waypoint?.center);

export const counted = (count, noun) => `${count} ${noun}${count === 1 ? "" : "s"}`;
