import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { StopError } from "../../errors.js";
import { readJournal, setAside } from "../journal/journal-file.js";
import { Journal, type JournalOptions } from "./journal.js";
import { type Begun, lineSchema } from "./journal-lines.js";

const fileName = "journal.jsonl";

/**
 * Opens the journal of a folder: goes on with one that did not end, and sets one that did aside under the time it began. StopError
 * if it is damaged or no journal, or if one that did not end belongs to another service.
 */
export async function openJournal(folder: string, options: JournalOptions): Promise<Journal> {
  const path = join(folder, fileName);
  const { lines, makeReady } = await readJournal(path, lineSchema);
  await mkdir(folder, { recursive: true });
  const [first] = lines;
  if (first && lines.at(-1)?.kind === "end") {
    await setAside(path, first.time);
    return new Journal(path, options, []);
  }
  if (first?.kind === "begun") refuseOther(first, options, path);
  await makeReady();
  return new Journal(path, options, lines);
}

function refuseOther(first: Begun, { runId, baseUrl }: JournalOptions, path: string): void {
  if (first.base_url === baseUrl && first.run_id === runId) return;
  const other = first.base_url === baseUrl ? `run ${first.run_id}` : first.base_url;
  throw new StopError(
    `${path}: a restore to ${other} did not end, and this one is to ${baseUrl}: finish that one first, or move its journal away`,
  );
}
