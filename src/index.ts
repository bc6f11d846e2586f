export type {
  ChangeCounts,
  ChangeKind,
  ChunkChange,
  DiffedRun,
  DocumentCounts,
  DocumentDiff,
  DocumentState,
  ManualEdit,
  RunDiff,
  TextDiff,
  TextPart,
} from "./compare/diff-result.js";
export { emptyRunProgress, type RunProgress } from "./job/run-progress.js";
export type { WorkerOptions, WorkerResult } from "./parallel/worker/worker-options.js";
export type { ReportedRun, ReportResult, ReportSummary } from "./report/report-result.js";
export type { TakenStatus, WatchedStatus } from "./status/status-result.js";
/**
 * kbdump as a library: run a job, or read the lists of a knowledge service page by page.
 *
 * ```ts
 * import { loadJob, openClient, readChunkPages, runJob } from "kbdump";
 * ```
 */

export type { Listed, ListPage } from "./client/check-answer.js";
export type { DocumentRef, KnowledgeApi } from "./client/knowledge-api.js";
export { type Client, type ClientOptions, openClient } from "./client/open-client.js";
export { emptyRequestCounts, type RequestCounts } from "./client/request-counts.js";
export { diffRuns } from "./compare/diff-runs.js";
export type { DiffOptions } from "./compare/run-diff.js";
export { type DiscoveryJob, discoverDocuments } from "./crawl/discover-documents.js";
export type { ComparedListing, Discovery, Found, ListedDataset, Listing } from "./crawl/discovery.js";
export { readChildChunkPages, readChunkPages } from "./crawl/read-list.js";
export type { StagedFile } from "./dump/formats/format.js";
export type { ChildLists, DiscoveredIds, Manifest, Original } from "./dump/manifest.js";
export {
  BusyError,
  exitCodes,
  GaveUpError,
  InterruptedError,
  type Problem,
  RetryError,
  SkipError,
  StopError,
  UsageError,
} from "./errors.js";
export type { DatasetJob, Format, Job, Keep, OutputOptions, ServiceOptions, Shard } from "./job/job.js";
export { type JobSource, loadJob } from "./job/load-job.js";
export type { RunOptions } from "./job/open-service.js";

export { type FoundShards, findShards } from "./join/find-shards.js";
export {
  emptyJoinProgress,
  type JoinOptions,
  type JoinProgress,
  type JoinResult,
  joinShards,
} from "./join/join-shards.js";
export { type PruneOptions, type PruneResult, pruneJob } from "./keep/prune-job.js";
export type { Log } from "./log.js";

export { workDocuments } from "./parallel/worker/work-documents.js";
export type { JobPlan, PlannedDocument, Quirk } from "./plan/job-plan.js";
export { type PlanOptions, planJob } from "./plan/plan-job.js";
export type { ReadProgress } from "./read-progress.js";
export type { ReportRequest } from "./report/render-report.js";
export { type RenderedReport, renderReport, writeReport } from "./report/render-report.js";
export type { Column, ColumnType } from "./rows/columns.js";
export { allKinds, type Counts, columns, type Kind, kinds } from "./rows/columns.js";
export type { DocumentRow, RawRecord, Row } from "./rows/row.js";
export { type RowOptions, rowFromRecord } from "./rows/row-from-record.js";
export type { RunResult } from "./run/make-run.js";
export { runJob } from "./run/run-job.js";
export type { ServeOptions } from "./serve/serve-dump.js";
export { type ServedDump, serveDump } from "./serve/serve-dump.js";
export { takeStatus } from "./status/capture-status.js";
export { watchStatus } from "./status/watch-status.js";
export type { WatchedDocument, WatchedDocuments } from "./status/watched-documents.js";
export { emptyWatchProgress, type WatchOptions, type WatchProgress } from "./status/watched-documents.js";
export type { FindOptions } from "./store/find-named.js";
export type { Finding, Verification } from "./verify/findings.js";
export type { VerifyOptions } from "./verify/verify-run.js";
export { verifyRun } from "./verify/verify-run.js";
