import type { Listed } from "../client/check-answer.js";
import type { KnowledgeApi } from "../client/knowledge-api.js";
import { SkipError } from "../errors.js";
import { ContentDigest } from "./digests.js";
import { halvingPages, type ReadSizedPage } from "./halve-pages.js";
import type { Prefetch } from "./prefetch.js";
import { answersOf, ListProof, type ReportProblem, readList } from "./read-list.js";
import { readUntilStill } from "./read-until-still.js";
import { sweepList } from "./sweep-list.js";

/** A list short enough to hold in memory: each id once, in the order of the service. */
interface WholeList {
  readonly rows: readonly Listed[];
  /** Signs that rows may be missing; empty if the list was proved complete. */
  readonly problems: readonly string[];
  /** Whether the list changed during every read. If false, any problems are rows that the service cannot render. */
  readonly moved: boolean;
  readonly pages: number;
}

/**
 * Reads a list to its end and proves that it is complete. A list of more than one answer is read twice, and the ids must agree. If
 * it changes, it is read again, at most three times; after that, the result has the rows of the last read, and problems. Throws
 * SkipError when a page cannot be read.
 */
export async function readWholeList(name: string, read: ReadSizedPage, prefetch: Prefetch): Promise<WholeList> {
  return readUntilStill(async (flaws) => {
    const readPage = halvingPages(read, { name, problem: flaws.report });
    const { rows, total, pages, answers } = await readOnce(name, readPage, prefetch, flaws.report);
    if (answers > 1 && flaws.texts.length === 0)
      await sweepList({ name, readPage, stored: digestOf(rows), total, fingerprints }, prefetch, flaws.report);
    return { rows, problems: flaws.texts, moved: flaws.moved, pages };
  });
}

async function readOnce(
  name: string,
  readPage: Parameters<typeof readList>[0],
  prefetch: Prefetch,
  problem: ReportProblem,
): Promise<{
  readonly rows: readonly Listed[];
  readonly total: number;
  readonly pages: number;
  readonly answers: number;
}> {
  const proof = new ListProof(name, problem);
  const rows: Listed[] = [];
  let [total, pages, answers] = [0, 0, 0];
  for await (const page of readList(readPage, prefetch)) {
    rows.push(...proof.add(page));
    total = page.total;
    pages++;
    answers += answersOf(page);
    if (proof.isStuck) break;
  }
  proof.finish();
  return { rows, total, pages, answers };
}

/** The parts of a row that two reads compare: only its id, because counts and times change all the time. */
const fingerprints = ({ id }: Listed) => [{ id, content: null }];

function digestOf(rows: readonly Listed[]): ContentDigest {
  const digest = new ContentDigest();
  for (const row of rows.flatMap(fingerprints)) digest.add(row);
  return digest;
}

/** Describes a list that is still incomplete after all attempts. */
export function flawText({ problems, moved }: WholeList): string {
  return `${moved ? "changed during every read, and " : ""}may lack some: ${problems.slice(0, 5).join("; ")}`;
}

/** All datasets that the key can see. `limited`: the service rejected include_all, so some may be missing. */
type DatasetList = WholeList & { readonly limited: boolean };

/** Reads the list of datasets. Asks without `include_all` if the service rejects it. Throws like readWholeList. */
export async function readDatasets(api: Pick<KnowledgeApi, "datasets">, prefetch: Prefetch): Promise<DatasetList> {
  const read = (includeAll: boolean) =>
    readWholeList("datasets", (page, limit) => api.datasets(page, limit, includeAll), prefetch);
  try {
    return { ...(await read(true)), limited: false };
  } catch (error) {
    if (!(error instanceof SkipError && (error.status === 400 || error.status === 422))) throw error;
    return { ...(await read(false)), limited: true };
  }
}
