import { createHash } from "node:crypto";
import * as fs from "node:fs";
import { join } from "node:path";
import * as v from "valibot";
import { runFactsSchema } from "../../../src/dump/manifest.js";
import { BusyError, StopError } from "../../../src/errors.js";
import type { Schedule } from "./play.js";
import { type Listed, rowsFile, rowsOfRun } from "./run-once.js";

/** Returns the broken promises of a schedule, according to the files that its processes left and the messages that they printed. */
export function judgeEnd(schedule: Schedule): readonly string[] {
  const runs = fs.readdirSync(join(schedule.place, "runs")).sort();
  return [
    ...runs.flatMap((run) => wrongRun(schedule, run)),
    ...wrongDatabase(schedule, runs),
    ...wrongWords(schedule, runs),
    ...leftovers(schedule),
  ];
}

function wrongRun({ place, published }: Schedule, run: string): readonly string[] {
  const folder = join(place, "runs", run);
  const [manifest, chunks] = ["manifest.json", rowsFile].map((name) => read(join(folder, name)));
  if (manifest === undefined || chunks === undefined) return [`run ${run} is not whole`];
  const wrong: string[] = [];
  if (chunks !== `${rowsOfRun.join("\n")}\n`) wrong.push(`run ${run} has other rows than were read`);
  if (!v.is(runFactsSchema, JSON.parse(manifest))) wrong.push(`the program cannot read the manifest of run ${run}`);
  if (JSON.parse(manifest).sha256 !== createHash("sha256").update(chunks).digest("hex"))
    wrong.push(`the manifest of run ${run} has another hash`);
  for (const [path, text] of published)
    if (path.startsWith(folder) && read(path) !== text) wrong.push(`${path} changed after it was published`);
  return wrong;
}

/** Checks the result of the undisturbed last process: the database has every run and reading once, and `latest` is the newest run. */
function wrongDatabase({ place, readings }: Schedule, runs: readonly string[]): readonly string[] {
  const wrong: string[] = [];
  const text = read(join(place, "job.duckdb"));
  const listed: Listed = text === undefined ? { runs: [], readings: [] } : JSON.parse(text);
  if (JSON.stringify(listed.runs) !== JSON.stringify(runs))
    wrong.push(`the database has ${listed.runs}, runs/ ${runs}`);
  for (const reading of readings) if (!listed.readings.includes(reading)) wrong.push(`reading ${reading} is lost`);
  const path = join(place, "latest");
  const latest = fs.lstatSync(path, { throwIfNoEntry: false }) ? fs.readlinkSync(path) : "nothing";
  if (latest !== `runs/${runs.at(-1)}`) wrong.push(`latest leads to ${latest}`);
  return wrong;
}

function wrongWords({ place, ended }: Schedule, runs: readonly string[]): readonly string[] {
  const writers = new Map(
    runs.map((run) => [JSON.parse(read(join(place, "runs", run, "manifest.json")) ?? "{}").writer, run]),
  );
  const bareErrors = ended.flatMap(({ process }) =>
    process.messages.filter((text) => text.includes("ENOENT")).map((text) => `process ${process.number} says: ${text}`),
  );
  const claims = ended.flatMap(({ process, said, error }) => {
    const run = writers.get(process.number);
    const who = `process ${process.number}`;
    if (said) return run === said.runId ? [] : [`${who} says that it published ${said.runId}, which it did not`];
    if (run !== undefined) return [`${who} published ${run} and says: ${error}`];
    const isSaid = error instanceof StopError || error instanceof BusyError;
    return isSaid ? [] : [`${who} ends with ${error instanceof Error ? error.stack : error}`];
  });
  return [...bareErrors, ...claims];
}

function leftovers({ place, ended }: Schedule): readonly string[] {
  const last = ended.at(-1);
  if (last?.said?.status !== "complete") return [`the last process was not disturbed, and says ${last?.error}`];
  // The unfinished lock of a process killed on another host is removed only after two minutes, which never pass here.
  const isFine = (name: string) => name === "indexing_status" || name === "fenced" || name.startsWith("lock.");
  const names = fs.readdirSync(join(place, ".work")).filter((name) => !isFine(name));
  const below = names.flatMap((name) => fs.readdirSync(join(place, ".work", name)));
  return names.length > 0 ? [`.work has ${names}: ${below}`] : [];
}

function read(path: string): string | undefined {
  return fs.existsSync(path) ? fs.readFileSync(path, "utf8") : undefined;
}
