import { mkdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { bytesText } from "../amounts.js";
import { restoreFolderOf } from "../dump/run-id.js";
import { StopError } from "../errors.js";
import { fileErrorText } from "../file-error.js";
import { ifAbsent, refuseLink } from "../files/files.js";
import { type CheckOwn, type JournalFile, readJournal } from "./journal-file.js";
import {
  emptyFacts,
  type Intent,
  type JournalLine,
  type Made,
  type Outcome,
  type WriteFacts,
  type WriteRequest,
} from "./journal-schema.js";
import { JournalState, type RestoredRow } from "./journal-state.js";

/** The run to restore from, and the service to restore to. */
interface JournalId {
  readonly runId: string;
  readonly baseUrl: string;
}

export interface JournalOptions extends JournalId {
  readonly now: () => Date;
  readonly checkOwn: CheckOwn;
}

/**
 * Records every write of a restore or a copy before it is sent, and its outcome, so that a later process knows which writes may have
 * happened. Each line is on disk when its promise resolves.
 */
export class Journal extends JournalState {
  readonly path: string;
  readonly #file: Pick<JournalFile, "append" | "close">;
  readonly #options: JournalOptions;
  /** The first lines of this process, until they are recorded together with the next line. */
  #beginning: readonly JournalLine[] = [];

  constructor(path: string, file: Pick<JournalFile, "append" | "close">, options: JournalOptions) {
    super();
    this.path = path;
    this.#file = file;
    this.#options = options;
  }

  /** Ends the copy in the journal, even if it is unfinished. The line is written with the next one. */
  endPrevious(): void {
    if (!this.facts.isBegun) return;
    const end = { kind: "end", time: this.#time() } as const;
    this.take(end);
    this.#beginning = [end];
  }

  /**
   * Prepares the line that begins or continues a restore or a copy. It is written with the next line. `undo`: the folder of the dump made
   * before the following writes; null for a copy.
   */
  beginWith(undo: string | null): void {
    const { runId, baseUrl } = this.#options;
    const begun = { kind: "begun", run_id: runId, base_url: baseUrl, undo, time: this.#time() } as const;
    this.#beginning = [...this.#beginning, begun];
  }

  /** Records a write. Call it before you send the write. */
  async intend(facts: WriteFacts, { method, path, sha256 }: WriteRequest): Promise<Intent> {
    const request = { method, path, sha256, time: this.#time() };
    const intent: Intent = { kind: "intent", number: this.writes + 1, ...emptyFacts, ...facts, ...request };
    await this.#note(intent);
    await this.#options.checkOwn();
    return intent;
  }

  /** Records that a write is being sent. Rejects if another process has taken over: then do not send it. */
  async leave({ number }: Intent): Promise<void> {
    await this.#note({ kind: "sent", number, time: this.#time() });
    await this.#options.checkOwn();
  }

  async conclude(
    { number }: Pick<Intent, "number">,
    outcome: Outcome["outcome"],
    { ids = [], batch = null, isIndexed = null }: Partial<Made> = {},
  ): Promise<void> {
    await this.#note({ kind: "outcome", number, outcome, ids, batch, indexed: isIndexed, time: this.#time() });
  }

  giveUp(id: string): Promise<void> {
    return this.#note({ kind: "given up", id, time: this.#time() });
  }

  /** Records the dataset of the target for the documents of the plan with this key. */
  noteDataset(key: string, { id, name }: { readonly id: string; readonly name: string }): Promise<void> {
    return this.#note({ kind: "adopted", dataset_id: key, id, name, time: this.#time() });
  }

  /** Records that a document of the dump is complete: its copy, or all that this command restores in it. */
  finish(documentId: string): Promise<void> {
    return this.#note({ kind: "restored", document_id: documentId, time: this.#time() });
  }

  forget(documentId: string): Promise<void> {
    return this.#note({ kind: "forgotten", old_id: documentId, time: this.#time() });
  }

  /** Ends a restore, if it began, unless a write has an unknown outcome or a chunk still needs repair. */
  async end(): Promise<void> {
    const hasBegun = this.facts.isBegun || this.#beginning.length > 0;
    if (hasBegun && this.open.length === 0 && this.unindexed.length === 0)
      await this.#note({ kind: "end", time: this.#time() });
  }

  close(): Promise<void> {
    return this.#file.close();
  }

  #time(): string {
    return this.#options.now().toISOString();
  }

  /** Calls may overlap: each line is applied and passed to the file before the next. */
  async #note(line: JournalLine): Promise<void> {
    const lines = [...this.#beginning, line];
    this.#beginning = [];
    await Promise.all(
      lines.map((each) => {
        this.take(each);
        return this.#file.append(each);
      }),
    );
  }
}

/**
 * Opens the journal of a folder, which it creates if needed. Continues the restore or copy in it unless that ended. With `another`, ends
 * it first, and the next one begins in the same file. Throws StopError if the file is damaged or not a journal, or if the restore to
 * continue is of another run or service.
 */
export async function openJournal(
  folder: string,
  { another = false, ...options }: JournalOptions & { readonly another?: boolean },
): Promise<Journal> {
  const path = join(folder, fileName);
  const { lines, open } = await readJournal(path);
  await mkdir(folder, { recursive: true });
  if (!another) refuseOther(lines, options, path);
  const journal = new Journal(path, await open(options.checkOwn), options);
  for (const line of lines) journal.take(line);
  if (another) journal.endPrevious();
  return journal;
}

/** What a folder's journal says; nothing if there is none. Throws StopError as in `openJournal`. Changes nothing. */
export async function readJournalState(folder: string, id: JournalId): Promise<JournalState> {
  const path = join(folder, fileName);
  const { lines } = await readJournal(path);
  refuseOther(lines, id, path);
  return stateAfter(lines);
}

function stateAfter(lines: readonly JournalLine[]): JournalState {
  const state = new JournalState();
  for (const line of lines) state.take(line);
  return state;
}

/**
 * The rows that restores of a run wrote, according to the journal beside it, and warnings. Without a readable journal, there are none: a
 * comparison does not need it, and a restore stops at it anyway.
 */
export async function readRestored(
  runFolder: string,
): Promise<{ readonly rows: readonly RestoredRow[]; readonly warnings: readonly string[] }> {
  const folder = restoreFolderOf(runFolder);
  const path = join(folder, fileName);
  try {
    await refuseLink(folder);
    const { size } = await stat(path).catch(ifAbsent({ size: 0 }));
    if (size > mostBytes) throw new StopError(`${path} is larger than ${bytesText(mostBytes)}`);
    const { restored } = stateAfter((await readJournal(path)).lines);
    return { rows: restored.map(({ old_id, id }) => ({ old_id, id })), warnings: [] };
  } catch (error) {
    const reason = error instanceof StopError ? error.message : fileErrorText(error);
    if (reason === undefined) throw error;
    return { rows: [], warnings: [`rows that were restored earlier are not recognized: ${reason}`] };
  }
}

/** Maximum size of a journal that a comparison reads: about 70,000 rows. */
const mostBytes = 64 * 1024 ** 2;

const fileName = "journal.jsonl";

/** Throws StopError if the restore that the lines leave open is of another run or service. */
function refuseOther(lines: readonly JournalLine[], { runId, baseUrl }: JournalId, path: string): void {
  for (const line of lines.slice(lines.findLastIndex(({ kind }) => kind === "end") + 1)) {
    if (line.kind !== "begun" || (line.base_url === baseUrl && line.run_id === runId)) continue;
    throw new StopError(
      `${path}: this is the journal of a restore of run ${line.run_id} to ${line.base_url} that did not end, and not of run ${runId} to ${baseUrl}: check the base URL; finish that restore first, or move this file to another folder`,
    );
  }
}
