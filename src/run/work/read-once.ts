import { rm } from "node:fs/promises";
import { join } from "node:path";
import type { GenericSchema } from "valibot";
import { readJsonFile, writeJsonFile } from "../../dump/files/json-file.js";
import { valueIf } from "../../schema.js";

const files = {
  discovery: "discovery.json",
  status: "status-before.json",
  fields: "metadata-fields.json",
  details: "details.json",
} as const;

/** The answer to a question that a run asks once. */
export interface OnceRead<T> {
  /** Checks what an earlier process left; the plan of the work folder vouches for its contents. */
  readonly schema: GenericSchema<unknown, T>;
  readonly read: () => Promise<T>;
  /** Whether a run that is continued may do with this answer; else it asks again. */
  readonly isWhole: (answer: T) => boolean;
}

/**
 * Asks a question once in a run: a run that is continued has the answer already. One that is too long for a text, as the lists of
 * some 500,000 documents are, is not kept, and is asked for again.
 */
export async function readOnce<T>(
  work: string,
  what: keyof typeof files,
  { schema, read, isWhole }: OnceRead<T>,
): Promise<T> {
  const path = join(work, files[what]);
  const earlier = valueIf(schema, await readJsonFile(path));
  if (earlier !== undefined) return earlier;
  const answer = await read();
  if (isWhole(answer)) await writeJsonFile(path, answer).catch(unlessTooLong);
  return answer;
}

/** V8 throws a RangeError where a string would be longer than it can be. */
function unlessTooLong(error: unknown): void {
  if (!(error instanceof RangeError)) throw error;
}

/** Forgets all answers: a run that goes on asks anew. */
export async function forgetOnceRead(work: string): Promise<void> {
  for (const file of Object.values(files)) await rm(join(work, file), { force: true });
}
