import type { SendHooks } from "../../../client/write/write-operations.js";
import { newChunk } from "../../../restore/apply/chunk-bodies.js";
import { haveSameTexts } from "../../../restore/apply/row-texts.js";
import type { ChunkRow } from "../../../restore/document-rows.js";
import type { DocumentCopy } from "./document-copy.js";
import { readTail } from "./read-copy.js";

/** A chunk as the service stored it. */
export interface StoredChunk {
  readonly id: string;
  readonly status: string | null;
  readonly enabled: boolean;
  /** The service's own words on why it could not index the chunk; empty where they are not known. */
  readonly error: string;
}

/**
 * The outcome of a request that adds chunks. `limited`: the service takes so many in one request. `faulty`: it refused one of them.
 * `lost`: there was no answer, and nothing was added; the size of requests has shrunk. `unsent`: it did not get through. `reason` is
 * a sentence.
 */
export type Added =
  | { readonly kind: "added"; readonly chunks: readonly StoredChunk[] }
  | { readonly kind: "limited"; readonly most: number }
  | { readonly kind: "faulty" | "lost"; readonly reason: string }
  | { readonly kind: "unsent"; readonly reason: string };

/** Refusals for something that the chunks say. */
const badTexts: readonly number[] = [400, 413, 422];

/** Adds chunks behind the last one. `first`: the number of the first. SkipError where no request will do. */
export async function addRequest(copy: DocumentCopy, first: number, rows: readonly ChunkRow[]): Promise<Added> {
  const { options, place, plan } = copy.work;
  const { batchSize, writer } = options;
  let found: readonly StoredChunk[] = [];
  const find = async () => {
    found = await findAdded(copy, rows);
    return found.length > 0 ? { ids: found.map(({ id }) => id) } : undefined;
  };
  const write = writer.addChunks(
    place,
    rows.map((row) => newChunk(row, plan.doc_form)),
  );
  let took = 0;
  const onAnswer = (milliseconds: number) => {
    took = milliseconds;
  };
  const timed = { ...write, send: (hooks?: SendHooks) => write.send({ ...hooks, onAnswer }) };
  const carried = await copy.carry({ write: "add chunks", first, rows: rows.length }, timed, find, 1);
  if (carried.wasLost) batchSize.lost(rows.length);
  if (carried.kind === "done") {
    if (!carried.wasLost) batchSize.answered(rows.length, took);
    return { kind: "added", chunks: carried.value ?? found };
  }
  const { reason } = carried;
  if (carried.kind === "not done") return carried.wasLost ? { kind: "lost", reason } : { kind: "unsent", reason };
  const most = limitIn(carried.message);
  if (most !== undefined && most < rows.length) return { kind: "limited", most };
  if (badTexts.includes(carried.status)) return { kind: "faulty", reason };
  throw copy.astray(reason);
}

/**
 * Looks for the chunks of a request behind the copies that are there; none where not all of them are there: it is stored as a whole. Those
 * before the last copy came late of an earlier request: taken for these, they would stand in the wrong place.
 */
async function findAdded(copy: DocumentCopy, rows: readonly ChunkRow[]): Promise<readonly StoredChunk[]> {
  const all = await readTail(copy.work, copy.ids.size);
  const tail = all.slice(all.findLastIndex(({ id }) => copy.ids.has(id)) + 1);
  const isRun = (at: number) =>
    rows.every((row, each) => {
      const chunk = tail[at + each];
      return chunk !== undefined && haveSameTexts(row, chunk);
    });
  const start = tail.findIndex((_, at) => isRun(at));
  return start < 0 ? [] : tail.slice(start, start + rows.length).map((chunk) => ({ ...chunk, error: "" }));
}

/** The service's own words: it has no code for this refusal. */
function limitIn(message: string): number | undefined {
  const [, most] = /^exceeded maximum segments limit of (\d+)/i.exec(message) ?? [];
  return most === undefined || Number(most) < 1 ? undefined : Number(most);
}
