import type { ChunkUpdate } from "../../../client/write/operations.js";
import { type ChildRow, isSameSet } from "../../../compare/document-rows.js";
import { SkipError } from "../../../errors.js";
import { chunkDisabling, newChunk } from "../../apply/mend-chunk.js";
import { readChildren, type StandingChild, type StandingChunk } from "../../apply/row-texts.js";
import { meaningOf } from "../../apply/write-row.js";
import type { AttachmentPlan, FilePlan } from "../copy-plan.js";
import type { FailedRow } from "../copy-result.js";
import { type ChunkCopy, type DocumentCopy, type RowOutcome, readChunk } from "./document-copy.js";

/** Child lists that are read at once. */
const listsAtOnce = 8;
/** The service takes no change of a chunk for 600 s after it was enabled or disabled. Waits for that, in milliseconds. */
const busyTime = 660_000;
const [firstBusyWait, longestBusyWait] = [10_000, 60_000];

/** A chunk that is to be disabled; `isWhole`: everything else of it is there. */
interface Pending {
  readonly chunk: ChunkCopy;
  readonly isWhole: boolean;
}

/** Completes the chunks of a document that are there: attachments, then children, and last that they are disabled. */
export class Finish {
  readonly #copy: DocumentCopy;
  readonly #attachments: Attachments;
  /** Those that the service does not let be disabled yet. */
  #busy: readonly Pending[] = [];

  constructor(copy: DocumentCopy) {
    this.#copy = copy;
    this.#attachments = new Attachments(copy);
  }

  async finish(chunks: readonly ChunkCopy[]): Promise<void> {
    const { api } = this.#copy.work.options;
    for (let at = 0; at < chunks.length; at += listsAtOnce) {
      const some = chunks.slice(at, at + listsAtOnce);
      const lists = this.#copy.hasChildren
        ? await Promise.all(some.map(({ id }) => readChildren(api, this.#copy.work.place, id)))
        : [];
      for (const [each, chunk] of some.entries()) await this.#finishChunk(chunk, lists[each]);
    }
  }

  /** Disables the chunks that the service did not let be disabled before, and waits until it does. */
  async end(): Promise<void> {
    const { now, sleep, signal } = this.#copy.work.options;
    const since = now();
    for (let wait = firstBusyWait; this.#busy.length > 0; wait = Math.min(longestBusyWait, wait * 2)) {
      const isLast = now() - since >= busyTime;
      if (!isLast) await sleep(wait, signal);
      const busy = this.#busy;
      this.#busy = [];
      for (const pending of busy) await this.#disable(pending, isLast);
    }
  }

  async #finishChunk(chunk: ChunkCopy, children: Awaited<ReturnType<typeof readChildren>> | undefined): Promise<void> {
    const failures = this.#copy.failed.length;
    const now = await this.#attachments.bind(chunk);
    if (children) await copyChildren(this.#copy, now, children);
    const isWhole = this.#copy.failed.length === failures;
    if (!now.row.enabled && now.enabled) await this.#disable({ chunk: now, isWhole }, false);
    else if (isWhole) this.#copy.work.options.progress.chunksDone++;
  }

  async #disable(pending: Pending, isLast: boolean): Promise<void> {
    const { chunk, isWhole } = pending;
    const updated = await disableChunk(this.#copy, chunk);
    if (updated.kind === "busy" && !isLast) this.#busy = [...this.#busy, pending];
    else if (updated.kind !== "done") {
      this.#copy.fail("chunk", chunk.row, `it is there and could not be disabled: ${updated.reason}`);
    } else if (isWhole) this.#copy.work.options.progress.chunksDone++;
  }
}

/** An attachment at the service, or why there is none. */
type Uploaded = { readonly id: string } | { readonly reason: string };

/** Copies the attachments of the chunks of one document. Each file is uploaded once. */
class Attachments {
  readonly #copy: DocumentCopy;
  readonly #plans: ReadonlyMap<string, AttachmentPlan>;
  readonly #uploaded = new Map<string, Uploaded>();

  constructor(copy: DocumentCopy) {
    const { plan, options } = copy.work;
    this.#copy = copy;
    this.#plans = new Map(plan.attachments.map((attachment) => [attachment.id, attachment]));
    const { attachments } = options.journal.facts;
    for (const { id } of plan.attachments) {
      const known = attachments.get(id);
      if (known !== undefined) this.#uploaded.set(id, { id: known });
    }
  }

  /** Binds those of a chunk that can come. The chunk is as it stands then. What fails is noted as such. */
  async bind(chunk: ChunkCopy): Promise<ChunkCopy> {
    const uploaded: Uploaded[] = [];
    for (const id of chunk.row.attachment_ids) {
      const plan = this.#plans.get(id);
      if (plan) uploaded.push(await this.#upload(plan));
    }
    for (const each of uploaded) if ("reason" in each) this.#fail(chunk, each.reason);
    const ids = uploaded.flatMap((each) => ("id" in each ? [each.id] : []));
    if (ids.length === 0 || isSameSet(ids, chunk.attachment_ids)) return chunk;
    const updated = await bindAttachments(this.#copy, chunk, ids);
    if (updated.kind === "done") return { ...chunk, enabled: true, attachment_ids: ids };
    this.#fail(chunk, updated.reason);
    return chunk;
  }

  #fail({ row }: ChunkCopy, reason: string): void {
    this.#copy.fail("chunk", row, `its attachments did not all come: ${reason}`);
  }

  async #upload({ id, file }: AttachmentPlan): Promise<Uploaded> {
    if (file === null) return { id };
    const uploaded = this.#uploaded.get(id) ?? (await this.#send(id, file));
    this.#uploaded.set(id, uploaded);
    return uploaded;
  }

  async #send(id: string, file: FilePlan): Promise<Uploaded> {
    const prepared = this.#copy.work.options.writer.uploadFile(file);
    const find = async () => undefined; // no request lists uploads; one whose answer was lost stays unused
    try {
      const facts = { write: "upload file", old_id: id, name: file.name } as const;
      const executed = await this.#copy.execute(facts, prepared, find);
      const [uploaded] = executed.kind === "done" ? executed.ids : [];
      if (uploaded !== undefined) return { id: uploaded };
      return { reason: "reason" in executed ? executed.reason : "the service gave the file no id" };
    } catch (error) {
      if (error instanceof SkipError) return { reason: error.message };
      throw error;
    }
  }
}

/** Comparisons at the most: another one follows if an answer was lost, since its child may be there twice. */
const mostRounds = 3;

/** A round of writes. */
interface Round {
  readonly failed: readonly FailedRow[];
  readonly wasLost: boolean;
}

/** Makes the children of a chunk those of the dump. `there`: those that it has now. What fails is noted as such. */
async function copyChildren(copy: DocumentCopy, chunk: ChunkCopy, there: readonly StandingChild[]): Promise<void> {
  const { api } = copy.work.options;
  let now = there;
  for (let round = 1; ; round++) {
    const fix = planChildren(copy.childrenOf(chunk.row.id), now);
    const stranger = strangerIn(fix, copy.childrenOf(chunk.row.id));
    if (stranger) {
      const reason = `child chunk ${stranger.id} of its copy is none that this restore or the service made; the children stay as they are`;
      return copy.fail("chunk", chunk.row, reason);
    }
    const { failed, wasLost } = await new ChildWrites(copy, chunk, now).execute(fix);
    if (!wasLost || round === mostRounds) return void copy.failed.push(...failed);
    now = await readChildren(api, copy.work.place, chunk.id);
  }
}

/** A child to remove that somebody else wrote: the service made those that are automatic, and this restore those that the dump has. */
function strangerIn({ remove }: ChildFix<ChildRow, StandingChild>, wanted: readonly ChildRow[]) {
  const ours = new Set(wanted.map(({ content }) => content));
  return remove.find(({ type, content }) => type === "customized" && !ours.has(content));
}

/** The writes of one round, below one chunk. */
class ChildWrites {
  readonly #copy: DocumentCopy;
  readonly #chunk: ChunkCopy;
  readonly #known: Set<string>;
  readonly #failed: FailedRow[] = [];
  #wasLost = false;

  constructor(copy: DocumentCopy, chunk: ChunkCopy, there: readonly StandingChild[]) {
    this.#copy = copy;
    this.#chunk = chunk;
    this.#known = new Set(there.map(({ id }) => id));
  }

  async execute({ remove, customize, add }: ChildFix<ChildRow, StandingChild>): Promise<Round> {
    for (const child of remove) await this.#remove(child);
    for (const { wanted, there } of customize) await this.#customize(wanted, there);
    for (const child of add) await this.#add(child);
    return { failed: this.#failed, wasLost: this.#wasLost };
  }

  async #remove({ id }: StandingChild): Promise<void> {
    const { writer } = this.#copy.work.options;
    const find = async () => ((await this.#there()).some((child) => child.id === id) ? undefined : { ids: [id] });
    const write = writer.deleteChild(this.#copy.work.place, this.#chunk.id, id);
    const outcome = this.#taken(await this.#copy.execute({ write: "delete child", target_id: id }, write, find));
    if (outcome.kind === "done" || (outcome.kind === "refused" && outcome.status === 404)) return;
    const { id: chunkId, position } = this.#chunk.row;
    const reason = `child chunk ${id}, which the service made below its copy, could not be deleted: ${outcome.reason}`;
    this.#failed.push({ level: "chunk", id: chunkId, position, reason });
  }

  /** A child that is written with the text which it has counts as written by hand from then on. */
  async #customize(wanted: ChildRow, { id }: StandingChild): Promise<void> {
    const { writer } = this.#copy.work.options;
    const isDone = (child: StandingChild) => child.id === id && child.type === "customized";
    const find = async () => ((await this.#there()).some(isDone) ? { ids: [id] } : undefined);
    const write = writer.updateChild(this.#copy.work.place, this.#chunk.id, id, wanted.content);
    const facts = { write: "update child", old_id: wanted.id, target_id: id } as const;
    this.#note(wanted, this.#taken(await this.#copy.execute(facts, write, find)));
  }

  async #add(child: ChildRow): Promise<void> {
    const { writer } = this.#copy.work.options;
    const find = async () => {
      const added = (await this.#there()).find(({ id, content }) => content === child.content && !this.#known.has(id));
      return added && { ids: [added.id] };
    };
    const write = writer.addChild(this.#copy.work.place, this.#chunk.id, child.content);
    const outcome = this.#taken(await this.#copy.execute({ write: "add child", old_id: child.id }, write, find));
    if (outcome.kind === "done") for (const id of outcome.ids) this.#known.add(id);
    this.#note(child, outcome);
  }

  #there(): Promise<readonly StandingChild[]> {
    return readChildren(this.#copy.work.options.api, this.#copy.work.place, this.#chunk.id);
  }

  #taken<T>(outcome: RowOutcome<T>): RowOutcome<T> {
    this.#wasLost ||= outcome.wasLost;
    return outcome;
  }

  #note({ id, position }: ChildRow, outcome: RowOutcome<unknown>): void {
    if (outcome.kind === "done") return;
    this.#failed.push({ level: "child_chunk", id, position, reason: outcome.reason });
  }
}

/** The outcome of an update. `busy`: the service takes it later. */
type Updated = { readonly kind: "done" } | { readonly kind: "busy" | "failed"; readonly reason: string };

/** Disables a chunk. Its attachments must be bound before: a disabled chunk takes no other change. */
async function disableChunk(copy: DocumentCopy, chunk: ChunkCopy): Promise<Updated> {
  const body = chunkDisabling({ ...chunk.row, ...chunk }, copy.work.plan.doc_form);
  return updateChunk(copy, chunk, "disable chunk", body, ({ enabled }) => !enabled);
}

/** Binds attachments to a chunk, by their ids in the target, and no others. A chunk that is disabled is enabled by it. */
async function bindAttachments(
  copy: DocumentCopy,
  chunk: ChunkCopy,
  attachment_ids: readonly string[],
): Promise<Updated> {
  const enabling = chunk.enabled ? {} : { enabled: true };
  const body = { ...newChunk(chunk.row, copy.work.plan.doc_form), ...enabling, attachment_ids };
  return updateChunk(copy, chunk, "update chunk", body, (there) => isSameSet(there.attachment_ids, attachment_ids));
}

async function updateChunk(
  copy: DocumentCopy,
  { id, row }: ChunkCopy,
  write: "update chunk" | "disable chunk",
  body: ChunkUpdate,
  isDone: (there: StandingChunk) => boolean,
): Promise<Updated> {
  const { options, place } = copy.work;
  const find = async () => {
    const there = await readChunk(copy.work, id);
    return there && isDone(there) ? { ids: [id] } : undefined;
  };
  const prepared = options.writer.updateChunk(place, id, body);
  const executed = await copy.execute({ write, old_id: row.id, target_id: id }, prepared, find);
  if (executed.kind === "done") return { kind: "done" };
  const isBusy = executed.kind === "refused" && meaningOf(executed) === "busy";
  return { kind: isBusy ? "busy" : "failed", reason: executed.reason };
}

/** A child chunk of the target. */
export interface ChildThere {
  readonly id: string;
  readonly content: string;
  /** automatic, customized; open. */
  readonly type: string | null;
}

type Wanted = Pick<ChildRow, "id" | "content" | "type" | "position">;

/** The writes that make the children of a chunk those of the dump, in their order. */
interface ChildFix<W extends Wanted, T extends ChildThere> {
  /** From the last to the first, so that those which stand at any moment begin as the dump does. */
  readonly remove: readonly T[];
  /** Those that stand, and shall count as written by hand. */
  readonly customize: readonly { readonly wanted: W; readonly there: T }[];
  /** Behind the last one, in order. */
  readonly add: readonly W[];
}

/**
 * Compares the children that the service made with those of the dump. The service adds children at the end alone, so the longest
 * beginning that agrees stays, and everything behind it goes.
 */
export function planChildren<W extends Wanted, T extends ChildThere>(
  wanted: readonly W[],
  there: readonly T[],
): ChildFix<W, T> {
  const differing = there.findIndex(({ content }, at) => content !== wanted[at]?.content);
  const kept = differing < 0 ? there : there.slice(0, differing);
  const customize = kept.flatMap((child, at) => {
    const row = wanted[at];
    return row?.type === "customized" && child.type !== "customized" ? [{ wanted: row, there: child }] : [];
  });
  return { remove: there.slice(kept.length).reverse(), customize, add: wanted.slice(kept.length) };
}
