import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Case, Setting } from "./cases.js";
import { childrenPerList, type Dataset, documentId, proofRequestsOf, requestsOf } from "./dataset.js";
import { type Measured, measure, withServer } from "./measure.js";

const program = "dist/main.js";

/** One line of the result: medians of several runs. */
export interface Line extends Case {
  /** Seconds, the whole process. */
  readonly wall: number;
  readonly floor: number;
  /** wall / floor */
  readonly ratio: number;
  /** Chunks and child chunks a second. */
  readonly rowsPerSecond: number;
  /** Seconds, all threads. */
  readonly cpu: number;
  /** Bytes resident at the most, of all runs. */
  readonly rss: number;
  readonly requests: number;
  /** The figures of the same case with another checkout, measured in turn with this one, where one was given. */
  readonly before?: Before | undefined;
}

/** Seconds. */
export type Before = Pick<Measured, "wall" | "cpu">;

/**
 * Measures cases of one setting, in turn with the floor, `rounds` times; `scratch` is a folder to write in, `against` another
 * checkout whose built program is measured, too.
 */
export async function runCases(
  setting: Setting,
  cases: readonly Case[],
  rounds: number,
  scratch: string,
  against?: string,
): Promise<readonly Line[]> {
  const { dataset, latency, inFlight } = setting;
  return withServer({ dataset, latency }, async (baseUrl) => {
    const floors: Measured[] = [];
    const runs = cases.map((): Measured[] => []);
    const others = cases.map((): Measured[] => []);
    for (let round = 0; round < rounds; round++) {
      floors.push(await measure([`${import.meta.dirname}/floor.mjs`, baseUrl, JSON.stringify(dataset), `${inFlight}`]));
      for (const [at, each] of cases.entries()) {
        if (against !== undefined) others[at]?.push(await dump(each, baseUrl, scratch, join(against, program)));
        runs[at]?.push(await dump(each, baseUrl, scratch, program));
      }
    }
    return cases.map((each, at) => lineOf(each, floors, runs[at] ?? [], others[at] ?? []));
  });
}

async function dump(
  { dataset, formats, inFlight, consistency }: Case,
  baseUrl: string,
  scratch: string,
  main: string,
): Promise<Measured> {
  const dir = await mkdtemp(join(scratch, "run-"));
  const job = join(dir, "bench.json");
  const documents = Array.from({ length: dataset.documents }, (_, document) => documentId(document));
  await writeFile(
    job,
    JSON.stringify({
      service: { base_url: baseUrl, concurrency: inFlight },
      datasets: [{ id: dataset.id, documents }],
      child_chunks: dataset.childLists ? "all" : "none",
      consistency,
      output: { dir, formats },
    }),
  );
  try {
    return await measure([main, "run", job, "--json", "--quiet"], { KNOWLEDGE_API_KEY: "bench" });
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}

function lineOf(
  which: Case,
  floors: readonly Measured[],
  runs: readonly Measured[],
  others: readonly Measured[],
): Line {
  const { wall, cpu } = mediansOf(runs);
  const floor = median(floors.map((run) => run.wall));
  const requests = requestsIn(runs[0]?.stdout ?? "", which);
  return {
    ...which,
    wall,
    floor,
    ratio: wall / floor,
    rowsPerSecond: rowsOf(which.dataset) / wall,
    cpu,
    rss: Math.max(...runs.map(({ rss }) => rss)),
    requests,
    before: others.length > 0 ? mediansOf(others) : undefined,
  };
}

function mediansOf(runs: readonly Measured[]): Before {
  return { wall: median(runs.map(({ wall }) => wall)), cpu: median(runs.map(({ cpu }) => cpu)) };
}

/** The requests that a run says it sent. Throws where it did not read what there was, or asked for more than it needed. */
function requestsIn(stdout: string, { dataset, consistency }: Case): number {
  const { status, counts, requests } = JSON.parse(stdout.trim().split("\n").at(-1) ?? "");
  const rows = counts.chunks + counts.child_chunks;
  if (status !== "complete" || rows !== rowsOf(dataset))
    throw new Error(`${status}, ${rows} of ${rowsOf(dataset)} rows`);
  const needed = requestsOf(dataset) + proofRequestsOf(dataset, consistency) + 1; // and the metadata fields of the dataset
  if (requests.sent !== needed) throw new Error(`${requests.sent} requests for ${needed}`);
  return requests.sent;
}

function rowsOf({ documents, chunks, childLists }: Dataset): number {
  return documents * chunks * (childLists ? 1 + childrenPerList : 1);
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = (sorted.length - 1) / 2;
  return ((sorted[Math.floor(middle)] ?? Number.NaN) + (sorted[Math.ceil(middle)] ?? Number.NaN)) / 2;
}
