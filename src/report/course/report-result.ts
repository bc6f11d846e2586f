import type { ReportFacts } from "../report-facts.js";

/** The main figures of a report. */
export interface ReportSummary {
  readonly status: "complete" | "partial";
  /** The result of reading every file again; null where that was not asked for. */
  readonly verified: "sound" | "differences" | null;
  /** Differences that this found; null likewise. */
  readonly findings: number | null;
  readonly run: ReportedRun;
  readonly documents: number;
  /** Documents that failed, or changed while they were read. */
  readonly incomplete_documents: number;
  readonly chunks: number;
  readonly child_chunks: number;
  /** The older run; null where none was named, as are the next two. */
  readonly against: ReportedRun | null;
  /** Chunks and child chunks that a re-index took since, and those of them that show a sign of a hand. */
  readonly lost: number | null;
  readonly lost_by_hand: number | null;
  /** Documents of the older run that could not be compared, or are not in this one; null where none was named. */
  readonly not_compared: number | null;
  /** Sentences on what may make the comparison say less than it seems to. */
  readonly warnings: readonly string[];
}

/** A run of a report; `folder` has its symlinks resolved. */
export interface ReportedRun {
  readonly folder: string;
  readonly job: string;
  readonly run_id: string;
}

/** A report that was written. */
export interface ReportResult extends ReportSummary {
  readonly path: string;
  readonly bytes: number;
}

/** Takes the main figures from the facts of a report. */
export function summaryOf(
  { verdict, lost }: ReportFacts,
  folders: { readonly run: string; readonly against: string | undefined },
): ReportSummary {
  const { complete, unstable, failed } = verdict.documents;
  const { status, job, run_id, chunks, child_chunks, verification } = verdict;
  const { against } = folders;
  return {
    status,
    verified: verification?.status ?? null,
    findings: verification?.finding_count ?? null,
    run: { folder: folders.run, job, run_id },
    documents: complete + unstable + failed,
    incomplete_documents: unstable + failed,
    chunks,
    child_chunks,
    against: lost && against !== undefined ? { folder: against, job: lost.old.job, run_id: lost.old.run_id } : null,
    lost: lost?.lost ?? null,
    lost_by_hand: lost?.lost_by_hand ?? null,
    not_compared: lost ? lost.not_compared + lost.gone : null,
    warnings: lost?.warnings ?? [],
  };
}
