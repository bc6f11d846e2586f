import { open, readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { isAbsence, isThere } from "../dump/files/is-there.js";
import { manifestName } from "../dump/manifest/manifest.js";
import type { Found } from "./meaning.js";

/** Tells what lies at a path; links are followed. */
export async function lookAt(path: string): Promise<Found> {
  const facts = await stat(path).catch((error: unknown) => {
    if (isAbsence(error) || isNoPath(error)) return undefined;
    throw error;
  });
  if (!facts) return "nothing";
  if (facts.isFile()) return lookAtFile(path);
  if (!facts.isDirectory()) return "other"; // a pipe would have to be waited for
  if (await isThere(join(path, manifestName))) return "run";
  for (const name of ["runs", "latest"]) if (await isThere(join(path, name))) return "job";
  for (const name of [".work", "shards"]) if (await isThere(join(path, name))) return "begun";
  return "folder";
}

async function lookAtFile(path: string): Promise<Found> {
  if (/\.(ya?ml|json)$/i.test(path)) return "job file";
  if (/\.(duckdb|db)$/i.test(path)) return "database";
  const file = await open(path);
  try {
    const { buffer } = await file.read(Buffer.alloc(12), 0, 12);
    return buffer.toString("latin1", 8) === "DUCK" ? "database" : "other"; // https://duckdb.org/docs/stable/internals/storage
  } finally {
    await file.close();
  }
}

/** Whether an error says that no path can look like this, or that a link leads to itself. */
function isNoPath(error: unknown): boolean {
  return error instanceof Error && "code" in error && (error.code === "ENAMETOOLONG" || error.code === "ELOOP");
}

/** The names of the jobs in an output folder, in order; undefined if there is no such folder. */
export async function jobsIn(dir: string): Promise<readonly string[] | undefined> {
  const names = await readdir(dir).catch((error: unknown) => {
    if (isAbsence(error)) return undefined;
    throw error;
  });
  if (!names) return undefined;
  const jobs: string[] = [];
  for (const name of names.sort()) if (/^(job|begun)$/.test(await lookAt(join(dir, name)))) jobs.push(name);
  return jobs;
}
