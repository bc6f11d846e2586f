/**
 * kbdump as a library: run a job, or read the lists of a knowledge service page by page.
 *
 * ```ts
 * import { loadJob, openClient, readChunkPages, runJob } from "kbdump";
 * ```
 */

export type { Listed, ListPage } from "./client/check-list.js";
export type { DocumentRef, KnowledgeApi } from "./client/knowledge-api.js";
export { type Client, type ClientOptions, openClient } from "./client/open-client.js";
export { emptyRequestTally, type RequestTally } from "./client/request-tally.js";
export { readChildChunkPages, readChunkPages } from "./crawl/read-pages.js";
export type { DiffOptions } from "./diff/diff-options.js";
export { diffRuns } from "./diff/diff-runs.js";
export type {
  ChangeCounts,
  ChangeKind,
  ChunkChange,
  DiffedRun,
  DocumentCounts,
  DocumentDiff,
  DocumentState,
  HandMade,
  RunDiff,
  TextDiff,
  TextPart,
} from "./diff/run-diff.js";
export type { StagedFile } from "./dump/formats/format.js";
export type { ChildLists, DiscoveredIds, Manifest } from "./dump/manifest/manifest.js";
export type { Original } from "./dump/manifest/original.js";
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
export { type TakenStatus, takeStatus } from "./indexing/take-status.js";
export { emptyWatchTally, type WatchOptions, type WatchTally } from "./indexing/watch-options.js";
export { type WatchedStatus, watchStatus } from "./indexing/watch-status.js";
export type { WatchedDocument, WatchedDocuments } from "./indexing/watched-documents.js";
export type { DatasetJob, Format, Job, Keep, OutputOptions, ServiceOptions, Shard } from "./job/job.js";
export { type JobSource, loadJob } from "./job/load-job.js";
export { type FoundShards, findShards } from "./join/find-shards.js";
export { emptyJoinTally, type JoinOptions, type JoinResult, type JoinTally, joinShards } from "./join/join-shards.js";
export { type PruneOptions, type PruneResult, pruneJob } from "./keep/prune-job.js";
export type { FindOptions } from "./locate/found-thing.js";
export type { Log } from "./log.js";
export type {
  ByMode,
  Certainty,
  JobPlan,
  Latency,
  PlanCounts,
  PlanDisk,
  PlannedDocument,
  PlanReceived,
  PlanTime,
  Quirk,
} from "./plan/job-plan.js";
export { type PlanOptions, planJob } from "./plan/plan-job.js";
export type { ReadTally } from "./read-tally.js";
export { type RenderedReport, renderReport } from "./report/course/render-report.js";
export type { ReportRequest } from "./report/course/report-request.js";
export type { ReportedRun, ReportResult, ReportSummary } from "./report/course/report-result.js";
export { writeReport } from "./report/course/write-report.js";
export type { Column, ColumnType } from "./rows/column.js";
export { allKinds, type Counts, columns, type Kind, kinds } from "./rows/columns.js";
export type { DocumentRow } from "./rows/document-row.js";
export type { RawRecord, Row } from "./rows/row.js";
export { type RowOptions, rowFromRecord } from "./rows/row-from-record.js";
export { type DiscoveryJob, discoverDocuments } from "./run/discover/discover-documents.js";
export type { ComparedListing } from "./run/discover/discovered.js";
export type { Discovery, Found, ListedDataset, Listing } from "./run/discover/discovery.js";
export type { RunResult } from "./run/make-run.js";
export { runJob } from "./run/run-job.js";
export type { RunOptions } from "./run/setting/run-options.js";
export { emptyRunTally, type RunTally } from "./run/setting/run-tally.js";
export { type ServedDump, serveDump } from "./serve/serve-dump.js";
export type { ServeOptions } from "./serve/serve-options.js";
export type { Finding } from "./verify/findings.js";
export type { Verification } from "./verify/verification.js";
export type { VerifyOptions } from "./verify/verify-options.js";
export { verifyRun } from "./verify/verify-run.js";
export { workDocuments } from "./worker/work-documents.js";
export type { WorkerOptions, WorkerResult } from "./worker/worker-options.js";
