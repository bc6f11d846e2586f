import type { Listed } from "../client/check-list.js";
import { ContentDigest } from "./content-digest.js";
import { halvingPages, type ReadSizedPage } from "./halve-pages.js";
import { ListProof } from "./list-proof.js";
import type { LookAhead } from "./look-ahead.js";
import type { TellProblem } from "./problems.js";
import { answersOf, readList } from "./read-list.js";
import { readUntilStill } from "./read-until-still.js";
import { sweepList } from "./sweep-list.js";

/** A list of few enough rows to hold: each id once, in the order of the service. */
export interface WholeList {
  readonly rows: readonly Listed[];
  /** Signs that rows may be missing; empty when the list was proved whole. */
  readonly problems: readonly string[];
  /** Whether it changed whenever it was read; else the service cannot render some of its rows. */
  readonly moved: boolean;
  /** How many pages it has. */
  readonly pages: number;
}

/**
 * Reads a list to its end and proves that it is whole: one of more than one answer is read a second time, and the ids must
 * agree. One that moves meanwhile is read again, three times in all; then it has what was seen, and problems. Rejects with
 * SkipError when a page cannot be had.
 */
export async function readWholeList(name: string, read: ReadSizedPage, lookAhead: LookAhead): Promise<WholeList> {
  return readUntilStill(async (flaws) => {
    const readPage = halvingPages(read, { name, problem: flaws.tell });
    const { rows, total, pages, answers } = await readOnce(name, readPage, lookAhead, flaws.tell);
    if (answers > 1 && flaws.texts.length === 0)
      await sweepList({ name, readPage, stored: digestOf(rows), total, fingerprints }, lookAhead, flaws.tell);
    return { rows, problems: flaws.texts, moved: flaws.moved, pages };
  });
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

/** Describes a list that is not whole after all attempts. */
export function flawText({ problems, moved }: WholeList): string {
  return `${moved ? "moved whenever it was read, and " : ""}may lack some: ${problems.slice(0, 5).join("; ")}`;
}
