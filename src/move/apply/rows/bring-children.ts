import { readChildren } from "../../../restore/apply/read-standing.js";
import type { StandingChild } from "../../../restore/apply/row-texts.js";
import type { ChildRow } from "../../../restore/document-rows.js";
import type { FailedRow } from "../../moved.js";
import type { ChunkCopy, DocumentCopy, RowOutcome } from "./document-copy.js";
import { type ChildFix, planChildren } from "./plan-children.js";

/** Comparisons at the most: another one follows if an answer was lost, since its child may be there twice. */
const mostRounds = 3;

/** A round of writes. */
interface Round {
  readonly failed: readonly FailedRow[];
  readonly wasLost: boolean;
}

/** Makes the children of a chunk those of the dump. `there`: those that it has now. What fails is noted as such. */
export async function bringChildren(
  copy: DocumentCopy,
  chunk: ChunkCopy,
  there: readonly StandingChild[],
): Promise<void> {
  const { api } = copy.work.options;
  let now = there;
  for (let round = 1; ; round++) {
    const fix = planChildren(copy.childrenOf(chunk.row.id), now);
    const stranger = strangerIn(fix, copy.childrenOf(chunk.row.id));
    if (stranger) {
      const reason = `child chunk ${stranger.id} of its copy is none that this restore or the service made; the children stay as they are`;
      return copy.fail("chunk", chunk.row, reason);
    }
    const { failed, wasLost } = await new ChildWrites(copy, chunk, now).carryOut(fix);
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

  async carryOut({ remove, customize, add }: ChildFix<ChildRow, StandingChild>): Promise<Round> {
    for (const child of remove) await this.#remove(child);
    for (const { wanted, there } of customize) await this.#customize(wanted, there);
    for (const child of add) await this.#add(child);
    return { failed: this.#failed, wasLost: this.#wasLost };
  }

  async #remove({ id }: StandingChild): Promise<void> {
    const { writer } = this.#copy.work.options;
    const find = async () => ((await this.#there()).some((child) => child.id === id) ? undefined : { ids: [id] });
    const write = writer.deleteChild(this.#copy.work.place, this.#chunk.id, id);
    const outcome = this.#taken(await this.#copy.carry({ write: "delete child", target_id: id }, write, find));
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
    this.#note(wanted, this.#taken(await this.#copy.carry(facts, write, find)));
  }

  async #add(child: ChildRow): Promise<void> {
    const { writer } = this.#copy.work.options;
    const find = async () => {
      const added = (await this.#there()).find(({ id, content }) => content === child.content && !this.#known.has(id));
      return added && { ids: [added.id] };
    };
    const write = writer.addChild(this.#copy.work.place, this.#chunk.id, child.content);
    const outcome = this.#taken(await this.#copy.carry({ write: "add child", old_id: child.id }, write, find));
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
