import type { Listed } from "../client/check-list.js";
import { SkipError } from "../errors.js";
import { ContentDigest, type Fingerprinted } from "./content-digest.js";
import { ListProof } from "./list-proof.js";
import type { LookAhead } from "./look-ahead.js";
import type { TellProblem } from "./problems.js";
import { type ReadPage, readList } from "./read-list.js";

/** A list that was read and stored, and how to read it once more. */
export interface SweptList {
  readonly name: string;
  readonly readPage: ReadPage;
  /** Of the rows as they are stored. */
  readonly stored: ContentDigest;
  /** Rows that the service counted. */
  readonly total: number;
  /** What of a record would be stored. */
  readonly fingerprints: (record: Listed) => readonly Fingerprinted[];
}

/** Reads a list once more and tells `problem` if it does not hold the ids and contents that are stored. */
export async function sweepList(list: SweptList, lookAhead: LookAhead, problem: TellProblem): Promise<void> {
  const proof = new ListProof(list.name, problem, { total: list.total });
  const now = new ContentDigest();
  try {
    for await (const page of readList(list.readPage, lookAhead)) {
      for (const row of proof.add(page).flatMap(list.fingerprints)) now.add(row);
      if (proof.isStuck) break;
    }
  } catch (error) {
    if (!(error instanceof SkipError)) throw error;
    return problem(`${list.name}: a second sweep failed: ${error.message}`);
  }
  proof.finish();
  if (!now.equals(list.stored)) problem(`${list.name}: a second sweep found other ids or contents`);
}
