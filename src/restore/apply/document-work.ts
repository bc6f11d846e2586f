import type { KnowledgeApi } from "../../client/knowledge-api.js";
import { pause } from "../../client/paced.js";
import type { Writer } from "../../client/write/writer.js";
import { readChunkPages } from "../../crawl/read-list.js";
import { SkipError } from "../../errors.js";
import type { Log } from "../../log.js";
import type { RawRecord } from "../../rows/row.js";
import type { Intent, Journal } from "./journal.js";
import {
  childHash,
  keywordsHash,
  type Place,
  readAll,
  readChildren,
  type StandingChild,
  standingChunk,
  textsHash,
} from "./row-texts.js";

/** The document that is written, and what is known of it. */
export class DocumentWork {
  readonly options: Required<ApplyOptions>;
  readonly place: Place;
  readonly docForm: string | null;
  /** Why the service takes no writes to this document; null as long as it does. */
  refused: string | null = null;
  /** Why no more chunks are added: the service may still carry out an add whose answer never came. Null if every add was answered. */
  unanswered: string | null = null;
  #equalTexts: Promise<Map<string, string[]>> | undefined;
  readonly #ours = new Set<string>();

  constructor(options: Required<ApplyOptions>, place: Place, docForm: string | null) {
    this.options = options;
    this.place = place;
    this.docForm = docForm;
  }

  /** Ids of the chunks with this hash of their texts. The document is read once for it. */
  async equalTo(hash: string): Promise<readonly string[]> {
    this.#equalTexts ??= readEqualTexts(this.options.api, this.place);
    try {
      return (await this.#equalTexts).get(hash) ?? [];
    } catch (error) {
      this.#equalTexts = undefined; // it may be readable the next time
      throw error;
    }
  }

  /** Whether a row of this restore already uses this chunk. */
  isOurs(id: string): boolean {
    return this.#ours.has(id);
  }

  /** Remembers a chunk that a write made or changed, or that was there already: no other row counts it. */
  async remember(hash: string, id: string): Promise<void> {
    this.#ours.add(id);
    const known = await this.#equalTexts;
    known?.set(hash, [...new Set([...(known.get(hash) ?? []), id])]);
  }
}

/** The outcome of a row. `there`: nothing needed to be sent. `busy`: the service refused changes of it until time was up. */
export type Landed =
  | { readonly kind: "done"; readonly id: string; readonly isIndexed: boolean; readonly error: string }
  | { readonly kind: "there"; readonly id: string }
  | { readonly kind: "changed" | "failed" | "busy"; readonly id: string | null; readonly reason: string };

export type Landing = Waiting<Landed>;

/** Counts of a restore so far; a progress view shows them. */
interface ApplyProgress {
  /** Chunks that the plan changes, or whose children it changes. */
  chunks: number;
  chunksDone: number;
  /** Chunks that wait until the service takes changes of them. */
  waiting: number;
}

export interface ApplyOptions {
  readonly api: KnowledgeApi;
  readonly writer: Writer;
  /** It has begun: the undo is named in it. */
  readonly journal: Journal;
  /** Ends between two requests; then it rejects with the reason. */
  readonly signal: AbortSignal;
  /** Documents that are written at once; 4 by default. */
  readonly concurrency?: number;
  /** Seconds for which a lost answer is looked for; 60 by default. */
  readonly settle?: number;
  /** Seconds for which the service may lock a document while it adds chunks; 600 by default. */
  readonly lockTime?: number;
  readonly log?: Log;
  readonly progress?: ApplyProgress;
  /** Milliseconds since 1970. */
  readonly now?: () => number;
  readonly sleep?: (milliseconds: number, signal: AbortSignal) => Promise<unknown>;
}

/** The options with their defaults. */
export function withDefaults(options: ApplyOptions): Required<ApplyOptions> {
  return {
    concurrency: 4,
    settle: 60,
    lockTime: 600,
    log: () => {},
    progress: { chunks: 0, chunksDone: 0, waiting: 0 },
    now: Date.now,
    ...options,
    sleep: async (milliseconds, signal) => {
      const { sleep = pause } = options;
      await sleep(milliseconds, signal).catch(() => {});
      signal.throwIfAborted();
    },
  };
}

/** A row that a write made or changed. */
export interface FoundRow {
  readonly id: string;
  readonly isIndexed: boolean;
}

/** Looks for the row that shows that a write was done; undefined where there is none. SkipError where the document cannot be read. */
export async function findWrite(api: KnowledgeApi, intent: Intent): Promise<FoundRow | undefined> {
  const place = { datasetId: intent.dataset_id, documentId: intent.document_id };
  try {
    if (intent.level === "child_chunk") return await findChild(api, place, intent);
    return intent.action === "add" ? await findAdded(api, place, intent) : await findChanged(api, place, intent);
  } catch (error) {
    if (error instanceof SkipError && error.status === 404) return undefined;
    throw error;
  }
}

/** Ids of the chunks of a document, by the hash of their texts. */
async function readEqualTexts(api: KnowledgeApi, place: Place): Promise<Map<string, string[]>> {
  const ids = new Map<string, string[]>();
  for (const record of await readAll(() => readChunkPages(api, place), namedHash)) {
    ids.set(record.hash, [...(ids.get(record.hash) ?? []), record.id]);
  }
  return ids;
}

async function findAdded(api: KnowledgeApi, place: Place, { texts_sha256, equal }: Intent) {
  const chunks = await readAll(() => readChunkPages(api, place), foundChunk);
  return chunks.findLast(({ id, hash }) => hash === texts_sha256 && !equal.includes(id));
}

async function findChanged(api: KnowledgeApi, place: Place, intent: Intent): Promise<FoundRow | undefined> {
  const chunk = standingChunk(await api.chunk(place, intent.target_id ?? ""));
  if (intent.action === "disable") return chunk.enabled ? undefined : { id: chunk.id, isIndexed: true };
  const { texts_sha256, keywords_sha256 } = intent;
  const hasKeywords = keywords_sha256 === null || keywordsHash(chunk.keywords) === keywords_sha256;
  const isDone = textsHash(chunk) === texts_sha256 && hasKeywords;
  return isDone ? { id: chunk.id, isIndexed: isIndexed(chunk) } : undefined;
}

async function findChild(api: KnowledgeApi, place: Place, intent: Intent): Promise<FoundRow | undefined> {
  const children = await readChildren(api, place, intent.parent_id ?? "");
  const isRow = ({ id }: StandingChild) =>
    intent.action === "add" ? !intent.equal.includes(id) : id === intent.target_id;
  const child = children.findLast((each) => isRow(each) && childHash(each.content) === intent.texts_sha256);
  return child && { id: child.id, isIndexed: true };
}

/** Whether the service could index a chunk: else it is disabled, and has the status error. */
export function isIndexed({ status, enabled }: { readonly status: string | null; readonly enabled: boolean }): boolean {
  return status !== "error" && enabled;
}

function namedHash(record: RawRecord): { readonly id: string; readonly hash: string } {
  const chunk = standingChunk(record);
  return { id: chunk.id, hash: textsHash(chunk) };
}

function foundChunk(record: RawRecord): FoundRow & { readonly hash: string } {
  const chunk = standingChunk(record);
  return { id: chunk.id, hash: textsHash(chunk), isIndexed: isIndexed(chunk) };
}

/** Work that yields when it must wait, with the time at which to come back to it. */
export type Waiting<T> = AsyncGenerator<number, T, void>;

interface InterleaveOptions {
  readonly signal: AbortSignal;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  readonly sleep: (milliseconds: number, signal: AbortSignal) => Promise<unknown>;
  /** Called with how many wait. */
  readonly onWaiting?: (count: number) => void;
}

/**
 * Does one piece of work after the other, never two at once. One that waits is come back to when all have had their turn, so that
 * their waits overlap. Gives what they come to, in their order.
 */
export async function interleave<T>(
  works: readonly Waiting<T>[],
  { signal, now, sleep, onWaiting = () => {} }: InterleaveOptions,
): Promise<readonly T[]> {
  const results: T[] = [];
  const waiting = new Map<number, number>();
  const goOn = async (index: number, work: Waiting<T> | undefined) => {
    const next = await work?.next();
    waiting.delete(index);
    if (next?.done) results[index] = next.value;
    else if (next) waiting.set(index, next.value);
    onWaiting(waiting.size);
  };
  for (const [index, work] of works.entries()) await goOn(index, work);
  while (waiting.size > 0) {
    const [[index, at] = [0, 0]] = [...waiting].sort(([, one], [, other]) => one - other);
    if (at > now()) await sleep(at - now(), signal);
    await goOn(index, works[index]);
  }
  return results;
}
