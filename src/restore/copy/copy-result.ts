import { join } from "node:path";
import * as v from "valibot";
import { restoreFolderOf } from "../../dump/run-id.js";
import { exitCodes } from "../../errors.js";
import type { RunProgress } from "../../job/run-progress.js";

import { count, listOf, oneOf, orNull, result, text, truth } from "../../schema.js";
import type { TargetService } from "../target.js";
import {
  type CopyCounts,
  type CopyPlan,
  type CopySource,
  copyCounts,
  copyPlan,
  type DatasetPlan,
  type DocumentPlan,
  type EarlierDocument,
} from "./copy-plan.js";

/** A row of the dump that did not come, and that no plan announced. */
const failedRow = result({ level: oneOf("chunk", "child_chunk"), id: text, position: orNull(count), reason: text });
export type FailedRow = v.InferOutput<typeof failedRow>;

/**
 * The outcome of one document. `restored`: all of it is there. `partial`: it is there but for the rows in `failed`, or for what `reason`
 * says. `failed`: it is not there, or not whole; `--retry-failed` tries it again. `waiting`: it failed earlier and was not tried.
 */
const movedDocument = result({
  dataset_id: text,
  document_id: text,
  document_name: text,
  outcome: oneOf("restored", "partial", "failed", "waiting"),
  /** Null where it was not made. */
  target_dataset_id: orNull(text),
  target_id: orNull(text),
  failed: v.pipe(listOf(failedRow), v.description("rows of the dump that did not come")),
  reason: orNull(text),
});
export type MovedDocument = v.InferOutput<typeof movedDocument>;

/** Everything that the writes of a move came to: documents that come by the plan, in its order. */
const moved = result({
  documents: listOf(movedDocument),
  /** Datasets, and their settings, fields and tags, that could not be made as planned: sentences. */
  problems: listOf(text),
  /** Write requests sent, those of earlier processes of the same journal included. */
  writes: count,
});
export type Moved = v.InferOutput<typeof moved>;

/** A difference between the run and a service. Ids are those in the dump; of a row that is only at the service, the id there. */
const copyDifference = result({
  level: oneOf("dataset", "document", "chunk", "child_chunk"),
  document_id: orNull(text),
  id: text,
  position: orNull(count),
  reason: text,
});
export type CopyDifference = v.InferOutput<typeof copyDifference>;

/** The result of `copy --json`. Texts may hold anything that a service sends. */
export const copyResult = v.pipe(
  result({
    /**
     * `planned`: nothing was written. `proved`: everything is there. `partial`: some documents or rows are not, or nothing could prove
     * it. `different`: the proof found what was not announced.
     */
    status: oneOf("planned", "proved", "partial", "different"),
    run: result({ folder: text, job: text, run_id: text }),
    base_url: v.pipe(text, v.description("the service that takes the documents")),
    plan: copyPlan,
    counts: copyCounts,
    applied: v.pipe(orNull(moved), v.description("null where nothing was to be written")),
    differences: v.pipe(
      orNull(listOf(copyDifference)),
      v.description("findings of the proof; null where there was none"),
    ),
    proof: v.pipe(orNull(text), v.description("the dump of the documents that were made, which proves them")),
    journal: orNull(text),
    warnings: listOf(text),
  }),
  v.title("Result of kbdump copy --json"),
);
export type CopyResult = v.InferOutput<typeof copyResult>;
type CopyStatus = CopyResult["status"];

/** The result of a comparison of a run with a service. */
export const againstResult = result({
  base_url: text,
  copies: v.pipe(
    truth,
    v.description("true: compared with copies that copy made; false: with the same documents, by ids"),
  ),
  documents: count,
  chunks: count,
  child_chunks: count,
  differences: listOf(copyDifference),
  notes: v.pipe(listOf(text), v.description("documents and parts that were not compared, and why")),
});
export type Against = v.InferOutput<typeof againstResult>;

type Outcome = Pick<CopyResult, "plan" | "applied" | "differences">;

/** Decides the status from what was planned, written and found. */
export function statusOf({ plan, applied, differences }: Outcome): CopyStatus {
  if (applied === null) return "planned";
  if (differences !== null && differences.length > 0) return "different";
  const isLeftOut = plan.datasets.some(({ documents }) => documents.some(({ refused }) => refused !== null));
  const isMissing = applied.documents.some(({ outcome }) => outcome !== "restored") || applied.problems.length > 0;
  return isLeftOut || isMissing || differences === null ? "partial" : "proved";
}

/** The exit code of a result. A plan exits with 0, whatever it leaves out. */
export function exitCodeOf({ status }: Pick<CopyResult, "status">): number {
  if (status === "different") return exitCodes.differences;
  return status === "partial" ? exitCodes.partial : exitCodes.complete;
}

/** A move as its proof needs it. */
export interface AppliedCopy {
  readonly moved: Moved;
  /** Names of tags that a dataset could not get, by the key of its plan. The problems say so, and the proof does not look for them. */
  readonly missingTags: ReadonlyMap<string, readonly string[]>;
}

/** Chunks in a request: the service embeds them before it answers. */
const chunksOfRequest = 20;

/** Counts a plan. A document that failed earlier, and is not tried again, is left out. */
export function countCopy({ datasets, from }: CopyPlan): CopyCounts {
  const documents = datasets.flatMap((dataset) => dataset.documents);
  const coming = documents.filter(comes);
  const sum = (countOf: (document: DocumentPlan) => number) => coming.reduce((all, each) => all + countOf(each), 0);
  const there = documents.filter(isThere).length;
  const fresh = datasets.filter(isMade);
  const equipped = datasets.filter((dataset) => isMade(dataset) || isUsed(dataset));
  return {
    datasets: fresh.length,
    documents: coming.length,
    left_out: documents.length - coming.length - there,
    there,
    chunks: sum(({ chunks }) => chunks),
    children: sum(({ children }) => children),
    characters: sum(({ characters }) => characters),
    writes:
      fresh.length + equipped.reduce((all, each) => all + each.equipping, 0) + sum((each) => writesOf(each, from)),
  };
}

/** Whether a document is copied by this process: it is not left out, there already, or waiting for --retry-failed. */
export function comes({ refused, earlier }: DocumentPlan): boolean {
  return refused === null && (earlier === null || earlier.state === "begun");
}

/** Whether a dataset is to be made: it is new, and some document comes, or the dump has it without any. */
export function isMade({ target, documents }: DatasetPlan): boolean {
  return target.kind === "new" && (documents.length === 0 || documents.some(comes));
}

function isThere({ refused, earlier }: DocumentPlan): boolean {
  return refused === null && earlier?.state === "restored";
}

/** Whether documents of a dataset that is there come or came: what it lacks is made, however it went. */
function isUsed({ target, documents }: DatasetPlan): boolean {
  return target.kind === "there" && documents.some(({ refused }) => refused === null);
}

/** The document itself; the chunk of its stub, chunks, changes of chunks, files; metadata values and status. */
function writesOf(document: DocumentPlan, from: CopySource): number {
  const { chunks, disabled, attached, attachments, metadata, enabled, archived } = document;
  const files = attachments.filter(({ file }) => file !== null).length;
  const stub = from === "chunks" ? 1 : 0;
  const rows = Math.ceil(chunks / chunksOfRequest) + disabled + attached + files;
  return 1 + stub + rows + (metadata.length > 0 ? 1 : 0) + (!enabled || archived ? 1 : 0);
}

/** A dataset at the service that takes documents of the dump. */
export interface TargetDataset {
  readonly id: string;
  readonly name: string;
  /** It was there before the restore, and keeps its own settings. */
  readonly existed?: true;
}

/** The datasets, documents and attachments at the service that a journal knows, by what they are copies of. */
export interface JournalFacts {
  /** By the key of their plan. */
  readonly datasets: ReadonlyMap<string, TargetDataset>;
  /** By the id in the dump. */
  readonly documents: ReadonlyMap<string, EarlierDocument & { readonly target_dataset_id: string }>;
  /** Ids of attachments at the service, by their ids in the dump. */
  readonly attachments: ReadonlyMap<string, string>;
  /** How the documents were made; null where nothing was begun. */
  readonly from: "chunks" | "originals" | null;
}

/** The facts where nothing was begun. */
export const noFacts: JournalFacts = { datasets: new Map(), documents: new Map(), attachments: new Map(), from: null };

/** The settings of `copy`, checked. Ids are in lower case, times in milliseconds. */
export interface CopyOptions extends TargetService {
  readonly key: string;
  /** Folder of the run. */
  readonly folder: string;
  /** `new`: a copy of its own. An id: that dataset. Undefined: that of the journal, else a new one. */
  readonly dataset: string | undefined;
  /** Documents to copy; none: all. */
  readonly documents: readonly string[];
  readonly from: CopySource;
  readonly apply: boolean;
  /** Whether documents that failed earlier are tried again. */
  readonly retryFailed: boolean;
  /** Time that one write may take. */
  readonly timeout: number;
  /** Time in which the effect of a lost answer may still show up. */
  readonly settle: number;
  /** How long the service may lock a document while it adds chunks, in milliseconds. */
  readonly lockTime: number;
  /** Updated while the work goes on. */
  readonly progress: CopyProgress;
  /** Asks, before the first write, whether to go on with the plan. Called only with `apply`. */
  readonly confirm: (planned: CopyResult) => Promise<boolean>;
  readonly sleep: (milliseconds: number, signal: AbortSignal) => Promise<unknown>;
}

/** The move itself. UsageError where it is refused as a whole; BusyError where another restore of the run is at work. */
export type Move = (options: CopyOptions) => Promise<CopyResult>;

/** The steps of a move, in their order. */
type CopyStep = "reading the run" | "asking the service" | "writing" | "proving";

/** How far a move is. */
export interface CopyProgress {
  step: CopyStep;
  documents: number;
  documentsDone: number;
  documentsFailed: number;
  /** Chunks to copy, and those of them that are there with their children. */
  chunks: number;
  chunksDone: number;
  /** Write requests sent. */
  writes: number;
  /** The dump that is being made of the documents; undefined while there is none. */
  dump: RunProgress | undefined;
}

/** A tally of nothing yet. */
export function emptyCopyProgress(): CopyProgress {
  return {
    step: "reading the run",
    ...{ documents: 0, documentsDone: 0, documentsFailed: 0, chunks: 0, chunksDone: 0, writes: 0 },
    dump: undefined,
  };
}

/**
 * The folder of what is restored from a run to a service: its journal, and the dumps that prove it. It is named after host and port, without
 * characters that some file systems refuse.
 */
export function copyFolderOf(runFolder: string, baseUrl: string): string {
  const { host } = new URL(baseUrl);
  return join(restoreFolderOf(runFolder), "to", host.replace(/[^a-z0-9.-]/g, "_"));
}

/** A base URL in the one form that all its spellings have: host in lower case, no usual port, no slashes at its end. */
export function plainBaseUrl(url: string): string {
  const plain = URL.canParse(url) ? new URL(url).href : url;
  return plain.replace(/\/+$/, "");
}

/** Whether two base URLs are of the same host and port: ids of files are the same there. */
export function isSameService(one: string, other: string): boolean {
  const originOf = (url: string) => (URL.canParse(url) ? new URL(url).origin : url);
  return originOf(one) === originOf(other);
}
