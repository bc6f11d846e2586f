import { constants } from "node:fs";
import type { FileHandle } from "node:fs/promises";
import { dirname } from "node:path";
import { crc32 } from "node:zlib";
import { StopError } from "../errors.js";
import { fileErrorText } from "../file-error.js";
import { ifAbsent, openRegular, refuseLink, writeAside } from "../files/files.js";
import { flush } from "../files/flush.js";
import { check, valueIf } from "../schema.js";
import { type JournalLine, lineSchema } from "./journal-schema.js";

const { O_RDONLY, O_RDWR, O_WRONLY, O_APPEND, O_CREAT, O_NOFOLLOW } = constants;

/** Rejects if another process has taken over. A process that was frozen learns of it only from this check. */
export type CheckOwn = () => Promise<void>;

/**
 * Reads a journal and checks each line against its checksum and the schema. Without a file, there are no lines. Ignores an incomplete
 * last line: nothing was sent before it was complete. Throws StopError, which names the line, if one is damaged, missing or
 * misplaced; also if the path is a link or not a journal, because a run from someone else may have anything there. Changes nothing.
 * The returned `open` cuts off an incomplete last line, and returns the file to append to.
 */
export async function readJournal(path: string) {
  const bytes = await bytesOf(path);
  const whole = bytes.lastIndexOf("\n") + 1;
  const texts = bytes.toString("utf8", 0, whole).split("\n").slice(0, -1);
  if (!isBeginning(texts[0] ?? bytes))
    throw new StopError(
      `${path} is not a kbdump journal, or is damaged. It was not changed. Compare the documents by hand, then move it away`,
    );
  let sum = 0;
  const lines = texts.map((text, at) => {
    const place = `${path} is damaged in line ${at + 1}`;
    const body = bodyOf(text, sum);
    if (body === undefined)
      throw new StopError(`${place}: its checksum is wrong, or lines before it are missing; ${byHand}`);
    sum = crc32(body, sum);
    return lineFrom(body, place);
  });
  const open = async (checkOwn: CheckOwn): Promise<JournalFile> => {
    await cutTorn(path, { bytes, whole, isEnded: lines.at(-1)?.kind === "end" });
    return new JournalFile(path, { checkOwn, sum });
  };
  return { lines, open };
}

const byHand = "compare the documents by hand, then move it away";

/** The JSON of a line without its checksum; undefined if the line does not follow lines with this checksum. */
function bodyOf(line: string, sum: number): string | undefined {
  const [, start, crc] = /^(.*),"crc":"([0-9a-f]{8})"\}$/s.exec(line) ?? [];
  const body = `${start}}`;
  return crc === sumText(crc32(body, sum)) ? body : undefined;
}

function sumText(sum: number): string {
  return sum.toString(16).padStart(8, "0");
}

/**
 * A growing file of JSON lines: every line is on disk before the next one is written. The first line creates it. The last member of
 * a line, `crc`, is the CRC-32 of all lines up to this one, each without its own `crc` and line break.
 */
export class JournalFile {
  readonly #path: string;
  readonly #checkOwn: CheckOwn;
  #file: FileHandle | undefined;
  #writing: Promise<unknown> = Promise.resolve();
  #sum: number;
  /** The first disk failure. After it, no line is written: a line after an incomplete one would make the whole file unreadable. */
  #failure: StopError | undefined;

  /** `sum`: the checksum of the existing lines. */
  constructor(path: string, { checkOwn, sum = 0 }: { readonly checkOwn: CheckOwn; readonly sum?: number }) {
    this.#path = path;
    this.#checkOwn = checkOwn;
    this.#sum = sum;
  }

  /** Adds a line, in the order of the calls. It is on disk when this resolves. After a disk failure, every call rejects with StopError. */
  append(line: object): Promise<void> {
    const added = this.#writing.then(() => this.#add(JSON.stringify(line)));
    this.#writing = added.catch(() => {});
    return added;
  }

  /** Waits for pending lines. */
  async close(): Promise<void> {
    await this.#writing;
    await this.#file?.close();
    this.#file = undefined;
  }

  async #add(body: string): Promise<void> {
    await this.#checkOwn();
    if (this.#failure) throw this.#failure;
    try {
      this.#file ??= await openToAppend(this.#path);
      const sum = crc32(body, this.#sum);
      await this.#file.appendFile(`${body.slice(0, -1)},"crc":"${sumText(sum)}"}\n`);
      await this.#file.datasync();
      this.#sum = sum;
    } catch (cause) {
      const reason = fileErrorText(cause) ?? (cause instanceof StopError ? cause.message : String(cause));
      const next = "nothing more is sent; restore again once that is solved: kbdump finds what was done";
      this.#failure = new StopError(`${this.#path}: the journal cannot be written: ${reason}; ${next}`, { cause });
      throw this.#failure;
    }
  }
}

async function bytesOf(path: string): Promise<Buffer> {
  await using file = await openFile(path, O_RDONLY).catch(ifAbsent(undefined));
  return (await file?.readFile()) ?? Buffer.alloc(0);
}

/** Opens a file that is not a link: `refuseLink` has the better message, and the flag refuses a link created after that check. */
async function openFile(path: string, flags: number): Promise<FileHandle> {
  await refuseLink(path);
  return openRegular(path, flags | O_NOFOLLOW);
}

/** Opens a file to append to, and flushes its directory entry. */
async function openToAppend(path: string): Promise<FileHandle> {
  const file = await openFile(path, O_WRONLY | O_APPEND | O_CREAT);
  await flush(dirname(path));
  return file;
}

interface ReadBytes {
  /** All that was read, and the length of its complete lines. */
  readonly bytes: Buffer;
  readonly whole: number;
  /** Whether the last restore in it has ended. */
  readonly isEnded: boolean;
}

/**
 * Cuts off an incomplete last line. A file with other hard links, as copies that save space have, is replaced by a copy of its own if
 * its restore has ended. Otherwise, it is refused.
 */
async function cutTorn(path: string, { bytes, whole, isEnded }: ReadBytes): Promise<void> {
  await using file = await openFile(path, O_RDWR).catch(ifAbsent(undefined));
  const facts = await file?.stat();
  const isLinked = facts !== undefined && facts.nlink > 1;
  if (isLinked && !isEnded)
    throw new StopError(`${path} has other hard links, which would change too; put a copy in its place`);
  if (facts?.size !== bytes.length) return; // another process added lines
  if (isLinked) await writeAside(path, bytes.subarray(0, whole));
  else if (whole < bytes.length) await file?.truncate(whole);
}

/** Whether a file begins like a journal: with a valid first line or, without a complete line, with bytes that may become one. */
function isBeginning(first: string | Buffer): boolean {
  if (typeof first === "string") return valueIf(lineSchema, parsed(bodyOf(first, 0) ?? ""))?.kind === "begun";
  const [torn, begun] = [first.toString(), '{"kind":"begun","run_id":"'];
  return begun.startsWith(torn) || (torn.startsWith(begun) && !/\p{Cc}/u.test(torn));
}

function lineFrom(text: string, place: string): JournalLine {
  const line = check(lineSchema, parsed(text));
  if (!line.problems) return line.value;
  const [{ path, message } = { path: "", message: "" }] = line.problems;
  throw new StopError(`${place}: ${[path, message].filter(Boolean).join(": ")}; ${byHand}`);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
