import { type ChildRow, isSameSet } from "../../compare/document-rows.js";
import type { RowDifference } from "../../compare/proof/prove.js";
import { ifSkipped } from "../../errors.js";
import { addChild, deleteChild, disableChunk, type RowWrite, updateChild, updateChunk } from "../row-writes.js";
import { ifThere, readChildren, type StandingChild, standingChunk } from "../target-rows.js";
import { type Answered, interleave, type Waiting } from "../write-once.js";
import type { AttachmentPlan } from "./copy-plan.js";
import { type ChunkCopy, type DocumentCopy, type RowOutcome, whyNotDeleted } from "./document-work.js";

/** How many child lists to read at once. */
const listsAtOnce = 8;

/** Completes added chunks: first attachments, then children, and finally the disabled state. */
export class Finish {
  readonly #copy: DocumentCopy;
  readonly #attachments: ReadonlyMap<string, AttachmentPlan>;
  /** Why files could not be uploaded, by the id of the attachment in the dump. */
  readonly #unsent = new Map<string, string>();
  /** Work on chunks that the service does not allow to be disabled yet. */
  readonly #waiting: Waiting<void>[] = [];
  /** Chunks where a child chunk may still appear although its write counts as not done. */
  readonly #unsettled: ChunkCopy[] = [];

  constructor(copy: DocumentCopy) {
    this.#copy = copy;
    this.#attachments = new Map(copy.plan.attachments.map((attachment) => [attachment.id, attachment]));
  }

  async finish(chunks: readonly ChunkCopy[]): Promise<void> {
    const { options, place, plan } = this.#copy;
    const hasChildren = plan.children > 0 || plan.doc_form === "hierarchical_model"; // the service makes some itself
    for (let at = 0; at < chunks.length; at += listsAtOnce) {
      const some = chunks.slice(at, at + listsAtOnce);
      const lists = hasChildren ? await Promise.all(some.map(({ id }) => readChildren(options.api, place, id))) : [];
      for (const [each, chunk] of some.entries()) await this.#finishChunk(chunk, lists[each]);
    }
  }

  /** Checks for child chunks that arrived late, and disables the chunks that the service did not allow to be disabled earlier. */
  async end(): Promise<void> {
    const { options, place } = this.#copy;
    for (const chunk of this.#unsettled)
      await copyChildren(this.#copy, chunk, await readChildren(options.api, place, chunk.id), () => {});
    await interleave(this.#waiting, options);
  }

  async #finishChunk(chunk: ChunkCopy, children: readonly StandingChild[] | undefined): Promise<void> {
    const { failed, plan, options } = this.#copy;
    const { journal, progress } = options;
    const failures = failed.length;
    const now = await this.#bind(chunk);
    const onDone = (count: number) => {
      progress.childrenDone += count;
    };
    if (children) await copyChildren(this.#copy, now, children, onDone);
    const isWhole = failed.length === failures;
    const unsettled = journal.mayShowUp("add child", plan.document_id);
    if (isWhole && unsettled.some(({ parent_id }) => parent_id === chunk.id)) this.#unsettled.push(now);
    const disabling = this.#disable(now, isWhole);
    const next = await disabling.next();
    if (!next.done) this.#waiting.push(resumeAt(next.value, disabling));
  }

  /**
   * Disables a chunk if the original is disabled; after that, it accepts no other change. `isWhole`: its attachments and children are
   * complete, so it counts as done.
   */
  async *#disable({ row, id, enabled, attachment_ids }: ChunkCopy, isWhole: boolean): Waiting<void> {
    if (enabled && !row.enabled) {
      const ended = yield* this.#copy.writing(disableChunk(this.#copy, row.id, { ...row, id, attachment_ids }));
      if (ended.kind !== "done") return this.#copy.fail(row, `it is there, but could not be disabled: ${ended.reason}`);
    }
    if (isWhole) this.#copy.options.progress.chunksDone++;
  }

  /** Binds as many of a chunk's attachments as possible, which enables the chunk, and returns its new state. Notes failures. */
  async #bind(chunk: ChunkCopy): Promise<ChunkCopy> {
    const { options, place } = this.#copy;
    const { row, id, attachment_ids } = chunk;
    const noteFailure = (reason: string) => this.#copy.fail(row, `not all of its attachments were copied: ${reason}`);
    const ids: string[] = [];
    for (const each of row.attachment_ids) {
      const plan = this.#attachments.get(each);
      const uploaded = plan && (await this.#upload(plan));
      if (uploaded !== undefined) ids.push(uploaded);
      else if (plan) noteFailure(this.#unsent.get(each) ?? "");
    }
    if (ids.length === 0 || isSameSet(ids, attachment_ids)) return chunk;
    const facts = { write: "update chunk", old_id: row.id, target_id: id } as const;
    const { request } = updateChunk(this.#copy, row.id, row, { ...chunk, attachment_ids: ids });
    const find = async () => {
      const there = await ifThere(() => options.api.chunk(place, id));
      return there && isSameSet(standingChunk(there).attachment_ids, ids) ? { ids: [id] } : undefined;
    };
    const ended = await this.#copy.write({ facts, request }, find);
    if (ended.kind === "done") return { ...chunk, enabled: true, attachment_ids: ids };
    noteFailure(ended.reason);
    return chunk;
  }

  /** The id of an attachment at the service; undefined if it cannot be uploaded. Each file is sent once. */
  async #upload({ id, file }: AttachmentPlan): Promise<string | undefined> {
    if (file === null) return id;
    const { journal, writer } = this.#copy.options;
    const known = journal.facts.attachments.get(id);
    if (known !== undefined || this.#unsent.has(id)) return known;
    // No request lists uploads, so an upload whose answer was lost stays unused.
    const facts = { write: "upload file", old_id: id, name: file.name } as const;
    const skipped = ifSkipped(({ message }) => ({ kind: "skipped", reason: message }) as const);
    const ended = await this.#copy.write({ facts, request: writer.uploadFile(file) }).catch(skipped);
    if (ended.kind === "done" && ended.ids[0] !== undefined) return ended.ids[0];
    this.#unsent.set(id, ended.kind === "done" ? "the service gave the file no id" : ended.reason);
    return undefined;
  }
}

async function* resumeAt<T>(time: number, work: Waiting<T>): Waiting<T> {
  yield time;
  return yield* work;
}

/** Maximum rounds. After a lost answer, there is another round, because the child may exist twice. */
const mostRounds = 3;

/**
 * Makes the children of a chunk match the dump. `there`: its current children. Calls `onDone` with each number of new ones. Notes
 * failures.
 */
async function copyChildren(
  copy: DocumentCopy,
  chunk: ChunkCopy,
  there: readonly StandingChild[],
  onDone: (children: number) => void,
): Promise<void> {
  const { children } = chunk.row;
  let now = there;
  for (let round = 1; ; round++) {
    const fix = planChildren(children, now);
    // The service makes automatic children, and this restore makes those of the dump. Any others are someone else's.
    const isOurs = ({ type, content }: ChildThere) =>
      type !== "customized" || children.some((child) => child.content === content);
    const stranger = fix.remove.find((child) => !isOurs(child));
    if (stranger) {
      const reason = `child chunk ${stranger.id} of its copy was made neither by this restore nor by the service; the children stay as they are`;
      return copy.fail(chunk.row, reason);
    }
    const onChild = round === 1 ? onDone : () => {}; // a later round repeats children that were counted
    onChild(children.length - fix.customize.length - fix.add.length);
    const { failed, wasLost } = await writeChildren(copy, chunk, fix, now, onChild);
    if (!wasLost || round === mostRounds) return void copy.failed.push(...failed);
    now = await readChildren(copy.options.api, copy.place, chunk.id);
  }
}

async function writeChildren(
  copy: DocumentCopy,
  { id: chunkId, row }: ChunkCopy,
  { remove, customize, add }: ChildFix,
  there: readonly StandingChild[],
  onChild: (children: number) => void,
): Promise<{ readonly failed: readonly RowDifference[]; readonly wasLost: boolean }> {
  const known: Pick<StandingChild, "id" | "content">[] = [...there];
  const failed: RowDifference[] = [];
  let wasLost = false;
  const send = async (child: RowWrite<Answered>) => {
    const outcome = await copy.write(child);
    wasLost ||= outcome.wasLost;
    return outcome;
  };
  const note = ({ id, position }: Wanted, outcome: RowOutcome<unknown>) => {
    onChild(1);
    if (outcome.kind !== "done") failed.push({ level: "child_chunk", id, position, reason: outcome.reason });
  };
  for (const { id } of remove) {
    const problem = whyNotDeleted(await send(deleteChild(copy, chunkId, id)));
    if (problem === null) continue;
    const reason = `child chunk ${id}, which the service made below its copy, could not be deleted: ${problem}`;
    failed.push({ level: "chunk", id: row.id, position: row.position, reason });
  }
  for (const { wanted, there: child } of customize)
    note(wanted, await send(updateChild(copy, chunkId, wanted, child.id)));
  for (const child of add) {
    const outcome = await send(addChild(copy, chunkId, child, known));
    if (outcome.kind === "done") known.push(...outcome.ids.map((id) => ({ id, content: child.content })));
    note(child, outcome);
  }
  return { failed, wasLost };
}

export type ChildThere = Pick<StandingChild, "id" | "content" | "type">;
type Wanted = Pick<ChildRow, "id" | "content" | "type" | "position">;

/** The writes that make the children of a chunk match the dump, in order. */
interface ChildFix {
  /** From last to first, so that the remaining ones always begin like the dump. */
  readonly remove: readonly ChildThere[];
  /** Existing children to mark as customized. */
  readonly customize: readonly { readonly wanted: Wanted; readonly there: ChildThere }[];
  /** To add after the last one, in order. */
  readonly add: readonly Wanted[];
}

/**
 * Compares the children that the service made with those of the dump. The service adds children only at the end, so the longest
 * matching beginning stays, and the rest is removed.
 */
export function planChildren(wanted: readonly Wanted[], there: readonly ChildThere[]): ChildFix {
  const differing = there.findIndex(({ content }, at) => content !== wanted[at]?.content);
  const kept = differing < 0 ? there : there.slice(0, differing);
  const customize = kept.flatMap((child, at) => {
    const row = wanted[at];
    return row?.type === "customized" && child.type !== "customized" ? [{ wanted: row, there: child }] : [];
  });
  return { remove: there.slice(kept.length).reverse(), customize, add: wanted.slice(kept.length) };
}
