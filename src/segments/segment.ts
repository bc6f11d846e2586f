import { createReadStream } from "node:fs";
import { type FileHandle, open, readdir, rm, truncate } from "node:fs/promises";
import { join } from "node:path";
import type * as v from "valibot";
import { ByteFacts, type FileFacts } from "../files/byte-facts.js";
import type { SegmentLocation } from "../files/join-segments.js";
import { LineEncoder } from "../files/lines.js";
import { isKind, type Kind } from "../rows/columns.js";
import { count, listOf, object, pattern, text } from "../schema.js";

export const factEntries = {
  /** The name of the file. It has no folder, so that nothing in the work folder can point outside of it. */
  file: pattern("the name of a file", /^[\w.]+$/),
  bytes: count,
  sha256: text,
} as const;

const factsSchema = object(factEntries);

/** The facts of a segment. */
export type SegmentFacts = Readonly<v.InferOutput<typeof factsSchema>>;

/** Bytes after which a segment is synced to disk during the crawl, so that little is left to sync at the end. */
const syncEvery = 8_388_608;

/** An append-only file of rows, with the facts of its content. */
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

  /** Characters waiting to be written. */
  get waiting(): number {
    return this.#waiting;
  }

  /** The facts of the bytes written so far. */
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

  /** Whether the file of the segment may exist. */
  get isWritten(): boolean {
    return this.#isWritten;
  }

  /** Removes and returns all texts that are not yet written. */
  takeTexts(): readonly string[] {
    const texts = this.#texts;
    this.#texts = [];
    this.#waiting = 0;
    return texts;
  }

  /**
   * Writes all texts added before the call. Do not call it concurrently: the next call encodes into the buffer that this one writes
   * from.
   */
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

  /** Reopens an earlier file, cut to the bytes in `facts`. Returns false if the bytes do not match. */
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

  /** The counts of the content. Created on first use, because most small documents have no files of their own. */
  get #counts(): ByteFacts {
    this.#counted ??= new ByteFacts();
    return this.#counted;
  }

  #count(bytes: Uint8Array): void {
    this.#counts.add(bytes);
    this.#facts = undefined;
  }

  /**
   * Opens the file. Replaces an existing one unless this process continues it, because it may be hard-linked to a published
   * run.
   */
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
    await this.#syncing; // rejects with the error of the disk
    this.#syncing = file.datasync();
    this.#syncing.catch(() => {}); // awaited at the next sync, or when the segment is closed
  }
}

/** The state of a document, and the facts of its segments at that time, as stored on disk. */
export interface Stored<State> {
  readonly state: State;
  readonly segments: readonly SegmentFacts[];
}

/** The schema of a stored state. */
export function storedSchema<State>(state: v.GenericSchema<unknown, State>) {
  return object({ state, segments: listOf(factsSchema) });
}

/** The path of a segment: the rows of one kind and one document in one text format. */
export function segmentPath(folder: string, name: string, kind: Kind, format: string): string {
  return join(folder, segmentName(name, kind, format));
}

export const segmentName = (name: string, kind: Kind, format: string) => `${name}.${kind}.${format}`;

/** The location of a segment, and its kind and format, from its name. */
export function segmentLocation(folder: string, file: string): SegmentLocation {
  const [kind = "", format = ""] = file.split(".").slice(-2);
  if (!isKind(kind)) throw new Error(`${file} is not the name of a segment`);
  return { kind, format, path: join(folder, file) };
}

/** The names of the documents that have their own files in a folder. */
export async function namesIn(folder: string): Promise<ReadonlySet<string>> {
  return new Set((await readdir(folder)).map((file) => file.slice(0, file.indexOf("."))));
}

/** A range of bytes in a file, from `start` to `end` (inclusive); default: all bytes. */
interface Range {
  readonly start?: number;
  readonly end?: number;
}

/** Yields the lines of a JSONL file without their line feeds. Only a line feed ends a line, because texts may include U+2028. */
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
