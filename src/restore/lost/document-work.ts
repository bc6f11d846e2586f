import type { KnowledgeApi, Place } from "../../client/knowledge-api.js";
import { SkipError } from "../../errors.js";
import { plannedWrite } from "../find-write.js";
import type { RowPlace, RowWrite } from "../row-writes.js";
import { readHashes, type StandingChunk, standingChunk } from "../standing-rows.js";
import { mayCome, mayMakeTwo, type Waiting, type WriteOptions, writeOnce } from "../write-once.js";

/** The document to write, and the known facts about it. */
export class DocumentWork implements RowPlace {
  readonly options: ApplyOptions;
  readonly place: Place;
  readonly docForm: string | null;
  /** Why the service accepts no writes to this document; null while it does. */
  refused: string | null = null;
  /**
   * Why nothing more is added to a parent: the service may still execute an add that got no answer. Key: the chunk whose
   * children are added; null for chunks.
   */
  readonly unanswered = new Map<string | null, string>();
  #equalTexts: Promise<Map<string, string[]>> | undefined;
  readonly #ours = new Set<string>();

  constructor(options: ApplyOptions, place: Place, docForm: string | null) {
    this.options = options;
    this.place = place;
    this.docForm = docForm;
  }

  get writer() {
    return this.options.writer;
  }

  /** A chunk of the document as it is now. */
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

/** The outcome of a row. `there`: nothing needed to be sent. `busy`: the service refused its changes until the time limit. */
export type Landed =
  | { readonly kind: "done"; readonly id: string; readonly isIndexed: boolean; readonly error: string }
  | { readonly kind: "there"; readonly id: string }
  | { readonly kind: "changed" | "failed" | "busy"; readonly id: string | null; readonly reason: string };

export type Landing = Waiting<Landed>;

/** Why a row is not written. */
export type Undecided = Exclude<Landed, { readonly kind: "done" | "busy" }>;

/** Reads the row right before the write; returns the write, or why there is none. */
export type Prepare = () => Promise<RowWrite | Undecided>;

/** Writes one row. Rejects with StopError if the key is refused, and with the reason of the signal. */
export async function* writeRow(work: DocumentWork, prepare: Prepare): Landing {
  const ended = yield* writeOnce(work.options, () => decide(work, prepare));
  if (ended.kind === "there" || ended.kind === "changed" || ended.kind === "failed") return ended;
  if (ended.kind === "done") {
    const [id = ""] = ended.ids;
    return { kind: "done", id, isIndexed: ended.isIndexed !== false, error: ended.value?.error ?? "" };
  }
  const { reason } = ended;
  if (ended.kind === "unknown" && mayMakeTwo(ended.open))
    work.unanswered.set(ended.open.parent_id, mayCome(ended.open, work.options));
  if (ended.kind !== "refused") return { kind: "failed", id: null, reason };
  if (ended.meaning === "document") work.refused = `the service accepts no writes to this document: ${reason}`;
  return { kind: ended.meaning === "busy" ? "busy" : "failed", id: null, reason };
}

async function decide(work: DocumentWork, prepare: Prepare) {
  const failed = (reason: string) => ({ kind: "failed", id: null, reason }) as const;
  const { datasetId: dataset_id, documentId: document_id } = work.place;
  if (work.refused !== null) return failed(work.refused);
  try {
    const ready = await prepare();
    if (!("request" in ready)) return ready;
    const { facts, request } = ready;
    const unanswered = mayMakeTwo(facts) ? work.unanswered.get(facts.parent_id ?? null) : undefined;
    if (unanswered !== undefined) return failed(unanswered);
    return plannedWrite({ dataset_id, document_id, ...facts }, request, work.place, work.options);
  } catch (error) {
    if (!(error instanceof SkipError)) throw error;
    if (error.status !== 404) return failed(error.message);
    const reason = `the service does not find it any more: ${error.message}`;
    return { kind: "changed", id: null, reason } as const;
  }
}

/** Counts for the progress display. */
interface ApplyProgress {
  /** Chunks to change, including those with only changed children. */
  chunks: number;
  chunksDone: number;
  /** Chunks waiting until the service accepts changes again. */
  waiting: number;
}

export interface ApplyOptions extends WriteOptions {
  readonly progress: ApplyProgress;
}

/** Ids of the chunks of a document, by the hash of their texts. */
async function readEqualTexts(api: KnowledgeApi, place: Place): Promise<Map<string, string[]>> {
  const ids = new Map<string, string[]>();
  for (const { hash, id } of await readHashes(api, place)) ids.set(hash, [...(ids.get(hash) ?? []), id]);
  return ids;
}
