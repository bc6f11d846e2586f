import { basename } from "node:path";
import * as v from "valibot";
import { type Against, againstResult } from "../against/against-result.js";
import type { AgainstOptions, AgainstProgress } from "../against/against-service.js";
import { chunksText, countText } from "../amounts.js";
import type { BucketNames } from "../cli/bucket-names.js";
import { type Arguments, defineCommand, type Environment, type Options } from "../cli/command.js";
import { allowHttp, findOptionsFrom, itemsOf, maxRps, memoryOption, outOption, runPositional } from "../cli/options.js";
import { type Entry, renderParagraphs } from "../cli/outline.js";
import { renderReading } from "../cli/progress-text.js";
import type { View } from "../cli/progress-view.js";
import { type Page, terminalText } from "../cli/text.js";
import { manifestName } from "../dump/manifest.js";
import { exitCodes, type Problem, UsageError } from "../errors.js";
import { emptyReadProgress } from "../read-progress.js";
import { orNull, result } from "../schema.js";
import type { RunToFetch } from "../store/find-run.js";
import { type Verification, verification } from "../verify/findings.js";
import { troublesIn } from "./restore/result-parts.js";

const epilog = `Examples:
  kbdump verify nightly
  kbdump verify nightly.yaml
  kbdump verify output/nightly/runs/20261120T020000123Z --duckdb --json
  kbdump verify nightly --against https://kb.example.com/v1 --sample 5%

With --against, the run is compared with a service, too: with the copies that copy --to made there, or else with the same documents. The service is only read.

Exit codes: 0 sound, and as at the service · 1 could not be checked or compared · 2 wrong usage, no such run, or no key · 4 something is wrong with the dump, or the service differs · 130, 143 interrupted`;

/** The flags for comparing with a service. */
const againstOptions = {
  against: {
    type: "string",
    value: "URL",
    describe: "base URL of a service to compare the run with, for example after a restore; kbdump only reads it",
  },
  "key-env": {
    type: "string",
    value: "NAME",
    needs: "against",
    describe: "environment variable with the key; default: KNOWLEDGE_API_KEY",
  },
  "allow-http": { ...allowHttp, needs: "against" },
  concurrency: {
    value: "N",
    group: "Advanced",
    needs: "against",
    describe: "maximum concurrent requests, 1 to 64; default: 8",
  },
  "max-rps": { ...maxRps, needs: "against" },
  document: {
    type: "string",
    array: true,
    value: "UUIDS",
    needs: "against",
    describe: "documents to compare, by their UUIDs, with commas or repeated; default: all",
  },
  sample: {
    value: "PERCENT",
    read: shareFrom,
    conflicts: "document",
    needs: "against",
    describe: "compare a random part of the documents, such as 5%; a new sample each time",
  },
} as const satisfies Options;

const options = {
  duckdb: {
    type: "string",
    valueIsOptional: true,
    value: "FILE",
    describe: "also compare with a database: <job>.duckdb next to the runs, or --duckdb=FILE",
  },
  ...againstOptions,
  ...outOption,
  ...memoryOption,
} as const satisfies Options;

/** `kbdump verify <run>`: reads a run again and proves it; with `--against`, compares it with a service. */
export const command = defineCommand({
  name: "verify <run>",
  about: "read a run again, and prove that it is complete and unchanged",
  positionals: runPositional,
  options,
  epilog,
  results: () => ({ verify: verifyResult }),
  check: problemsOf,
  async run(args, environment) {
    const { names, view } = environment;
    const { findRunToFetch } = await import("../store/find-run.js");
    const found = await findRunToFetch(args.run, findOptionsFrom(args, environment));
    const { folder } = found;
    const comparison = await againstFrom(args, environment);
    if (names(folder) !== args.run) view.log("info", `verifying ${folder}`);
    const verification = await verify(found, args, environment);
    const isSound = verification.status === "sound";
    const against = comparison && isSound ? await compare({ ...comparison, folder }, view) : null;
    if (comparison && !isSound) view.log("warn", "the dump is not sound, and was not compared with the service");
    const isEqual = against === null || against.differences.length === 0;
    const result: VerifyResult = { ...verification, ...(isEqual ? {} : { status: "differences" }), against };
    await environment.print(result, (page) => renderVerification(result, page));
    return result.status === "sound" ? exitCodes.complete : exitCodes.differences;
  },
});

/** Verifies the run. A run in a bucket is always read from there, even if there is a copy. */
async function verify(
  found: RunToFetch,
  { duckdb, memory }: VerifyArguments,
  { names, signal, view }: Environment,
): Promise<Verification> {
  const { verifyRun } = await import("../verify/verify-run.js"); // slow to load; --help does not need it
  const context = { memory, signal, duckdb: duckdb === undefined ? false : duckdb || true };
  const read = (folder: string, database: boolean | string = context.duckdb) => {
    const progress = emptyReadProgress();
    const unwatch = view.watch(renderReading(progress));
    return verifyRun(folder, { ...context, progress, duckdb: database }).finally(unwatch);
  };
  return found.inBucket ? verifyInBucket(found.inBucket, context.duckdb, read, names) : read(found.folder);
}

/**
 * Verifies a run as it is in the bucket now. Downloads all of it, even if damaged.
 * `duckdb`: also compare with the job's database, or with the one at this path.
 */
async function verifyInBucket(
  { copy, run }: NonNullable<RunToFetch["inBucket"]>,
  duckdb: boolean | string,
  verify: (folder: string, database: boolean | string) => Promise<Verification>,
  names: BucketNames,
): Promise<Verification> {
  const { fetchDatabaseOf, mirrorRun } = await import("../store/bucket/fetch-run.js"); // slow to load
  const database = duckdb === true ? await fetchDatabaseOf(copy) : duckdb;
  if (database === undefined) {
    const problem = {
      path: `${copy.url}/${basename(copy.url)}.duckdb`,
      message: "there is no such file; --duckdb=PATH names another",
    };
    throw new UsageError("There is no database to compare with:", [problem]);
  }
  const { folder, isListed } = await mirrorRun(copy, run);
  const verification = await verify(folder, database);
  const { checked, findings, finding_count } = verification;
  const shown = checked.database && { ...checked.database, path: names(checked.database.path) };
  const named = { ...verification, checked: { ...checked, folder: names(checked.folder), database: shown } };
  if (isListed) return named;
  const finding = { file: manifestName, message: "is not the one that head.json lists: it has another SHA-256" };
  return { ...named, status: "differences", findings: [finding, ...findings], finding_count: finding_count + 1 };
}

async function compare(options: Omit<AgainstOptions, "log" | "progress">, view: View): Promise<Against> {
  const { compareWithService } = await import("../against/against-service.js"); // slow to load
  const progress: AgainstProgress = { ...emptyReadProgress(), dump: undefined };
  const unwatch = view.watch(renderReading(progress, "document"));
  return compareWithService({ ...options, log: view.log, progress }).finally(unwatch);
}

type VerifyArguments = Arguments<typeof runPositional & typeof options>;

async function problemsOf(args: VerifyArguments): Promise<readonly Problem[]> {
  const { checkIds, checkServiceFlags } = await import("../job/check-job.js"); // slow to load; --help does not need it
  return [
    ...checkServiceFlags({ ...args, to: args.against }, "--against"),
    ...checkIds("--document", itemsOf(args.document)),
  ];
}

/** Parses a percentage such as `5%`. */
function shareFrom(given: string, path: string): number | Problem {
  const percent = /^(\d{1,3}(?:\.\d+)?)%$/.exec(given)?.[1];
  const share = Number(percent) / 100;
  if (share > 0 && share <= 1) return share;
  return { path, message: `got ${JSON.stringify(given)}, expected a percentage above 0, such as 5%` };
}

/** The settings of the comparison, except the run's path and the progress; undefined without `--against`. */
async function againstFrom(
  args: VerifyArguments,
  { env, signal }: Environment,
): Promise<Omit<AgainstOptions, "folder" | "log" | "progress"> | undefined> {
  const { against, keyEnv = "KNOWLEDGE_API_KEY", allowHttp = false, concurrency, maxRps, memory } = args;
  if (against === undefined) return undefined;
  const { readKey } = await import("../job/read-key.js");
  const numberOf = (text: unknown) => (text === undefined ? undefined : Number(text));
  return {
    ...{ baseUrl: against, addressFlag: "--against", keyEnv, key: await readKey({ apiKeyEnv: keyEnv }, env) },
    ...{ allowHttp, memory, env, signal, now: () => new Date() },
    documents: itemsOf(args.document),
    sample: args.sample,
    concurrency: numberOf(concurrency),
    maxRps: numberOf(maxRps),
  };
}

/** The result of `kbdump verify --json`. */
const verifyResult = result({
  ...verification.entries,
  against: v.pipe(
    orNull(againstResult),
    v.description("the comparison with a service; null without --against, and if the dump is not sound"),
  ),
});

type VerifyResult = v.InferOutput<typeof verifyResult>;

/** Renders every finding and what could not be checked, then the verdict; and the comparison with a service. */
export function renderVerification({ findings, finding_count, checked, against }: VerifyResult, page: Page): string {
  const facts = [
    countText(checked.files, "file"),
    chunksText(checked),
    ...(checked.originals === null ? [] : [countText(checked.originals, "original")]),
    ...(checked.attachments ? [countText(checked.attachments, "attachment")] : []),
    ...(checked.database ? [`${countText(checked.database.documents, "document")} of the database`] : []),
  ];
  const verdict: Entry =
    finding_count === 0
      ? { head: "sound", paint: "good", text: facts.join(", ") }
      : { head: "not sound", paint: "bad", text: countText(finding_count, "finding") };
  return renderParagraphs(
    [
      [
        ...findings.map(({ file, message }) => terminalText(`${file}: ${message}`, 600)),
        ...checked.notes.map(noteOf),
        verdict,
        ...(against ? [againstVerdict(against), ...against.notes.map(noteOf)] : []),
      ],
      [against && troublesIn("Differences:", against.differences, new Map(), { documents: 20, rows: 20 })],
    ],
    page,
  );
}

function noteOf(note: string): Entry {
  return { text: `note: ${terminalText(note, 600)}`, paint: "faint" };
}

function againstVerdict({ base_url, copies, documents, differences, ...counts }: Against): Entry {
  const compared = countText(documents, copies ? "restored document" : "document");
  const text = `${compared}, ${chunksText(counts)} at ${terminalText(new URL(base_url).host)}`;
  if (differences.length === 0) return { head: "as in the run", paint: "good", text };
  return { head: `${countText(differences.length, "difference")} to the run`, paint: "bad", text };
}
