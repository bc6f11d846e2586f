import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { StopError } from "../../errors.js";
import { JournalFile, readJournal, setAside } from "../../restore/journal/journal-file.js";
import type { JournalFacts } from "../journal-facts.js";
import { GrowingFacts } from "./growing-facts.js";
import { type JournalLine, lineSchema } from "./journal-lines.js";
import { type LineWriter, MoveJournal, type MoveJournalOptions } from "./move-journal.js";

const fileName = "journal.jsonl";

/** The run that is restored, and the service that it is restored to. */
type MoveId = Pick<MoveJournalOptions, "runId" | "baseUrl">;

/**
 * The state of a target that the journal of a folder tells; no facts where there is none. StopError where it is damaged or no journal,
 * or belongs to another run or service. Changes nothing.
 */
export async function readJournalFacts(folder: string, move: MoveId): Promise<JournalFacts> {
  const path = join(folder, fileName);
  const { lines } = await readJournal(path, lineSchema);
  const facts = new GrowingFacts();
  for (const line of lines) {
    refuseOther(line, move, path);
    facts.take(line);
  }
  const { datasets, documents, attachments, from } = facts;
  return { datasets, documents, attachments, from };
}

export interface OpenOptions extends MoveJournalOptions {
  /** Whether another copy is made: with the first line, a journal that is there is set aside under the time it began. */
  readonly another: boolean;
}

/**
 * Opens the journal of a folder, which is made if there is none, and continues it. StopError where it is damaged or no journal, or
 * belongs to another run or service.
 */
export async function openMoveJournal(folder: string, { another, ...options }: OpenOptions): Promise<MoveJournal> {
  const path = join(folder, fileName);
  const { lines, makeReady } = await readJournal(path, lineSchema);
  await mkdir(folder, { recursive: true });
  const [first] = lines;
  const file = new JournalFile(path, options.checkOwn);
  if (another && first) return new MoveJournal(path, inPlaceOf(path, first.time, file, options), options, []);
  for (const line of lines) refuseOther(line, options, path);
  await makeReady();
  return new MoveJournal(path, file, options, lines);
}

/** A file that takes the place of an earlier journal with its first line: until then, nothing is written that needs another one. */
function inPlaceOf(path: string, time: string, file: LineWriter, { checkOwn }: MoveJournalOptions): LineWriter {
  let aside: Promise<void> | undefined;
  return {
    append: async (line) => {
      aside ??= checkOwn().then(() => setAside(path, time));
      await aside;
      await file.append(line);
    },
    close: () => file.close(),
  };
}

function refuseOther(line: JournalLine, { runId, baseUrl }: MoveId, path: string): void {
  if (line.kind !== "begun") return;
  const { run_id, base_url } = line;
  if (base_url === baseUrl && run_id === runId) return;
  throw new StopError(
    `${path}: this is the journal of a restore of run ${run_id} to ${base_url}, and not of run ${runId} to ${baseUrl}: check the base URL; if it is another service on the same host, move this file to another folder first`,
  );
}
