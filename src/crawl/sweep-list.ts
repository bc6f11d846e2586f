import type { Listed } from "../client/check-answer.js";
import { SkipError } from "../errors.js";
import { ContentDigest, type Fingerprinted } from "./digests.js";
import { mapAhead, type Prefetch } from "./prefetch.js";
import { ListProof, type ReadPage, type ReportProblem, readList } from "./read-list.js";

/** A list that was read and stored, to be read once more. */
export interface SweptList {
  readonly name: string;
  readonly readPage: ReadPage;
  readonly stored: ContentDigest;
  /** Rows that the service counted in the first read. */
  readonly total: number;
  /** The parts of a record to compare with the stored ones. */
  readonly fingerprints: (record: Listed) => readonly Fingerprinted[];
}

/** Reads a list once more, and calls `problem` if ids or contents differ from the stored ones. */
export async function sweepList(list: SweptList, prefetch: Prefetch, problem: ReportProblem): Promise<void> {
  const proof = new ListProof(list.name, problem, { total: list.total });
  const now = new ContentDigest();
  const failure = await unlessSkipped(async () => {
    for await (const page of readList(list.readPage, prefetch)) {
      for (const row of proof.add(page).flatMap(list.fingerprints)) now.add(row);
      if (proof.isStuck) break;
    }
  });
  if (failure) return problem(`${list.name}: a second sweep failed: ${failure.message}`);
  proof.finish();
  if (!now.equals(list.stored)) problem(`${list.name}: a second sweep found other ids or contents`);
}

/** Like sweepList for the first pages of a list whose end may still grow. Compares only the rows on those pages. */
export async function sweepPages(
  list: Omit<SweptList, "total">,
  pages: number,
  prefetch: Prefetch,
  problem: ReportProblem,
): Promise<void> {
  const now = new ContentDigest();
  const numbers = Array.from({ length: pages }, (_, index) => index + 1);
  const failure = await unlessSkipped(async () => {
    for await (const { rows } of mapAhead(numbers, prefetch, list.readPage))
      for (const row of rows.flatMap(list.fingerprints)) now.add(row);
  });
  if (failure) return problem(`${list.name}: a second sweep failed: ${failure.message}`);
  if (!now.equals(list.stored))
    problem(`${list.name}: a second sweep of all but the last page found other ids or contents`);
}

async function unlessSkipped(read: () => Promise<void>): Promise<SkipError | undefined> {
  try {
    await read();
  } catch (error) {
    if (error instanceof SkipError) return error;
    throw error;
  }
  return undefined;
}
