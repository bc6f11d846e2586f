import { mkdir, readFile, rename, truncate } from "node:fs/promises";
import { join } from "node:path";
import { StopError } from "../../errors.js";
import { check } from "../../schema.js";
import { Journal, type JournalOptions } from "./journal.js";
import { type Begun, type JournalLine, lineSchema } from "./journal-lines.js";

const fileName = "journal.jsonl";

/**
 * Opens the journal of a folder: goes on with one that did not end, and sets one that did aside under the time it began. StopError
 * if one that did not end is damaged, or belongs to another service.
 */
export async function openJournal(folder: string, options: JournalOptions): Promise<Journal> {
  const path = join(folder, fileName);
  await mkdir(folder, { recursive: true });
  const lines = await readJournal(path);
  const [first] = lines;
  if (first?.kind !== "begun") return new Journal(path, options, []);
  if (lines.at(-1)?.kind === "end") {
    await rename(path, join(folder, `journal-${first.time.replace(/[-:.]/g, "")}.jsonl`));
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

/** The lines of a journal; none where there is no file. A torn last line is cut off: nothing was sent before it was whole. */
async function readJournal(path: string): Promise<readonly JournalLine[]> {
  const text = await readFile(path, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return "";
    throw error;
  });
  const whole = text.slice(0, text.lastIndexOf("\n") + 1);
  if (whole !== text) await truncate(path, Buffer.byteLength(whole));
  return whole
    .split("\n")
    .slice(0, -1)
    .map((line, at) => lineFrom(line, `${path}:${at + 1}`));
}

function lineFrom(text: string, place: string): JournalLine {
  const line = check(lineSchema, parsed(text));
  if (!line.problems) return line.value;
  const [{ path, message } = { path: "", message: "" }] = line.problems;
  throw new StopError(
    `${place}: the journal is damaged: ${[path, message].filter(Boolean).join(": ")}; compare the documents by hand, then move it away`,
  );
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
