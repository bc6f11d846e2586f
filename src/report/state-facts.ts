import type { Cut } from "./cut.js";
import type { NamedDocument } from "./named-document.js";

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
  /** The end of the last run that read it whole; null where none did, or where nobody knows. */
  readonly read_well_at: number | null;
  /** The newest time at which a chunk or child chunk of this dump was made or changed; null where there is none. */
  readonly changed_at: number | null;
  /** In this dump. */
  readonly chunks: number;
}

/** Lengths of chunks in characters, as the service counts them. */
export interface LengthFacts {
  /** Undefined where there is no chunk. Chunks whose length nobody knows are left out. */
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
