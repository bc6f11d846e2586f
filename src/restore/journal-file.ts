import { constants } from "node:fs";
import { type FileHandle, rename } from "node:fs/promises";
import { dirname, join, parse } from "node:path";
import * as v from "valibot";
import { StopError } from "../errors.js";
import { fileErrorText } from "../file-error.js";
import { ifAbsent, isThere, openRegular, refuseLink } from "../files/files.js";
import { flush } from "../files/flush.js";
import { check, count, text, valueIf } from "../schema.js";

const { O_RDONLY, O_RDWR, O_WRONLY, O_APPEND, O_CREAT, O_NOFOLLOW } = constants;

/** Any line of a journal. The first one is of the kind `begun`. */
type LineSchema = v.GenericSchema<unknown, { readonly kind: string }>;

/** A journal as it stands on disk. */
interface ReadJournal<Line> {
  readonly lines: readonly Line[];
  /** Makes sure that lines can be added, and cuts off a torn last one. */
  readonly makeReady: () => Promise<void>;
}

/**
 * Reads a journal, each line by this schema; it has no lines where there is no file. A torn last line counts as none: nothing was sent
 * before it was whole. StopError, naming the place, where a line is damaged, and where the path is a link or no journal: a run
 * that you received may have anything there. Changes nothing.
 */
export async function readJournal<const Schema extends LineSchema>(
  path: string,
  schema: Schema,
): Promise<ReadJournal<v.InferOutput<Schema>>> {
  const bytes = await bytesOf(path);
  const whole = bytes.lastIndexOf("\n") + 1;
  const lines = bytes.toString("utf8", 0, whole).split("\n").slice(0, -1);
  if (!isBeginning(lines[0] ?? bytes, schema))
    throw new StopError(
      `${path} is not a kbdump journal, or is damaged. It was not changed. Compare the documents by hand, then move it away`,
    );
  return {
    lines: lines.map((line, at) => lineFrom(line, schema, `${path}:${at + 1}`)),
    makeReady: () => makeReady(path, { size: bytes.length, whole }),
  };
}

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
      this.#file ??= await openToAppend(this.#path);
      await this.#file.appendFile(text);
      await this.#file.datasync();
    } catch (cause) {
      const reason = fileErrorText(cause) ?? (cause instanceof StopError ? cause.message : String(cause));
      const next = "nothing more is sent; restore again when that is solved: what was done is found";
      this.#failure = new StopError(`${this.#path}: the journal cannot be written: ${reason}; ${next}`, { cause });
      throw this.#failure;
    }
  }
}

/** Keeps a journal that ended under another name: `journal.jsonl` becomes `journal-20260301T020000123Z.jsonl`. `time`: ISO 8601. */
export async function setAside(path: string, time: string): Promise<void> {
  const { dir, name, ext } = parse(path);
  const aside = join(dir, `${name}-${time.replace(/[^0-9TZ]/g, "")}${ext}`); // a damaged time must not name another folder
  if (await isThere(aside))
    throw new StopError(`${aside} is there already, where the journal of an earlier restore belongs; move it away`);
  await rename(path, aside);
}

async function bytesOf(path: string): Promise<Buffer> {
  const file = await openFile(path, O_RDONLY).catch(ifAbsent(undefined));
  try {
    return (await file?.readFile()) ?? Buffer.alloc(0);
  } finally {
    await file?.close();
  }
}

/** Opens a file, but no link to one: `refuseLink` has the better message, and the flag refuses a link that came since. */
async function openFile(path: string, flags: number): Promise<FileHandle> {
  await refuseLink(path);
  return openRegular(path, flags | O_NOFOLLOW);
}

/** Opens a file to add lines to it, whose name is on disk, too. */
async function openToAppend(path: string): Promise<FileHandle> {
  const file = await openFile(path, O_WRONLY | O_APPEND | O_CREAT);
  await flush(dirname(path));
  return file;
}

/** `size`: the bytes that were read; `whole`: those of its whole lines. */
async function makeReady(path: string, { size, whole }: { readonly size: number; readonly whole: number }) {
  const file = await openFile(path, O_RDWR).catch(ifAbsent(undefined));
  try {
    const facts = await file?.stat();
    if (facts && facts.nlink > 1)
      throw new StopError(`${path} has other hard links, which would change too; put a copy in its place`);
    if (whole < size && facts?.size === size) await file?.truncate(whole);
  } finally {
    await file?.close();
  }
}

/** Whether a file begins as a journal does: with a sound first line or, where no line is whole, with bytes that may become one. */
function isBeginning(first: string | Buffer, schema: LineSchema): boolean {
  if (typeof first === "string") return valueIf(schema, parsed(first))?.kind === "begun";
  const [torn, begun] = [first.toString(), '{"kind":"begun","run_id":"'];
  return begun.startsWith(torn) || (torn.startsWith(begun) && !/\p{Cc}/u.test(torn));
}

function lineFrom<const Schema extends LineSchema>(text: string, schema: Schema, place: string): v.InferOutput<Schema> {
  const line = check(schema, parsed(text));
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

/** A write that is being sent. One without such a line was not sent. It is noted again if the service asks to send it later. */
export const sentLine = v.object({
  kind: v.literal("sent"),
  number: count,
  time: v.pipe(text, v.isoTimestamp("a time")),
});
