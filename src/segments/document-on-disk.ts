import { type FileHandle, open, readFile, rm, truncate } from "node:fs/promises";
import { join } from "node:path";
import * as v from "valibot";
import type { TextFormat } from "../dump/formats/format.js";
import { readJsonFile, writeAside } from "../files/files.js";
import type { SegmentFile } from "../files/join-segments.js";
import type { Kind } from "../rows/columns.js";
import type { Row } from "../rows/row.js";
import { valueIf } from "../schema.js";
import { Segment, type SegmentFacts, type Stored, segmentLocation, segmentName, storedSchema } from "./segment.js";
import type { SharedSegments } from "./shared-segments.js";

/** Rows are written once this many commits or characters are waiting. A kill loses no more than that. */
const commitsWaiting = 8;
const charactersWaiting = 65_536;
/** Maximum characters of rows that wait to be written. If there are more, the crawl waits for the disk. */
const backpressure = 1_048_576;

/**
 * The files of one document in the work folder: its rows in segments, its progress in a journal, and finally its result. After a kill,
 * the last line of the journal says which bytes of the segments are safe. Everything after them is cut off.
 */
export class DocumentOnDisk<State, Result> {
  readonly #segments: DocumentSegments;
  readonly #journalPath: string;
  readonly #folder: string;
  readonly #name: string;
  readonly #asideName: string;
  /** The file for the lines of `keepAside`. It exists only if there are any. */
  readonly asidePath: string;
  #journal: FileHandle | undefined;
  #hasJournal = false;
  #state: State | undefined;
  #commits = 0;
  #writing: Promise<void> | undefined;
  /** Resolves when all pending writes to the segments have ended. */
  #last: Promise<unknown> = Promise.resolve();
  #failure: unknown;

  /** `name` must be unique in the folder. */
  constructor(folder: string, name: string, formats: readonly TextFormat[]) {
    this.#segments = new DocumentSegments(folder, name, formats);
    this.#journalPath = join(folder, `${name}.journal`);
    this.#folder = folder;
    this.#name = name;
    this.#asideName = `${name}.aside`;
    this.asidePath = join(folder, this.#asideName);
  }

  /** The result of an earlier process, if it finished and all its segments exist. */
  async result(schema: v.GenericSchema<unknown, Result>): Promise<Result | undefined> {
    this.#hasJournal = true; // in case an earlier process ended before removing it
    const stored = valueIf(storedSchema(schema), await readJsonFile(resultPath(this.#folder, this.#name)));
    return stored && (await this.#segments.reopen(stored.segments)) ? stored.state : undefined;
  }

  /** Continues where an earlier process stopped, and returns its state; undefined if there is nothing to continue. */
  async resume(schema: v.GenericSchema<unknown, State>): Promise<State | undefined> {
    this.#hasJournal = true; // even if it holds only part of a line
    const text = await readFile(this.#journalPath, "utf8").catch(() => "");
    const end = text.lastIndexOf("\n") + 1; // the rest is an incomplete line
    const line = text.slice(text.lastIndexOf("\n", end - 2) + 1, end);
    const stored = valueIf(v.pipe(v.string(), v.parseJson(), storedSchema(schema)), line);
    if (!stored || !(await this.#segments.reopen(stored.segments))) {
      await this.discard();
      return undefined;
    }
    await truncate(this.#journalPath, Buffer.byteLength(text.slice(0, end)));
    return stored.state;
  }

  /**
   * Adds rows, and the state from which a later process continues after them. Pass undefined if the document cannot be resumed
   * at this point. Rejects with the error of an earlier write. Resolves late if the disk is slow.
   */
  async add(kind: Kind, rows: readonly Row[], state: State | undefined): Promise<void> {
    if (this.#failure !== undefined) throw this.#failure;
    this.#segments.add(kind, rows);
    this.#state = state;
    this.#commits++;
    if (this.#isDue()) this.#writing ??= this.#afterPending(() => this.#writeDue());
    if (this.#segments.waiting > backpressure) await this.#writing;
  }

  /** Whether `keepAside` has kept lines for this document. */
  get hasAside(): boolean {
    return this.#segments.has(this.#asideName);
  }

  /** Stores lines in a separate file until the document is finished. They are written before the rows that are added next. */
  keepAside(lines: readonly string[]): void {
    if (lines.length > 0) this.#segments.addTexts(this.#asideName, lines);
  }

  /** Writes everything that was added. Concurrent calls run one after the other. */
  flush(): Promise<readonly SegmentFacts[]> {
    return this.#afterPending(async () => {
      if (this.#failure !== undefined) throw this.#failure;
      return this.#segments.flush();
    });
  }

  /**
   * Writes the remaining rows, then the result, which replaces the journal. If nothing was written yet and `shared` is given,
   * everything goes to `shared`. Returns the files of the rows.
   */
  async finish(result: Result, shared?: SharedSegments<Result>): Promise<readonly SegmentFile[]> {
    await this.#last;
    if (this.#failure !== undefined) throw this.#failure;
    const texts = shared && !this.#hasJournal ? this.#segments.takeTexts() : undefined;
    if (!shared || !texts) return this.#finishAlone(result);
    const rows = [...texts].filter(([file]) => file !== this.#asideName);
    return shared.add({ name: this.#name, state: result, texts: new Map(rows) });
  }

  async #finishAlone(result: Result): Promise<readonly SegmentFile[]> {
    const segments = await this.flush();
    const stored: Stored<Result> = { state: result, segments: segments.filter(({ file }) => file !== this.#asideName) };
    await this.#close();
    await writeResult(this.#folder, this.#name, stored);
    await this.#removeJournal();
    await this.#segments.remove(this.#asideName);
    return this.files;
  }

  /** The files written so far. */
  get files(): readonly SegmentFile[] {
    return this.#segments.files;
  }

  /** Closes the files and keeps them for a later process. */
  async leave(): Promise<void> {
    await this.#last;
    await this.#close();
  }

  /** Removes all files of the document. With `begin`, writes that state, from which any process starts the document over. */
  async discard(begin?: State): Promise<void> {
    await this.leave();
    if (begin !== undefined) await this.#note({ state: begin, segments: [] });
    await this.#segments.discard();
    await rm(resultPath(this.#folder, this.#name), { force: true });
    this.#hasJournal = true;
    if (begin === undefined) await this.#removeJournal();
  }

  async #removeJournal(): Promise<void> {
    if (this.#hasJournal) await rm(this.#journalPath, { force: true });
    this.#hasJournal = false;
  }

  #isDue(): boolean {
    return this.#commits >= commitsWaiting || this.#segments.waiting >= charactersWaiting;
  }

  /** Runs work on the segments after all earlier work, because a segment has one writer at a time. */
  #afterPending<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#last.then(work);
    this.#last = done.catch(() => {});
    return done;
  }

  /** Writes everything that is waiting, including rows that arrive meanwhile. */
  async #writeDue(): Promise<void> {
    try {
      while (this.#isDue()) {
        const state = this.#state;
        this.#commits = 0;
        const segments: readonly SegmentFacts[] = await this.#segments.flush();
        if (state !== undefined) await this.#note({ state, segments });
      }
    } catch (error) {
      this.#failure = error;
    }
    this.#writing = undefined;
  }

  async #note(stored: Stored<State>): Promise<void> {
    this.#hasJournal = true;
    this.#journal ??= await open(this.#journalPath, "a", 0o600);
    await this.#journal.writeFile(`${JSON.stringify(stored)}\n`);
  }

  async #close(): Promise<void> {
    await this.#segments.close();
    await this.#journal?.close();
    this.#journal = undefined;
  }
}

const resultPath = (folder: string, name: string) => join(folder, `${name}.result.json`);

/** Writes the result of a document with complete segments. A later process checks them, then uses the result. */
export async function writeResult<Result>(folder: string, name: string, stored: Stored<Result>): Promise<void> {
  await writeAside(resultPath(folder, name), JSON.stringify(stored), { isFlushed: false }); // checked when it is read
}

/** The segments of one document, in every text format. A file is created with its first rows. */
export class DocumentSegments {
  readonly #folder: string;
  readonly #name: string;
  readonly #formats: readonly TextFormat[];
  readonly #segments = new Map<string, Segment>();

  /** `name` must be unique in the folder. */
  constructor(folder: string, name: string, formats: readonly TextFormat[]) {
    this.#folder = folder;
    this.#name = name;
    this.#formats = formats;
  }

  /**
   * Continues where an earlier process stopped, and cuts the files to the sizes in `facts`. Returns false if the files do not match
   * the facts, for example after a power cut; then the document must be read again.
   */
  async reopen(facts: readonly SegmentFacts[]): Promise<boolean> {
    for (const fact of facts) {
      const segment = new Segment(join(this.#folder, fact.file));
      this.#segments.set(fact.file, segment);
      if (!(await segment.reopen(fact))) return false;
    }
    return true;
  }

  /** Queues rows; `flush` writes them. */
  add(kind: Kind, rows: readonly Row[]): void {
    if (rows.length === 0) return;
    for (const text of this.#formats) this.addTexts(segmentName(this.#name, kind, text.format), text.texts(kind, rows));
  }

  /** Queues texts for the segment with this name. */
  addTexts(file: string, texts: readonly string[]): void {
    const segment = this.#segments.get(file) ?? new Segment(join(this.#folder, file));
    this.#segments.set(file, segment);
    segment.add(texts);
  }

  /** Whether a file with this name was written. */
  has(file: string): boolean {
    return this.#segments.has(file);
  }

  /** Characters that wait to be written. */
  get waiting(): number {
    let sum = 0;
    for (const segment of this.#segments.values()) sum += segment.waiting;
    return sum;
  }

  /** Returns all queued texts by file and clears the queue, if none was written yet; otherwise undefined. */
  takeTexts(): ReadonlyMap<string, readonly string[]> | undefined {
    const segments = [...this.#segments];
    if (segments.some(([, segment]) => segment.isWritten)) return undefined;
    return new Map(segments.map(([file, segment]) => [file, segment.takeTexts()]));
  }

  /** Writes everything added so far, and returns the facts of the files. */
  async flush(): Promise<readonly SegmentFacts[]> {
    const writes = [...this.#segments].map(async ([file, segment]) => {
      const { bytes, sha256 } = await segment.flush();
      return { file, bytes, sha256 };
    });
    return Promise.all(writes);
  }

  /** The files written so far. Each has rows. */
  get files(): readonly SegmentFile[] {
    return [...this.#segments].map(([file, segment]) => ({ ...segmentLocation(this.#folder, file), ...segment.facts }));
  }

  async close(): Promise<void> {
    for (const segment of this.#segments.values()) await segment.close();
  }

  /** Removes the file with this name, if it exists. */
  async remove(file: string): Promise<void> {
    const segment = this.#segments.get(file);
    if (!segment) return;
    await segment.close();
    this.#segments.delete(file);
    await rm(join(this.#folder, file), { force: true });
  }

  /** Removes all files of the segments. */
  async discard(): Promise<void> {
    await this.close();
    for (const file of this.#segments.keys()) await rm(join(this.#folder, file), { force: true });
    this.#segments.clear();
  }
}
