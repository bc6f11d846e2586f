/**
 * The plan of a restore: which rows of an older run stand in the target no more, and the writes that bring them back. A plan is
 * data and sends nothing. Texts may hold anything that a service sends: not safe for a terminal.
 */

/**
 * The proof that somebody made or changed a row by hand. `history`: the job's database has what it was before. `chosen`: there
 * is none, and the owner named the row.
 */
export type Evidence = "updated_by" | "disabled_by" | "customized" | "history" | "chosen";

/** The parts of a chunk that a request can write. */
export interface ChunkTexts {
  readonly content: string;
  /** The answer, in qa_model documents; null elsewhere. */
  readonly answer: string | null;
  readonly keywords: readonly string[] | null;
}

/** A chunk of the target, as it stood when the plan was made. */
export interface TargetChunk extends ChunkTexts {
  readonly id: string;
  readonly position: number | null;
  readonly enabled: boolean;
  /** completed, error and others; open. */
  readonly status: string | null;
}

/** All that brings back one chunk: first its texts, then its children, then that it is disabled. */
export interface ChunkRestore {
  /** Id and position in the older run. */
  readonly chunk_id: string;
  readonly position: number | null;
  readonly evidence: readonly Evidence[];
  /** The chunk that takes the texts, the children and the state; null: one is added. */
  readonly target: TargetChunk | null;
  /** The texts to write; null: they stand in the target. Never null where `target` is. */
  readonly texts: ChunkTexts | null;
  /** Chunks of the target that say these texts, when the plan was made. If more do when its turn comes, nothing is added. */
  readonly equal: number;
  /** Whether the chunk is to be disabled at the end. */
  readonly disable: boolean;
  readonly children: readonly ChildRestore[];
}

/** One child chunk to bring back, below the chunk that it is listed with. */
export interface ChildRestore {
  /** Id and position in the older run. */
  readonly child_id: string;
  readonly position: number | null;
  readonly evidence: readonly Evidence[];
  readonly content: string;
  /** The child chunk of the target that it replaces: what stood there before the edit. Null: it is added. */
  readonly twin: { readonly id: string; readonly content: string } | null;
}

/**
 * Why a lost row is not written. `no evidence`: nothing proves that a person made it. `unknown before`: somebody edited it, and
 * nobody knows what stood there before. `conflict`: the target says something else than what stood there before. `no place`: its
 * parent is gone. `disabled`: it was added by hand and then disabled; to add it again, it must be asked for.
 */
export type WhyListed = "no evidence" | "unknown before" | "conflict" | "no place" | "disabled";

/** A lost row that is left to the owner. */
export interface ListedLoss {
  readonly level: "chunk" | "child_chunk";
  readonly id: string;
  /** The parent of a child chunk in the older run. */
  readonly segment_id: string | null;
  readonly position: number | null;
  readonly why: WhyListed;
  /** The reason as a sentence. */
  readonly reason: string;
  readonly content: string;
  /** The text that stands at its place in the target; null where nobody knows its place. */
  readonly now: string | null;
  /** If it is chosen, it replaces `now` or is added at the end. Null: it cannot be chosen. */
  readonly choice: "replace" | "add" | null;
}

/** A part of a row that no request can bring back, although its text comes back. */
export interface KnownLoss {
  readonly level: "chunk" | "child_chunk";
  readonly id: string;
  readonly position: number | null;
  readonly part: "keywords" | "attachments" | "summary";
  /** The reason as a sentence. */
  readonly reason: string;
}

export interface DocumentPlan {
  readonly dataset_id: string;
  readonly document_id: string;
  readonly document_name: string | null;
  readonly doc_form: string | null;
  /** Why nothing may be written to this document, as a sentence; then it has no restores. */
  readonly refused: string | null;
  /** In the order of the older run. */
  readonly restores: readonly ChunkRestore[];
  readonly listed: readonly ListedLoss[];
  readonly losses: readonly KnownLoss[];
  /** Rows with a sign of a hand that stand in the target as they were, or inside a chunk of it. */
  readonly present: number;
}

/** Every document that has a sign of a hand, or that was named; in the order of the older run. */
export interface RestorePlan {
  readonly documents: readonly DocumentPlan[];
}

/** Rows of a plan, counted. */
export interface PlanCounts {
  /** Chunks and child chunks that will be written. */
  readonly rows: number;
  readonly chunks_updated: number;
  readonly chunks_added: number;
  readonly chunks_disabled: number;
  readonly children_replaced: number;
  readonly children_added: number;
  /** Write requests at the least. */
  readonly writes: number;
  /** Characters that the service embeds anew. */
  readonly characters: number;
}

/** Adds up what the plan writes. A chunk of which only children are written is no row of its own. */
export function countPlan({ documents }: RestorePlan): PlanCounts {
  const chunks = documents.flatMap(({ restores }) => restores);
  const children = chunks.flatMap((chunk) => chunk.children);
  const written = chunks.filter(({ texts }) => texts !== null);
  const disabled = chunks.filter(({ disable }) => disable).length;
  const touched = chunks.filter(({ texts, disable }) => texts !== null || disable).length;
  const added = written.filter(({ target }) => target === null).length;
  const replaced = children.filter(({ twin }) => twin !== null).length;
  const texts = [...written.flatMap(({ texts }) => (texts ? [texts.content, texts.answer ?? ""] : []))];
  return {
    rows: touched + children.length,
    chunks_updated: written.length - added,
    chunks_added: added,
    chunks_disabled: disabled,
    children_replaced: replaced,
    children_added: children.length - replaced,
    writes: written.length + disabled + children.length,
    characters: sumOf([...texts, ...children.map(({ content }) => content)].map((text) => [...text].length)),
  };
}

function sumOf(numbers: readonly number[]): number {
  return numbers.reduce((sum, each) => sum + each, 0);
}

/** Whether a row that is left to its owner was certainly made by hand, so that a restore without it is partial. */
export function isMissed({ why }: ListedLoss): boolean {
  return why !== "no evidence" && why !== "disabled";
}

/** A document of the target. */
export interface TargetDocument {
  readonly dataset_id: string;
  readonly document_id: string;
}

/** Why nothing may be written to a document. */
export interface Refusal {
  /** A sentence. */
  readonly reason: string;
  /** Whether its rows can be read and compared all the same: only a document with lost rows is then refused. */
  readonly isReadable: boolean;
}

/** Refusals by the `documentKey` of their documents. */
export type Refusals = ReadonlyMap<string, Refusal>;
