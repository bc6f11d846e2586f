import type { Listed } from "../client/check-list.js";
import { ContentDigest } from "./content-digest.js";
import { halvingPages, type ReadSizedPage } from "./halve-pages.js";
import { ListProof } from "./list-proof.js";
import type { LookAhead } from "./look-ahead.js";
import type { TellProblem } from "./problems.js";
import { answersOf, readList } from "./read-list.js";
import { sweepList } from "./sweep-list.js";

/** Times that a list is read before it is taken as it is. */
const attempts = 3;

/** A list of few enough rows to hold: each id once, in the order of the service. */
export interface WholeList {
  readonly rows: readonly Listed[];
  /** What shows that rows may be missing; empty when the list was proved whole. */
  readonly problems: readonly string[];
  /** Whether it changed whenever it was read; else the service cannot render some of its rows. */
  readonly moved: boolean;
  /** How many pages it has. */
  readonly pages: number;
}

class MovedError extends Error {}

/**
 * Reads a list to its end and proves that it is whole: one of more than one answer is read a second time, and the ids must
 * agree. One that moves meanwhile is read again, three times in all; then it has what was seen, and problems. Rejects with
 * SkipError when a page cannot be had.
 */
export async function readWholeList(name: string, read: ReadSizedPage, lookAhead: LookAhead): Promise<WholeList> {
  for (let attempt = 1; ; attempt++) {
    const problems = new Set<string>();
    let moved = false;
    const problem: TellProblem = (text, kind) => {
      if (attempt < attempts && kind !== "unreadable") throw new MovedError(text);
      moved ||= kind !== "unreadable";
      problems.add(text);
    };
    try {
      const readPage = halvingPages(read, { name, problem });
      const { rows, total, pages, answers } = await readOnce(name, readPage, lookAhead, problem);
      if (answers > 1 && problems.size === 0)
        await sweepList({ name, readPage, stored: digestOf(rows), total, fingerprints }, lookAhead, problem);
      return { rows, problems: [...problems], moved, pages };
    } catch (error) {
      if (!(error instanceof MovedError)) throw error;
    }
  }
}

async function readOnce(
  name: string,
  readPage: Parameters<typeof readList>[0],
  lookAhead: LookAhead,
  problem: TellProblem,
): Promise<{
  readonly rows: readonly Listed[];
  readonly total: number;
  readonly pages: number;
  readonly answers: number;
}> {
  const proof = new ListProof(name, problem);
  const rows: Listed[] = [];
  let [total, pages, answers] = [0, 0, 0];
  for await (const page of readList(readPage, lookAhead)) {
    rows.push(...proof.add(page));
    total = page.total;
    pages++;
    answers += answersOf(page);
    if (proof.isStuck) break;
  }
  proof.finish();
  return { rows, total, pages, answers };
}

/** Counts and times of a listed row move all the time: only that it is there is compared. */
const fingerprints = ({ id }: Listed) => [{ id, content: null }];

function digestOf(rows: readonly Listed[]): ContentDigest {
  const digest = new ContentDigest();
  for (const row of rows.flatMap(fingerprints)) digest.add(row);
  return digest;
}
