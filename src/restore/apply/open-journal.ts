import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { StopError } from "../../errors.js";
import { setAside } from "../journal/journal-file.js";
import { cutTornLine, readLines } from "../journal/read-lines.js";
import { Journal, type JournalOptions } from "./journal.js";
import { type Begun, lineSchema } from "./journal-lines.js";

const fileName = "journal.jsonl";

/**
 * Opens the journal of a folder: goes on with one that did not end, and sets one that did aside under the time it began. StopError
 * if one that did not end is damaged, or belongs to another service.
 */
export async function openJournal(folder: string, options: JournalOptions): Promise<Journal> {
  const path = join(folder, fileName);
  await mkdir(folder, { recursive: true });
  await cutTornLine(path);
  const lines = await readLines(path, lineSchema);
  const [first] = lines;
  if (first?.kind !== "begun") return new Journal(path, options, []);
  if (lines.at(-1)?.kind === "end") {
    await setAside(path, first.time);
    return new Journal(path, options, []);
  }
  refuseOther(first, options, path);
  return new Journal(path, options, lines);
}

function refuseOther(first: Begun, { runId, baseUrl }: JournalOptions, path: string): void {
  if (first.base_url === baseUrl && first.run_id === runId) return;
  const other = first.base_url === baseUrl ? `run ${first.run_id}` : first.base_url;
  throw new StopError(
    `${path}: a restore to ${other} did not end, and this one is to ${baseUrl}: finish that one first, or move its journal away`,
  );
}
