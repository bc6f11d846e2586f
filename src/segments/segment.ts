import { createReadStream } from "node:fs";
import { type FileHandle, open, readdir, rm, truncate } from "node:fs/promises";
import { join } from "node:path";
import type * as v from "valibot";
import { ByteFacts, type FileFacts } from "../files/byte-facts.js";
import type { SegmentLocation } from "../files/join-segments.js";
import { LineEncoder } from "../files/lines.js";
import { isKind, type Kind } from "../rows/columns.js";
import { count, listOf, object, pattern, text } from "../schema.js";

/** The facts of a part as far as it is written. */
export interface SegmentFacts {
  /** Name in the folder of the parts. */
  readonly file: string;
  readonly bytes: number;
  readonly sha256: string;
}

/** Bytes after which a part is brought down to the disk while the crawl goes on, so that little is left to do at its end. */
const syncEvery = 8_388_608;

/** One file of rows that grows at its end and knows what is in it. */
export class Segment {
  readonly #path: string;
  #counted: ByteFacts | undefined;
  #encoder: LineEncoder | undefined;
  #facts: FileFacts | undefined;
  #isWritten = false;
  #continued = false;
  #file: FileHandle | undefined;
  #unsynced = 0;
  #syncing: Promise<void> | undefined;
  #texts: string[] = [];
  #waiting = 0;

  constructor(path: string) {
    this.#path = path;
  }

  /** Characters that wait to be written. */
  get waiting(): number {
    return this.#waiting;
  }

  /** The facts of the bytes that were written. */
  get facts(): FileFacts {
    this.#facts ??= this.#counts.facts;
    return this.#facts;
  }

  add(texts: readonly string[]): void {
    for (const text of texts) {
      this.#texts.push(text);
      this.#waiting += text.length;
    }
  }

  /** Whether a file of it may be there. */
  get isWritten(): boolean {
    return this.#isWritten;
  }

  /** Takes back what was added and is not written yet. */
  takeTexts(): readonly string[] {
    const texts = this.#texts;
    this.#texts = [];
    this.#waiting = 0;
    return texts;
  }

  /** Writes what was added before the call. One call at a time: the next one encodes into the memory that this one writes from. */
  async flush(): Promise<FileFacts> {
    if (this.#texts.length === 0) return this.facts;
    this.#encoder ??= new LineEncoder();
    const bytes = this.#encoder.encode(this.takeTexts());
    this.#isWritten = true;
    this.#count(bytes);
    const { facts } = this;
    this.#file ??= await this.#open();
    await this.#file.writeFile(bytes);
    await this.#syncSometimes(this.#file, bytes.length);
    return facts;
  }

  /** Takes a file as it was left, cut to the bytes of `facts`; false when these are not there. */
  async reopen({ bytes, sha256 }: SegmentFacts): Promise<boolean> {
    this.#isWritten = true;
    try {
      if (bytes > 0) for await (const piece of createReadStream(this.#path, { end: bytes - 1 })) this.#count(piece);
      if (this.facts.sha256 !== sha256) return false;
      if (bytes > 0) await truncate(this.#path, bytes);
      this.#continued = bytes > 0;
      return true;
    } catch {
      return false;
    }
  }

  async close(): Promise<void> {
    const file = this.#file;
    this.#file = undefined;
    this.takeTexts();
    await this.#syncing;
    await file?.close();
  }

  /** Made late: most small documents do without files of their own. */
  get #counts(): ByteFacts {
    this.#counted ??= new ByteFacts();
    return this.#counted;
  }

  #count(bytes: Uint8Array): void {
    this.#counts.add(bytes);
    this.#facts = undefined;
  }

  /** A new file: what lies there may have a second name in a published run. */
  async #open(): Promise<FileHandle> {
    if (this.#continued) return open(this.#path, "a");
    const again = () => open(this.#path, "wx", 0o600);
    return again().catch(async (error: NodeJS.ErrnoException) => {
      if (error.code !== "EEXIST") throw error;
      await rm(this.#path);
      return again();
    });
  }

  async #syncSometimes(file: FileHandle, written: number): Promise<void> {
    this.#unsynced += written;
    if (this.#unsynced < syncEvery) return;
    this.#unsynced = 0;
    await this.#syncing; // rejects with what the disk reported
    this.#syncing = file.datasync();
    this.#syncing.catch(() => {}); // seen at the next one, or when the part is closed
  }
}

/** One document as it lies on the disk: its state, and its parts as they were then. */
export interface Stored<State> {
  readonly state: State;
  readonly segments: readonly SegmentFacts[];
}

/** A name without a folder in it: what lies in the work folder must not lead out of it. */
export const fileName = pattern("the name of a file", /^[\w.]+$/);

/** A stored state with its parts. */
export function storedSchema<State>(state: v.GenericSchema<unknown, State>) {
  return object({ state, segments: listOf(object({ file: fileName, bytes: count, sha256: text })) });
}

/** The path of one part: the rows of one kind, of one document, in one text format. */
export function segmentPath(folder: string, name: string, kind: Kind, format: string): string {
  return join(folder, segmentName(name, kind, format));
}

export const segmentName = (name: string, kind: Kind, format: string) => `${name}.${kind}.${format}`;

/** The place of a part, and its rows, as its name says. */
export function segmentLocation(folder: string, file: string): SegmentLocation {
  const [kind = "", format = ""] = file.split(".").slice(-2);
  if (!isKind(kind)) throw new Error(`${file} is the part of no kind`);
  return { kind, format, path: join(folder, file) };
}

/** The names of the documents that have files of their own in a folder. */
export async function namesIn(folder: string): Promise<ReadonlySet<string>> {
  return new Set((await readdir(folder)).map((file) => file.slice(0, file.indexOf("."))));
}

/** Bytes of a file, from `start` to `end`, which is one of them; all of them where nothing else is said. */
interface Range {
  readonly start?: number;
  readonly end?: number;
}

/** The lines of a JSONL file, without their line feeds. Nothing but a line feed ends a line: U+2028 may stand in a text. */
export async function* readLines(path: string, range: Range = {}): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const piece of createReadStream(path, range)) {
    const lines = (rest + decoder.decode(piece, { stream: true })).split("\n");
    rest = lines.pop() ?? "";
    yield* lines;
  }
  if (rest) yield rest;
}
