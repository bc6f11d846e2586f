import type { Format } from "../job/job.js";
import { allKinds, type Kind, type kinds } from "../rows/columns.js";
import type { Row } from "../rows/row.js";
import type { FileFacts } from "./byte-facts.js";
import type { PartFile } from "./join-parts.js";

/** A text format: its rows are written while the crawl goes on, into parts that are joined at the end. */
export interface TextFormat {
  readonly format: "jsonl" | "csv";
  /** What stands above the rows of a file. */
  readonly head: (kind: Kind) => string;
  /** The rows as texts of one row and more; a line feed follows each text. */
  readonly texts: (kind: Kind, rows: readonly Row[]) => readonly string[];
}

/** What a sink is given when every row has been read. */
export interface Stage {
  /** The folder that becomes the run folder. */
  readonly folder: string;
  /** Text parts of one kind in the order of the job; there is none where there are no rows. */
  readonly parts: (kind: Kind, format: Format) => readonly PartFile[];
  /** Rows of one kind, as counted when they were written. */
  readonly rows: (kind: Kind) => number;
  /** The joined JSONL of every kind that the dump has, from which the other formats are loaded. */
  readonly jsonl: Readonly<Record<(typeof kinds)[number], JoinedJsonl>> & { readonly document_info?: JoinedJsonl };
  readonly run: RunRow;
  /** True: the run asked for no child chunks, so what earlier runs know of them stands. */
  readonly withoutChildren?: boolean;
  /** Documents that came and went; absent where the service was not asked which there are. */
  readonly documentChanges?: readonly DocumentChange[] | undefined;
}

/** The rows of a run, as SQL selects them from its parts or from a published dump. */
export interface RunRows extends Pick<Stage, "rows" | "run" | "withoutChildren" | "documentChanges"> {
  /** SQL that selects the rows of a kind, in the columns and types of its table; undefined where the run has none. */
  readonly select: (kind: Kind) => string | undefined;
}

/** A document that the service lists and an earlier run did not have, or the other way round. */
export interface DocumentChange {
  readonly change: "new" | "vanished";
  readonly dataset_id: string;
  readonly document_id: string;
}

/** The kinds that a dump has, in their order, each with its joined JSONL. */
export function joinedKinds({ jsonl }: Pick<Stage, "jsonl">): readonly (readonly [Kind, JoinedJsonl])[] {
  return allKinds.flatMap((kind) => {
    const joined = jsonl[kind];
    return joined ? [[kind, joined] as const] : [];
  });
}

/** What a loader has to know of a JSONL file. */
export interface JsonlFile {
  readonly path: string;
  /** Bytes of the longest line. */
  readonly longestLine: number;
  /** Whether there may be numbers of more digits than a double holds; absent where nobody looked. */
  readonly longNumbers?: boolean;
}

/** A joined file of JSONL, with what the manifest says of it. */
export type JoinedJsonl = JsonlFile & FileFacts;

/** A run as a row of the table `runs`; times are ISO strings. */
export interface RunRow {
  readonly run_id: string;
  readonly status: "complete" | "partial";
  readonly started_at: string;
  readonly finished_at: string;
  readonly base_url: string;
  readonly tool_version: string;
  readonly documents: number;
  readonly chunks: number;
  readonly child_chunks: number;
  readonly requests_sent: number;
  readonly requests_retried: number;
  readonly warnings: readonly string[];
}

/** A file of the run folder, as the manifest lists it. */
export interface StagedFile {
  /** Relative to the run folder. */
  readonly path: string;
  readonly rows: number;
  readonly bytes: number;
  readonly sha256: string;
}

/** One format of the output. Everything that comes out of a run passes through one of these. */
export interface Sink {
  readonly format: Format;
  /** Writes and flushes the files of this format; gives those that lie in the run folder. */
  readonly finish: (stage: Stage) => Promise<readonly StagedFile[]>;
}
