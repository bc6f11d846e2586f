import type { ReadProgress } from "../read-progress.js";
import type { Cut, LostFacts } from "./lost-facts.js";
import type { LocatedChunk, NamedDocument } from "./named-document.js";
import type { NameFolder } from "./report-path.js";

/**
 * Everything that a report shows, as numbers and texts: the page is made of this and of nothing else. Times are milliseconds since
 * 1970. Texts may hold anything that a service sends. Without content, every text of the service is null or left out: names, chunks,
 * errors, warnings.
 */
export interface ReportFacts {
  readonly verdict: VerdictFacts;
  /** Undefined where the run is compared with no older one. */
  readonly lost: LostFacts | undefined;
  readonly freshness: FreshnessFacts;
  readonly lengths: LengthFacts;
  readonly indexing: IndexingFacts;
  readonly changes: ChangeFacts;
  readonly hits: HitFacts;
  readonly flaws: FlawFacts;
  /** Whether the report shows texts of the service. */
  readonly hasContent: boolean;
}

/** Whether the dump is complete, and what it holds. */
export interface VerdictFacts {
  readonly job: string;
  readonly run_id: string;
  readonly status: "complete" | "partial";
  readonly tool_version: string;
  readonly base_url: string;
  readonly started_at: number;
  readonly finished_at: number;
  /** Documents by their status in this dump. */
  readonly documents: Readonly<Record<"complete" | "unstable" | "failed", number>>;
  readonly chunks: number;
  readonly child_chunks: number;
  /** Whether the job asks for child chunks. */
  readonly reads_children: boolean;
  readonly indexing_status: number;
  /** Documents that are not complete. */
  readonly incomplete: Cut<IncompleteDocument>;
  readonly datasets: Cut<DatasetCounts>;
  readonly files: readonly {
    readonly path: string;
    readonly rows: number;
    readonly bytes: number;
    readonly sha256: string;
  }[];
  /** Originals and attachments that the run was asked for, by verdict, such as `complete`; null where it was asked for none. */
  readonly originals: Readonly<Record<string, number>> | null;
  /** Empty without content. */
  readonly warnings: readonly string[];
  readonly warning_count: number;
  /** Fields of an unexpected type or without a column, with how often; empty without content. The count is that of the values. */
  readonly drift: readonly { readonly field: string; readonly count: number }[];
  readonly drift_count: number;
  /** Filters of the job (status, keyword) that kept chunks out of the dump: datasets with one. */
  readonly filtered_datasets: number;
  /** Undefined where the run was not verified. */
  readonly verification: VerificationFacts | undefined;
}

/** The result of reading every file of the dump again. */
export interface VerificationFacts {
  readonly status: "sound" | "differences";
  readonly finding_count: number;
  /** The first findings as sentences; empty without content. */
  readonly findings: readonly string[];
  readonly files: number;
  /** Checks that were not possible, and why; empty without content. */
  readonly notes: readonly string[];
}

export interface IncompleteDocument extends NamedDocument {
  readonly status: "unstable" | "failed";
  /** Chunks that the service counts; null when it never said. */
  readonly total: number | null;
  readonly chunks: number;
  readonly error: string | null;
}

export interface DatasetCounts {
  readonly dataset_id: string;
  readonly dataset_name: string | null;
  readonly documents: number;
  readonly incomplete: number;
  readonly chunks: number;
  readonly child_chunks: number;
}

/** How old the newest change of every document is, and when it was read well. */
export interface FreshnessFacts {
  /** The end of the run, from which ages count. */
  readonly as_of: number;
  readonly states: Readonly<Record<ReadState, number>>;
  /** Documents by the time of their last change: adjoining spans, oldest first; empty where no time is known. */
  readonly spans: readonly {
    readonly from: number;
    readonly to: number;
    readonly documents: Readonly<Record<ReadState, number>>;
  }[];
  /** Those that were not read well first, then those that changed longest ago. */
  readonly documents: Cut<DocumentFreshness>;
  /** Whether the database of the job was asked for earlier reads. */
  readonly has_history: boolean;
}

/**
 * `fresh`: this run read it whole. `stale`: this run did not, an earlier one did. `unstable` and `never read`: no run did.
 * `not in this run`: an earlier run had it, and this one was not asked for it or the service lists it no more.
 */
export type ReadState = "fresh" | "stale" | "unstable" | "never read" | "not in this run";

export interface DocumentFreshness extends NamedDocument {
  readonly state: ReadState;
  /** The end of the last run that read it whole; null where none did, or where it is not known. */
  readonly read_well_at: number | null;
  /** The newest time at which a chunk or child chunk of this dump was made or changed; null where there is none. */
  readonly changed_at: number | null;
  /** In this dump. */
  readonly chunks: number;
}

/** Lengths of chunks in characters, as the service counts them. */
export interface LengthFacts {
  /** Undefined where there is no chunk. Chunks of unknown length are left out. */
  readonly all: Lengths | undefined;
  /** Documents with the most chunks first. */
  readonly documents: Cut<DocumentLengths>;
}

export interface Lengths {
  readonly chunks: number;
  readonly characters: number;
  readonly tokens: number;
  readonly shortest: number;
  readonly quartile_1: number;
  readonly median: number;
  readonly quartile_3: number;
  readonly longest: number;
}

export interface DocumentLengths extends NamedDocument, Lengths {}

/** The indexing of the documents of the job's batches, and everything that is not completed. */
export interface IndexingFacts {
  /** Whether the job names batches, so that there are readings. */
  readonly was_asked: boolean;
  /** Batches that the job names and of which this run has no reading: their request failed, or they hold no document. */
  readonly unread_batches: number;
  /** Documents of batches by indexing_status, as of the newest reading. */
  readonly states: readonly { readonly status: string; readonly documents: number }[];
  /** Those first that are not completed, the longest running first; then the newest. */
  readonly documents: Cut<DocumentIndexing>;
  /** Documents that the service lists with another state than completed and available. */
  readonly listed: Cut<ListedDocument>;
  /** Chunks by status, those of `completed` left out. */
  readonly chunks: readonly { readonly status: string; readonly chunks: number; readonly documents: number }[];
}

export interface DocumentIndexing extends NamedDocument {
  readonly batch: string;
  readonly indexing_status: string;
  /** Times at which a stage began or ended; null where it did not, or the service does not say. */
  readonly started_at: number | null;
  readonly parsed_at: number | null;
  readonly cleaned_at: number | null;
  readonly split_at: number | null;
  readonly completed_at: number | null;
  readonly paused_at: number | null;
  readonly stopped_at: number | null;
  /** The newest reading. */
  readonly captured_at: number;
  /** The time for which no reading saw a move, in milliseconds; null when it is completed, or there is one reading. */
  readonly unmoved: number | null;
  readonly completed_segments: number | null;
  readonly total_segments: number | null;
  readonly error: string | null;
}

export interface ListedDocument extends NamedDocument {
  readonly indexing_status: string | null;
  readonly display_status: string | null;
  readonly chunks: number;
}

/** The changes that each run found, from the history in the database of the job. */
export interface ChangeFacts {
  /** Oldest first, up to this run: the newest of them. Empty where there is no history. */
  readonly runs: readonly RunChanges[];
  /** Runs up to this one, those that are left out included. */
  readonly total: number;
  readonly query: string | null;
  /** Why there is no history, as a sentence; null where there is one. */
  readonly reason: string | null;
}

export interface RunChanges {
  readonly run_id: string;
  readonly started_at: number;
  readonly status: string;
  readonly chunks: number;
  /** Null where no changes were looked for, as in a first run. */
  readonly counts: Readonly<Record<ChangedKind, number>> | null;
}

/**
 * Kinds of changes of chunks: `reindexed`: a new id, otherwise the same; `switched`: enabled or disabled; `fields`: keywords, status or
 * another column. Child chunks are counted apart: `children_fields` are those with another position, id or other column. Hit counts alone are no change.
 */
export const changedKinds = [
  "added",
  "removed",
  "changed",
  "moved",
  "reindexed",
  "switched",
  "fields",
  "children_added",
  "children_removed",
  "children_changed",
  "children_fields",
] as const;
export type ChangedKind = (typeof changedKinds)[number];

/** The chunks that are never retrieved, and their places. Disabled chunks cannot be, and are left out. */
export interface HitFacts {
  /** Enabled chunks whose `hit_count` the service reports: 0 where it reports none. */
  readonly enabled: number;
  /** Those of them that were never hit: neither now nor, as far as the history knows, before a re-index. */
  readonly never: number;
  /** Hits that they count now; a re-index sets counts to 0. */
  readonly hits: number;
  /** Whether hits from before a re-index are known, from the history. */
  readonly has_history: boolean;
  /** Documents with such chunks, those with the most that were never hit first; also those of which all were hit. */
  readonly documents: Cut<DocumentHits>;
  /** Chunks that were never hit, the longest first. */
  readonly chunks: Cut<NeverHitChunk>;
}

/** Parts of a document, from its beginning to its end, in which hits are counted. */
export const positionsOfDocument = 20;

export interface DocumentHits extends NamedDocument {
  readonly enabled: number;
  readonly never: number;
  readonly hits: number;
  /** `placesOfDocument` of them; a short document leaves some empty. */
  readonly places: readonly { readonly enabled: number; readonly never: number }[];
}

export interface NeverHitChunk extends LocatedChunk {
  readonly characters: number;
  readonly created_at: number | null;
  readonly beginning: string | null;
}

/** Rows that deserve a look, wherever they are. */
export interface FlawFacts {
  /** Contents that stand in several chunks, those that cost the most first. */
  readonly duplicates: Cut<DuplicateGroup>;
  /** Chunks that are copies of another one, and their characters. */
  readonly copies: { readonly chunks: number; readonly characters: number };
  readonly orphans: Cut<OrphanedChild>;
  readonly errors: Cut<ChunkError>;
  readonly disabled: Cut<DisabledChunk>;
}

export interface DuplicateGroup {
  readonly copies: number;
  readonly documents: number;
  /** Different answers of these chunks, in qa_model documents. */
  readonly answers: number;
  readonly characters: number;
  /** The first of them. */
  readonly first: LocatedChunk;
  readonly beginning: string | null;
}

/** A child chunk whose parent is not in the dump. */
export interface OrphanedChild extends LocatedChunk {
  readonly segment_id: string;
  readonly beginning: string | null;
}

export interface ChunkError extends LocatedChunk {
  readonly status: string | null;
  readonly error: string | null;
}

export interface DisabledChunk extends LocatedChunk {
  readonly disabled_at: number | null;
  /** The account, as the service names it. */
  readonly disabled_by: string | null;
  readonly beginning: string | null;
}

/** The settings of a report, checked. */
export interface ReportOptions {
  /** Folder of the run. */
  readonly folder: string;
  /** Folder of an older run, to show what was lost since; undefined: nothing is compared. */
  readonly against: string | undefined;
  /** The database of the job, for its history; undefined: the one beside the folder of runs, if it is there. */
  readonly database: string | undefined;
  /** Whether texts are shown: contents, names and errors. */
  readonly content: boolean;
  /** Whether every file of the run is read again and checked. */
  readonly verify: boolean;
  /** The most memory that DuckDB may use, such as `800MB`. */
  readonly memory: string;
  /** Names folders in the commands of the page; undefined: by their paths. */
  readonly nameFolder: NameFolder | undefined;
  readonly signal: AbortSignal;
  /** Updated while the work goes on. */
  readonly progress: ReadProgress;
}
