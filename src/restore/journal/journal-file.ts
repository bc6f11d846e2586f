import { type FileHandle, open, rename } from "node:fs/promises";
import { dirname, join, parse } from "node:path";
import { flush } from "../../dump/files/flush.js";
import { StopError } from "../../errors.js";
import { fileErrorText } from "../../file-error.js";

/** A file of JSON lines that grows: every line is on disk before the next one is written. It is made with its first line. */
export class JournalFile {
  readonly #path: string;
  readonly #checkOwn: () => Promise<void>;
  #file: FileHandle | undefined;
  #writing: Promise<unknown> = Promise.resolve();
  /** The first failure of the disk: a line behind one that is torn would make the whole file unreadable. */
  #failure: StopError | undefined;

  /** `checkOwn` rejects when another process has taken the place of this one: one that was frozen does not know it. */
  constructor(path: string, checkOwn: () => Promise<void> = async () => {}) {
    this.#path = path;
    this.#checkOwn = checkOwn;
  }

  /**
   * Adds a line; it is on disk when this resolves. Lines stand in the order of the calls. Rejects with the reason of `checkOwn`, and
   * with StopError where the disk takes no line; then it takes no other, either.
   */
  append(line: object): Promise<void> {
    const added = this.#writing.then(() => this.#add(`${JSON.stringify(line)}\n`));
    this.#writing = added.catch(() => {});
    return added;
  }

  /** Waits for the lines that are under way. */
  async close(): Promise<void> {
    await this.#writing;
    await this.#file?.close();
    this.#file = undefined;
  }

  async #add(text: string): Promise<void> {
    await this.#checkOwn();
    if (this.#failure) throw this.#failure;
    try {
      this.#file ??= await openFile(this.#path);
      await this.#file.appendFile(text);
      await this.#file.datasync();
    } catch (cause) {
      const reason = fileErrorText(cause) ?? String(cause);
      const next = "nothing more is sent; restore again when that is solved: what was done is found";
      this.#failure = new StopError(`${this.#path}: the journal cannot be written: ${reason}; ${next}`, { cause });
      throw this.#failure;
    }
  }
}

/** Keeps a journal that ended under another name: `journal.jsonl` becomes `journal-20260301T020000123Z.jsonl`. `time`: ISO 8601. */
export async function setAside(path: string, time: string): Promise<void> {
  const { dir, name, ext } = parse(path);
  await rename(path, join(dir, `${name}-${time.replace(/[-:.]/g, "")}${ext}`));
}

/** Opens a file to add lines to it, whose name is on disk, too. */
async function openFile(path: string): Promise<FileHandle> {
  const file = await open(path, "a", 0o600);
  await flush(dirname(path));
  return file;
}
