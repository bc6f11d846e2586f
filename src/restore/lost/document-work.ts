import type { KnowledgeApi, Place } from "../../client/knowledge-api.js";
import { textsHash } from "../../compare/document-rows.js";
import { SkipError } from "../../errors.js";
import type { Intent } from "../../journal/journal-schema.js";
import type { WrittenRow } from "../../journal/journal-state.js";
import { plannedWrite } from "../reconcile.js";
import { type RowPlace, type RowWrite, updateChunk } from "../row-writes.js";
import { isIndexed, readHashes, type StandingChunk, standingChunk } from "../target-rows.js";
import { mayCome, mayMakeTwo, type Waiting, type WriteOptions, writeOnce } from "../write-once.js";

export class DocumentWork implements RowPlace {
  readonly options: WriteOptions;
  readonly writer: WriteOptions["writer"];
  readonly place: Place;
  readonly docForm: string | null;
  /** Why the service accepts no writes to this document; null while it does. */
  refused: string | null = null;
  #equalTexts: Promise<Map<string, string[]>> | undefined;
  readonly #ours = new Set<string>();

  constructor(options: WriteOptions, place: Place, docForm: string | null) {
    this.options = options;
    this.writer = options.writer;
    this.place = place;
    this.docForm = docForm;
  }

  async read(chunkId: string): Promise<StandingChunk> {
    return standingChunk(await this.options.api.chunk(this.place, chunkId));
  }

  /** Ids of the chunks whose texts have this hash. Reads the document once. */
  async equalTo(hash: string): Promise<readonly string[]> {
    this.#equalTexts ??= readEqualTexts(this.options.api, this.place);
    try {
      return (await this.#equalTexts).get(hash) ?? [];
    } catch (error) {
      this.#equalTexts = undefined; // the next read may succeed
      throw error;
    }
  }

  /** Whether a row of this restore already uses this chunk. */
  isOurs(id: string): boolean {
    return this.#ours.has(id);
  }

  /** Remembers a chunk that a write made or changed, or that already existed, so that no other row uses it. */
  async remember(hash: string, id: string): Promise<void> {
    this.#ours.add(id);
    const known = await this.#equalTexts;
    known?.set(hash, [...new Set([...(known.get(hash) ?? []), id])]);
  }
}

/** The outcome of a row. `there`: nothing needed to be sent. */
export type Landed =
  | { readonly kind: "written"; readonly id: string; readonly isIndexed: boolean; readonly error: string }
  | { readonly kind: "there"; readonly id: string }
  | { readonly kind: "changed meanwhile" | "failed"; readonly id: string | null; readonly reason: string };

export type Landing = Waiting<Landed>;

/** Why a row is not written. */
export type Undecided = Exclude<Landed, { readonly kind: "written" }>;

/** Reads the row right before the write; returns the write, or why there is none. */
export type Prepare = () => Promise<RowWrite | Undecided>;

/** Writes one row. Rejects with StopError if the key is refused, and with the reason of the signal. */
export async function* writeRow(work: DocumentWork, prepare: Prepare): Landing {
  const ended = yield* writeOnce(work.options, () => decide(work, prepare));
  if (!("wasLost" in ended)) return ended;
  if (ended.kind === "done") {
    const { ids, isIndexed, value } = ended;
    return { kind: "written", id: ids[0] ?? "", isIndexed: isIndexed !== false, error: value?.error ?? "" };
  }
  if (ended.kind === "refused" && ended.meaning === "document")
    work.refused = `the service accepts no writes to this document: ${ended.reason}`;
  return { kind: "failed", id: null, reason: ended.reason };
}

async function decide(work: DocumentWork, prepare: Prepare) {
  const failed = (reason: string) => ({ kind: "failed", id: null, reason }) as const;
  const { datasetId: dataset_id, documentId: document_id } = work.place;
  if (work.refused !== null) return failed(work.refused);
  try {
    const ready = await prepare();
    if (!("request" in ready)) return ready;
    const { facts, request } = ready;
    const isSamePlace = (open: Intent) =>
      mayMakeTwo(open) && open.document_id === document_id && open.parent_id === (facts.parent_id ?? null);
    const unanswered = mayMakeTwo(facts) && work.options.journal.open.find(isSamePlace);
    if (unanswered) return failed(mayCome(unanswered, work.options));
    return plannedWrite({ dataset_id, document_id, ...facts }, request, work.place, work.options);
  } catch (error) {
    if (!(error instanceof SkipError)) throw error;
    if (error.status !== 404) return failed(error.message);
    const reason = `the service does not find it any more: ${error.message}`;
    return { kind: "changed meanwhile", id: null, reason } as const;
  }
}

/** Ids of the chunks of a document, by the hash of their texts. */
async function readEqualTexts(api: KnowledgeApi, place: Place): Promise<Map<string, string[]>> {
  const ids = new Map<string, string[]>();
  for (const { hash, id } of await readHashes(api, place)) ids.set(hash, [...(ids.get(hash) ?? []), id]);
  return ids;
}

/** A chunk that the service stored but could not index. `error`: the service's own words. */
type UnindexedChunk = Pick<WrittenRow, "id" | "old_id" | "texts_sha256"> & { readonly error: string };

/** How many times to touch and repair a chunk, and the wait before the next time, in milliseconds. */
const mostRepairs = 2;
const betweenRepairs = 5_000;
/** Added to the text of a touched chunk. */
const mark = " ";

/**
 * Repairs a chunk by its id; it is never added again. The service indexes a chunk again, and marks it as completed, only if its content
 * changes: a chunk with the status error is not retrieved. So a space is added at its end and then removed. Gives up if the chunk is gone
 * or someone changed it.
 */
export async function* mendChunk(work: DocumentWork, chunk: UnindexedChunk): Landing {
  let said = chunk.error;
  for (let writes = 0; ; writes++) {
    if (writes > 0 && writes % 2 === 0) yield work.options.now() + betweenRepairs;
    const landed = yield* writeRow(work, () =>
      prepareRepair(work, { ...chunk, error: said }, writes < 2 * mostRepairs),
    );
    if (landed.kind === "there") return { kind: "written", id: chunk.id, isIndexed: true, error: "" };
    if (landed.kind === "changed meanwhile") await work.options.journal.giveUp(chunk.id);
    if (landed.kind !== "written") return { ...landed, id: chunk.id };
    said = landed.error || said;
  }
}

async function prepareRepair(
  work: DocumentWork,
  { id, old_id, texts_sha256, error }: UnindexedChunk,
  mayTouch: boolean,
): ReturnType<Prepare> {
  const now = await work.read(id);
  const isTouched = textsHash({ ...now, content: now.content.slice(0, -mark.length) }) === texts_sha256;
  if (!isTouched && textsHash(now) !== texts_sha256) {
    const reason = `chunk ${id}, which the service could not index, has another text by now`;
    return { kind: "changed meanwhile", id, reason };
  }
  if (!isTouched && isIndexed(now)) return { kind: "there", id };
  if (!isTouched && !mayTouch) {
    const reason = `the service stored chunk ${id} and could not index it${error === "" ? "" : `: ${error}`}`;
    return { kind: "failed", id, reason };
  }
  const content = isTouched ? now.content.slice(0, -mark.length) : now.content + mark;
  const { facts, request } = updateChunk(work, old_id, { ...now, content }, now);
  return { facts: { ...facts, write: isTouched ? "repair chunk" : "touch chunk", keywords_sha256: null }, request };
}
