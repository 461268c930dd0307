// What the modules of the inspector's page share: answers by their paths behind /api/, views and tables. The page is served without it.

type Framed<Content> = Answer.Context & Content;
type Entry = Answer.Members & Answer.Entry;
type OverviewRow = Answer.VehicleRecord & Answer.OverviewRow;

interface Answers {
	sources: Answer.Sources;
	names: Answer.Names;
	overview: Framed<Answer.Others & Answer.Overview>;
	vehicle: Framed<Answer.Vehicle>;
	"vehicle/tables": Framed<Answer.Tables>;
	"vehicle/destinations": Framed<Answer.Destinations>;
	route: Framed<Answer.Route>;
	updates: Framed<Answer.Updates & Answer.PartEnd>;
	entries: Framed<Answer.Entries & Answer.PartEnd>;
	frame: Framed<Answer.Frame>;
	receipts: Framed<Answer.Receipts>;
	requests: Framed<Answer.Requests>;
	findings: Framed<Answer.Findings>;
	moments: Framed<Answer.Moments>;
	lanes: Framed<Answer.Lanes>;
	compare: Answer.Comparison;
	profiles: Answer.Profiles;
	actions: Answer.Actions;
}

/** Entries, and how many of the stream were left out. */
interface ListedEntries {
	entries: Answers["entries"];
	skipped?: number;
}

/** The parameters in the address of the page. */
type Route = { [name: string]: any };

/** What is known beside the data of a view. */
interface Context {
	route: Route;
	source: Answer.Source;
	sources: Answer.Source[];
	act: Answer.Act;
	names: Answer.Names;
	hasBasemap: boolean;
	isLive: boolean;
	isVirtual: boolean;
	isBusy: boolean;
	newest: number;
	redraw(): void;
	reload(): void;
}

/** A view: what it loads, and how that is drawn. */
interface View<Data> {
	title: string;
	/** The views of the stream that it shows. */
	streams?(route: Route): string[];
	/** Whether it loads again when the vehicle has changed. */
	follows?: boolean;
	/** Whether it is drawn each second. */
	ticks?: boolean;
	load(route: Route, signal?: AbortSignal, old?: Data, sources?: Answer.Source[]): Promise<Data>;
	/** Whether it loads each second. */
	reloads?(data: Data): boolean;
	/** Takes over what the stream tells of the overview. */
	receive?(data: Data, change: Answer.Others & Answer.OverviewEvent): void;
	/** Loads more when the vehicle has changed. */
	after?(data: Data, route: Route, signal: AbortSignal): Promise<void>;
	draw(data: Data, context: Context): any;
}

type Load<Data> = (route: Route, signal?: AbortSignal) => Promise<Data>;

/** Makes a function that loads one answer, with the name of its path or another one. */
interface Loads {
	<Name extends keyof Answers>(name: Name, parameters?: (route: Route) => object): Load<Pick<Answers, Name>>;
	<Name extends keyof Answers, Key extends string>(
		name: Name,
		parameters: (route: Route) => object,
		as: Key,
	): Load<Record<Key, Answers[Name]>>;
}

/** A column of a table. Its `cell` is a key of the row, or a function of the row; `show` formats its value. */
interface Column<Row> {
	name: string;
	kind?: "number" | "text" | "wide" | "narrow";
	isDerived?: boolean;
	cell: (keyof Row & string) | ((row: Row) => any);
	show?(value: any, row: Row): any;
}

interface TableOptions<Row> {
	key?: (keyof Row & string) | ((row: Row) => any);
	classes?(row: Row): string;
	/** Shown in place of a table without rows. */
	empty?: any;
	hideCaption?: boolean;
}

/** What the lanes over time draw: bands and points are pairs of a time and what holds from then on. */
interface LaneTimes {
	from: number;
	/** Up to where it is known. */
	to: number;
	/** Seconds of a column. */
	step: number;
	/** The place of the last entry that is known. */
	last: string;
	isSampled: boolean;
	lanes: { name: string; endpoint?: string; bands: [number, string][]; points: number[][] }[];
}

interface Array<T> {
	// Of ECMAScript 2023, which Debian's tsc does not know.
	findLast(predicate: (value: T) => unknown): T | undefined;
	findLastIndex(predicate: (value: T) => unknown): number;
}
