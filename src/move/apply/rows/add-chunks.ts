import { SkipError } from "../../../errors.js";
import type { ChunkRow } from "../../../restore/document-rows.js";
import { countOf } from "../../../words.js";
import { type Added, addRequest, type StoredChunk } from "./add-request.js";
import { deleteChunk } from "./delete-chunk.js";
import type { ChunkCopy, DocumentCopy } from "./document-copy.js";
import { FaultSearch } from "./fault-search.js";
import { nextChunks } from "./next-chunks.js";

/** Chunks in a row that may fail before the document is given up: then it is not their texts. */
const mostFailures = 10;
/** Requests in a row that do not get through, and the wait after the first, in milliseconds; it doubles. */
const mostUnsent = 6;
const firstWait = 1_000;
/** The wait before a request that failed alone is sent again. */
const betweenTries = 2_000;

/**
 * Adds the chunks from number `next` on, in order, and gives those of each request when they are there. Chunks that fail are noted as such,
 * and the others go on. SkipError where the document is given up.
 */
export async function* addChunks(copy: DocumentCopy, from: number): AsyncGenerator<readonly ChunkCopy[]> {
  const { options } = copy.work;
  const search = new FaultSearch();
  let failures = 0;
  for (let next = from; next < copy.planned.length; ) {
    const rows = nextChunks(copy.planned, next, Math.min(options.batchSize.size, search.most(next)));
    const added = await addGettingThrough(copy, next, rows);
    if (added.kind === "limited") {
      options.batchSize.keepTo(added.most);
      continue;
    }
    if (added.kind === "lost" && rows.length > 1) continue; // the next request is smaller
    const kept = added.kind === "added" ? await keepIndexed(copy, rows, added.chunks) : [];
    if (kept.length > 0) {
      next += kept.length;
      failures = 0;
      search.added();
      yield kept;
    }
    const left = rows.slice(kept.length);
    const [faulty] = left;
    if (!faulty) continue;
    const { mayPass, reason } = faultOf(added, kept.length);
    const step = search.failed(next, left.length, mayPass);
    if (step === "again") await options.sleep(betweenTries, options.signal);
    if (step !== "give up") continue;
    copy.fail("chunk", faulty, reason);
    next++;
    if (++failures < mostFailures) continue;
    throw new SkipError(
      `${countOf(failures, "chunk")} in a row failed, so the others were not sent; the last one: ${reason}`,
    );
  }
}

/** A request that got through. */
type Seen = Exclude<Added, { readonly kind: "unsent" }>;

/** Sends a request until the service sees it. */
async function addGettingThrough(copy: DocumentCopy, first: number, rows: readonly ChunkRow[]): Promise<Seen> {
  const { sleep, signal } = copy.work.options;
  for (let tries = 1; ; tries++) {
    const added = await addRequest(copy, first, rows);
    if (added.kind !== "unsent") return added;
    if (tries === mostUnsent) throw new SkipError(`the service takes no requests: ${added.reason}`);
    await sleep(firstWait * 2 ** (tries - 1), signal);
  }
}

/** Keeps the chunks before the first that could not be indexed, and deletes the others, from the last on: they come again, in order. */
async function keepIndexed(
  copy: DocumentCopy,
  rows: readonly ChunkRow[],
  chunks: readonly StoredChunk[],
): Promise<readonly ChunkCopy[]> {
  for (const { id } of chunks) copy.ids.add(id);
  const faulty = chunks.findIndex(({ status }) => status === "error");
  const good = faulty < 0 ? chunks : chunks.slice(0, faulty);
  for (let at = chunks.length - 1; at >= good.length; at--) {
    const [chunk, row] = [chunks[at], rows[at]];
    if (chunk && row) await deleteChunk(copy, chunk.id, row.id);
  }
  return good.flatMap(({ id, enabled }, at) => {
    const row = rows[at];
    return row ? [{ row, id, enabled, attachment_ids: [] }] : [];
  });
}

/** The fault of the chunk behind those that were kept; `mayPass`: it may be none another time. */
function faultOf(added: Exclude<Seen, { readonly kind: "limited" }>, kept: number) {
  if (added.kind !== "added") return { mayPass: added.kind === "lost", reason: added.reason };
  const { error = "" } = added.chunks[kept] ?? {};
  return { mayPass: true, reason: `the service stored it and could not index it${error === "" ? "" : `: ${error}`}` };
}
