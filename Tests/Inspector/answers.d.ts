// Made by scripts/generate/answers.py from Sources/WaymarkInspector*/Answers. Do not edit.

declare namespace Answer {
	/** An object with members that no structure names: a part of the model, or a line of a recording. */
	interface Members {
		[name: string]: any;
	}

	/** The members of every answer about a source. */
	interface Context {
		source: string;
		/** Seconds since the source begins. */
		at: number;
		time: string;
		now: string;
	}

	interface Failure {
		error: FailureReason;
	}

	interface FailureReason {
		code: string;
		reason: string;
		field?: string;
	}

	/** A reason why a cell is empty or cut. */
	interface Reason {
		side: string;
		path: string;
		reason: string;
		text: string;
		next?: string;
		feature?: string;
		code?: string;
		limit?: string;
		sequence?: number;
		count?: number;
		value?: number;
	}

	/** The actions of a vehicle. */
	interface Actions {
		enabled: boolean;
		/** The reason why actions are not possible. */
		reason?: string;
		vehicle?: string;
		endpoint?: OwnEndpoint;
		prompt?: Prompt;
		share?: OfferedShare;
		/** Seconds, so that the page knows which of two answers is newer. */
		at?: number;
		done: Action[];
	}

	/** The inspector's own endpoint. */
	interface OwnEndpoint {
		endpoint: string;
		state: string;
		reason?: string;
		/** The name of the configuration with which it is connected as a display. */
		configuration?: string;
		/** The state that it holds as a display. */
		held?: any;
		/** The last messages that it received, as a display; the newest is the last. */
		received?: Received[];
	}

	interface Received {
		message: string;
		at: number;
	}

	interface Prompt {
		requestID: string;
		waypoint: any;
		travelEstimates: any;
		deadline: number;
	}

	interface OfferedShare {
		shareID: string;
		destination: any;
		deadline: number;
	}

	interface Action {
		id: string;
		action: string;
		text: string;
		at: number;
		/** `underWay` or `ended`. */
		state: string;
		outcome?: string;
		explanation?: string;
		requestID?: string;
	}

	/** The action that has begun. */
	interface Begun {
		id: string;
	}

	/** The end of a part of the history. */
	interface PartEnd {
		truncated: boolean;
		/** The place where the next part begins. */
		next?: string;
		scanned: number;
		/** Seconds; nothing older is kept. */
		from: number;
	}

	interface Entries {
		entries: (Members & Entry)[];
		last?: string;
	}

	interface EntriesEvent {
		view: string;
		entries: (Members & Entry)[];
		skipped: number;
	}

	/** The members of an entry beside its line of `waymark watch --json`. */
	interface Entry {
		number: number;
		entry: string;
		at: number;
		time: string;
		text?: string;
		delivery?: string;
		vehicles?: string[];
	}

	interface Frame {
		entry: string;
		at: number;
		line: Members & Entry;
		hex: string;
		tree: FrameNode[];
		redacted: boolean;
		hexTruncated?: boolean;
		others: FrameHop[];
	}

	/** A node of a frame's tree; ranges are `[first, end)`. */
	interface FrameNode {
		name: string;
		range: number[];
		valueRange?: number[];
		number?: number;
		type?: string;
		text?: string;
		problem?: string;
		unknown?: boolean;
		value?: any;
		children?: FrameNode[];
	}

	/** The same publication on another hop. */
	interface FrameHop {
		entry: string;
		at: number;
		message: string;
		bytes: number;
		fitted: boolean;
		from?: string;
		to?: string[];
	}

	interface Updates {
		rows: (UpdateCells & UpdateRow)[];
	}

	/** The columns that are of the state. */
	interface UpdateCells {
		generation: number;
		maneuverState: string;
		upcoming: number[];
		maneuverCount: number;
		laneGuidanceCount: number;
		phase: string;
		pauseReason?: string;
		endReason?: string;
		currentRoadName?: string;
		speedLimit?: string;
		nextSpeedLimit?: string;
		destination?: string;
		laneGuidance?: number;
		distanceLeftMeters?: number;
		distanceLeftShown?: Display;
		timeLeftSeconds?: number;
		toManeuverMeters?: number;
		toManeuverShown?: Display;
		timeToManeuverSeconds?: number;
		arrivalBatteryPerMille?: number;
		departureBatteryPerMille?: number;
		utcOffsetMinutes?: number;
		rerouteReason?: string;
		arrival?: string;
	}

	interface UpdateRow {
		entry: string;
		number: number;
		at: number;
		time: string;
		message: string;
		sequence: number;
		session: number;
		client: string;
		bytes: number;
		rejected: boolean;
		fittedFor: string[];
		derived: string[];
		changed: string[];
	}

	interface Receipts {
		session: number;
		published: number;
		endpoints: EndpointReceipts[];
		rows: ReceiptRow[];
		truncated: boolean;
		why: Reason[];
	}

	interface EndpointReceipts {
		endpoint: string;
		received?: number;
		shown?: number;
		behind?: number;
		behindAtLeast?: boolean;
		receiptAt?: number;
		/** Delays from when the gateway accepted publications until the endpoint had received them. */
		receivedDelays?: Delays;
		/** The same until their content was on its display. */
		shownDelays?: Delays;
	}

	interface Delays {
		count: number;
		lastMilliseconds: number;
		meanMilliseconds: number;
	}

	interface ReceiptRow {
		sequence: number;
		message: string;
		entry: string;
		sentAt: number;
		endpoints: { [name: string]: Confirmation };
	}

	interface Confirmation {
		receivedAt?: number;
		shownAt?: number;
	}

	interface Requests {
		requests: Request[];
		truncated: boolean;
	}

	interface Request {
		requestID: string;
		vehicle: string;
		/** `stop` or `drive`. */
		request: string;
		stage: string;
		by?: string;
		begin?: number;
		waypoint?: any;
		segment?: string;
		destination?: any;
		client?: string;
		session?: number;
		deadline?: number;
		end?: number;
		outcome?: string;
		steps: RequestStep[];
		why?: RequestWhy;
	}

	interface RequestStep {
		at: number;
		what: string;
		text: string;
		entry: string;
		peer?: string;
		outcome?: string;
		accepted?: boolean;
		travelEstimates?: any;
		deadline?: number;
		field?: string;
		reason?: string;
	}

	interface RequestWhy {
		text: string;
		by?: string;
		/** The index of the step that decided. */
		step: number;
	}

	interface Destinations {
		destinations: SharedDestination[];
		truncated: boolean;
	}

	interface SharedDestination {
		shareID: string;
		destination: any;
		stage: string;
		client: string;
		at: number;
		time: string;
		entry: string;
		by?: string;
		outcome?: string;
	}

	interface Findings {
		findings: Finding[];
		truncated: boolean;
		/** The part of the source that is judged, 0 to 1. */
		judging: number;
		stopped: boolean;
		off: string[];
		rules: RuleCount[];
		unjudgedSessions?: number;
	}

	interface Finding {
		kind: string;
		rule: string;
		sentence: string;
		peer: string;
		number: number;
		vehicles: string[];
		at: number;
		time: string;
		text: string;
		session?: number;
		field?: string;
		values?: { [name: string]: string };
	}

	interface RuleCount {
		rule: string;
		found: number;
		omitted: number;
	}

	interface Moments {
		from: number;
		to: number;
		moments: Moment[];
		density: number[];
		truncated: boolean;
		next?: number;
	}

	interface Moment {
		at: number;
		lane: string;
		text: string;
		event?: string;
		requestID?: string;
		verdict?: string;
		step?: number;
		vehicles?: string[];
	}

	/** A part of what a vehicle was told over time. */
	interface Lanes {
		from: number;
		to: number;
		bands: Band[];
		curves: Curve[];
		/** Entries of columns that have too many were left out. */
		sampled: boolean;
		/** There is more: it is asked for with `after`. */
		truncated: boolean;
		/** The place of the last entry that the part knows of; the next part, and what happens later, come after it. */
		last: string;
	}

	/** A word that holds until the next one of its lane; empty for none. A part begins with what holds. */
	interface Band {
		lane: string;
		endpoint?: string;
		at: number;
		text: string;
	}

	interface Curve {
		name: string;
		endpoint?: string;
		/** Seconds and value, at most three in each column: the lowest, the highest and the last. The rate has one at the beginning of each column; where two parts have the same column, their sum is its rate. */
		points: number[][];
	}

	interface Overview {
		totals: Totals;
		truncated: boolean;
		vehicles: (VehicleRecord & OverviewRow)[];
		next?: string;
	}

	/** The overview in a stream: rows that are new or differ from those that were told. */
	interface OverviewEvent {
		view: string;
		totals: Totals;
		truncated: boolean;
		order: string[];
		at: number;
		changed: (VehicleRecord & OverviewRow)[];
		gone: string[];
		next?: string;
	}

	interface Totals {
		vehicles: number;
		clients: number;
		sessions: number;
		requests: number;
		matching: number;
		sessionsWithoutContent?: number;
		waitingBytes?: number;
		framesPerSecond?: number;
		deliveriesPerSecond?: number;
	}

	/** The first clients and sessions. */
	interface Others {
		clients: (ClientRecord & Connection)[];
		sessions: SessionRecord[];
		othersTruncated: boolean;
	}

	/** The members of a vehicle's row beside its record. */
	interface OverviewRow {
		openRequests: number;
		findings: number;
		waitingBytes?: number;
		client?: string;
		phase?: string;
		suspended?: boolean;
		generation?: number;
		sequence?: number;
		currentRoadName?: string;
		destination?: string;
		nextManeuverType?: string;
		nextManeuver?: string;
		trafficSide?: string;
		junctionExitAngle?: number;
		distanceToManeuverMeters?: number;
		distanceLeftMeters?: number;
		timeLeftSeconds?: number;
		ageSeconds?: number;
		derived: string[];
	}

	/** Whether an endpoint or client is connected, since when or until when, and what waits for it. */
	interface Connection {
		connected: boolean;
		since?: string;
		until?: string;
		waitingBytes?: number;
		conflated?: number;
	}

	interface VehicleRecord {
		vehicle: string;
		session: number;
		navigatesItself: boolean;
		hasStopped: boolean;
		guidanceWanted: boolean;
		owner: string;
		standing: string[];
		/** None in a preview. */
		endpoints?: (EndpointRecord & Connection)[];
		routeSource?: string;
		routeFeedback?: any;
	}

	interface EndpointRecord {
		endpoint: string;
		ready: boolean;
		features: string[];
		withheld: { [name: string]: string };
		standing: string[];
		received?: number;
		shown?: number;
		limits?: { [name: string]: number };
		settings?: Settings;
		locale?: string;
		distanceUnits?: string;
	}

	interface Settings {
		compass?: string;
		speedLimit?: string;
		contentStyle?: string;
		limitedUserInterfaces?: number;
	}

	interface ClientRecord {
		client: string;
		displayName: string;
		priority: number;
		owner: string;
		features: string[];
		sessions: number[];
	}

	interface SessionRecord {
		session: number;
		client: string;
		phase: string;
		suspended: boolean;
		generation: number;
		anyThatAsked: boolean;
		optedOut: string[];
		vehicles: string[];
		alertID?: number;
		withoutContent?: boolean;
		sequence?: number;
		retainedBytes?: number;
		replayBytes?: number;
		ageMilliseconds?: number;
		framesPerSecond?: number;
	}

	interface Sources {
		version: number;
		software: string;
		now: string;
		act: Act;
		redact: boolean;
		basemap: boolean;
		sources: Source[];
	}

	/** Whether actions are possible, and why not. */
	interface Act {
		enabled: boolean;
		reason?: string;
	}

	interface Source {
		source: string;
		begin: string;
		from: number;
		to: number;
		/** `live` or `recording`. */
		kind: string;
		gateway: Gateway;
		address?: string;
		connection?: { [name: string]: string };
		kept?: Kept;
		file?: string;
		recording?: Recording;
	}

	interface Gateway {
		showsContent: boolean;
		instance?: string;
		software?: string;
		start?: string;
	}

	interface Kept {
		entries: number;
		bytes: number;
		bytesMax: number;
		dropped: number;
		missed: number;
		contentBytes: number;
		contentBytesMax: number;
		sessionsWithoutContent: number;
	}

	interface Recording {
		bytes: number;
		whole: boolean;
		messages: number;
		damagedChunks: number;
		redacted?: boolean;
		visibility?: string;
		recorder?: string;
		run?: { [name: string]: string };
	}

	interface Names {
		maneuverTypes: NumberedName[];
		laneStatuses: NumberedName[];
		routeSources: NumberedName[];
		clusterSettings: NumberedName[];
		contentStyles: NumberedName[];
		stopKinds: NumberedName[];
		junctionTypes: NumberedName[];
		distanceUnits: NumberedName[];
		zoomDirections: NumberedName[];
		outcomes: ExplainedName[];
		features: ExplainedName[];
		withholdingReasons: ExplainedName[];
		reasons: string[];
		eventKinds: string[];
		entryKinds: string[];
		messages: string[];
		lintRules: LintRule[];
	}

	interface NumberedName {
		name: string;
		raw: number;
	}

	interface ExplainedName {
		name: string;
		text: string;
	}

	interface LintRule {
		rule: string;
		sentence: string;
	}

	/** The profiles that ship, and what profiles can say. */
	interface Profiles {
		profiles: Profile[];
		features: string[];
		limits: { [name: string]: ProfileLimit };
		distanceUnits: string[];
	}

	interface Profile {
		name: string;
		profile: any;
	}

	interface ProfileLimit {
		unit: string;
		max: number;
	}

	interface Comparison {
		a: ComparedState;
		b: ComparedState;
		differences: Difference[];
		truncated: boolean;
	}

	interface ComparedState {
		source: string;
		at: number;
		vehicle: string;
		state?: any;
	}

	interface Difference {
		path: string;
		a?: any;
		b?: any;
	}

	/** The view that an event is for. */
	interface View {
		view: string;
	}

	interface Gap {
		missed: number;
	}

	/** A sign of life. */
	interface Beat {
		at: number;
		from: number;
		now: string;
	}

	interface Vehicle {
		number: number;
		why: Reason[];
		vehicle?: VehicleRecord;
		client?: ClientRecord & Connection;
		session?: SessionRecord;
		routeKey?: string;
		published?: any;
		held?: any;
		heldBy?: Holder;
		card?: Card;
		arrival?: Arrival;
		position?: Position;
		batteries?: Batteries;
	}

	interface Holder {
		endpoint: string;
		/** The way in which it is known what the endpoint holds. */
		basis: string;
		published: number;
		derived: boolean;
		sent: number;
		text: string;
		received?: number;
		waitingBytes?: number;
		conflated?: number;
	}

	/** The next maneuver as the endpoint shows it. */
	interface Card {
		maneuver: number;
		variants: string[];
		maneuverState: string;
		glyph: Glyph;
		text: string;
		chosenVariant?: string;
		road?: string;
		exitLabel?: string;
		lanes?: number;
		distanceMeters?: number;
		timeSeconds?: number;
		display?: Display;
	}

	interface Glyph {
		shape: string;
		side: string;
		angle?: number;
		elements?: number[];
		exit?: number;
	}

	interface Display {
		tenths: number;
		unit: string;
	}

	interface Arrival {
		time: string;
		derived: boolean;
		basis: string;
		utcOffsetMinutes?: number;
		timeZone?: string;
	}

	interface Position {
		coordinate: number[];
		segment: string;
		derived: boolean;
		basis: string;
		lengthMeters: number;
		distanceLeftMeters: number;
	}

	interface Batteries {
		arrivalPerMille?: number;
		departurePerMille?: number;
	}

	interface Tables {
		maneuvers: ManeuverRow[];
		laneGuidances: LaneGuidanceRow[];
		segments: (Members & SegmentRow)[];
		stops: any[];
		routeKey?: string;
		routeSource?: string;
		/** A sentence about how far the vehicle gets. */
		routeFeedback?: string;
	}

	interface ManeuverRow {
		order: number;
		id: number;
		state: string;
		published: any;
		glyph: Glyph;
		text: string;
		why: Reason[];
		addedBy?: number;
		estimates?: any;
		held?: any;
		chosenVariant?: number;
		distanceFromPreviousMeters?: number;
		at?: number[];
		segment?: string;
		derived?: string[];
	}

	interface LaneGuidanceRow {
		order: number;
		id: number;
		current: boolean;
		linkedFrom: number[];
		published: any;
		text: string;
		why: Reason[];
		held?: any;
		addedBy?: number;
	}

	/** The members of a segment's row beside the segment. */
	interface SegmentRow {
		order: number;
		current: boolean;
		points: PointCounts;
		why: Reason[];
		lengthMeters?: number;
		derived?: string[];
	}

	interface PointCounts {
		published: number;
		held?: number;
	}

	interface Route {
		routeKey?: string;
		truncated?: boolean;
		segments: RouteSegment[];
		maneuvers: RouteManeuver[];
		places: (Members & PlaceRole)[];
		position?: Position;
		/** The south-western and the north-eastern corner. */
		bounds?: number[][];
	}

	interface RouteSegment {
		id: string;
		current: boolean;
		published: Line;
		why: Reason[];
		held?: Line;
	}

	interface Line {
		coordinates: number[][];
	}

	interface RouteManeuver {
		id: number;
		coordinate: number[];
		segment: string;
		derived: boolean;
	}

	interface PlaceRole {
		role: string;
	}
}
