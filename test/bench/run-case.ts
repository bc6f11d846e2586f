import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { nameOf } from "./case-names.js";
import type { Case, Environment } from "./cases.js";
import { documentId } from "./dataset.js";
import { type Measured, measure, type Service, withService } from "./measure.js";
import { median } from "./median.js";
import { neededRequests, rowsOf } from "./needed-requests.js";
import { requestsTo, type Served, servedBetween } from "./served.js";

const program = "dist/main.js";

/** One line of the result: medians of several runs. */
export interface Line extends Case {
  readonly name: string;
  /** Seconds of the whole process. */
  readonly wall: number;
  readonly floor: number;
  /** How many times as long as the floor: wall / floor. */
  readonly ratio: number;
  /** Chunks and child chunks. */
  readonly rows: number;
  /** Processor seconds of all threads. */
  readonly cpu: number;
  /** Peak resident memory of all runs, in bytes. */
  readonly rss: number;
  /** The service's work for one run. */
  readonly served: Served;
  /** The figures of the same case with another checkout, measured alternately; undefined without one. */
  readonly before?: Before | undefined;
}

/** The times with the other checkout, in seconds. */
export type Before = Pick<Measured, "wall" | "cpu">;

interface Run extends Measured {
  readonly served: Served;
}

/**
 * Measures cases of one environment, alternating with the floor, `rounds` times. `scratch`: a folder to write to. `against`: another
 * checkout, whose built program to measure too.
 */
export async function runCases(
  environment: Environment,
  cases: readonly Case[],
  rounds: number,
  scratch: string,
  against?: string,
): Promise<readonly Line[]> {
  const { dataset, latency } = environment;
  return withService({ dataset, latency }, async (service) => {
    const floors = new Map<boolean, Measured[]>(cases.map((each) => [readsLists(each), []]));
    const runs = cases.map((): Run[] => []);
    const others = cases.map((): Measured[] => []);
    for (let round = 0; round < rounds; round++) {
      for (const [lists, measured] of floors) measured.push(await measureFloor(environment, lists, service));
      for (const [at, each] of cases.entries()) {
        if (against !== undefined) others[at]?.push(await dump(each, service, scratch, join(against, program)));
        runs[at]?.push(await dump(each, service, scratch, program));
      }
    }
    return cases.map((each, at) => lineOf(each, floors.get(readsLists(each)) ?? [], runs[at] ?? [], others[at] ?? []));
  });
}

const readsLists = ({ childChunks }: Case) => childChunks === "all";

function measureFloor({ dataset, inFlight }: Environment, childLists: boolean, { origin }: Service): Promise<Measured> {
  const asked = JSON.stringify({ ...dataset, childLists });
  return measure([`${import.meta.dirname}/floor.mjs`, `${origin}/v1`, asked, `${inFlight}`]);
}

async function dump(which: Case, { origin, served }: Service, scratch: string, main: string): Promise<Run> {
  const { dataset, formats, inFlight, childChunks, consistency } = which;
  const dir = await mkdtemp(join(scratch, "run-"));
  const job = join(dir, "bench.json");
  const documents = Array.from({ length: dataset.documents }, (_, document) => documentId(document));
  await writeFile(
    job,
    JSON.stringify({
      service: { base_url: `${origin}/v1`, concurrency: inFlight },
      datasets: [{ id: dataset.id, documents }],
      child_chunks: childChunks,
      details: false, // the benchmark's server only has lists
      consistency,
      output: { dir, formats },
    }),
  );
  try {
    const before = await served();
    const measured = await measure([main, "run", job, "--json", "--quiet"], { KNOWLEDGE_API_KEY: "bench" });
    const run = { ...measured, served: servedBetween(before, await served()) };
    checkRun(run, which);
    return run;
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}

/** Throws if a run did not read everything, or sent more requests than it needed. */
function checkRun({ stdout, served }: Run, which: Case): void {
  const { status, counts } = JSON.parse(stdout.trim().split("\n").at(-1) ?? "");
  const rows = counts.chunks + counts.child_chunks;
  if (status !== "complete" || rows !== rowsOf(which))
    throw new Error(`${nameOf(which)}: ${status}, ${rows} of ${rowsOf(which)} rows`);
  const [sent, needed] = [requestsTo(served), neededRequests(which)];
  if (sent !== needed) throw new Error(`${nameOf(which)}: ${sent} requests for ${needed}`);
}

function lineOf(which: Case, floors: readonly Measured[], runs: readonly Run[], others: readonly Measured[]): Line {
  const { wall, cpu } = mediansOf(runs);
  const floor = median(floors.map((run) => run.wall));
  const serviceCpu = median(runs.map(({ served }) => served.cpu));
  return {
    ...which,
    name: nameOf(which),
    wall,
    floor,
    ratio: wall / floor,
    rows: rowsOf(which),
    cpu,
    rss: Math.max(...runs.map(({ rss }) => rss)),
    served: { ...(runs[0] as Run).served, cpu: serviceCpu },
    before: others.length > 0 ? mediansOf(others) : undefined,
  };
}

function mediansOf(runs: readonly Measured[]): Before {
  return { wall: median(runs.map(({ wall }) => wall)), cpu: median(runs.map(({ cpu }) => cpu)) };
}
