import { rm } from "node:fs/promises";
import { join } from "node:path";
import { readJsonFile, writeJsonFile } from "../dump/files/json-file.js";
import type { StatusReading } from "../indexing/capture-status.js";
import type { FieldsReading } from "./discover/read-metadata-fields.js";

type OnceRead = StatusReading | FieldsReading;

const files = { status: "status-before.json", fields: "metadata-fields.json" } as const;

/**
 * What is read once in a run; one that is continued has it already, unless something of it failed. The plan of the work
 * folder vouches for what lies there.
 */
export async function readOnce<T extends OnceRead>(
  work: string,
  what: keyof typeof files,
  read: () => Promise<T>,
): Promise<T> {
  const path = join(work, files[what]);
  const earlier = await readJsonFile(path);
  if (isReading<T>(earlier)) return earlier;
  const reading = await read();
  if (reading.failures.length === 0) await writeJsonFile(path, reading);
  return reading;
}

/** Forgets it: who goes on reads it anew. */
export async function forgetOnceRead(work: string): Promise<void> {
  for (const file of Object.values(files)) await rm(join(work, file), { force: true });
}

function isReading<T extends OnceRead>(value: unknown): value is T {
  return typeof value === "object" && value !== null && "rows" in value && "failures" in value && "drift" in value;
}
