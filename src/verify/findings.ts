import * as v from "valibot";
import { numberText } from "../amounts.js";
import { count, listOf, oneOf, orNull, result, text } from "../schema.js";

/** A problem in a file of the run folder or in the database. Texts are not safe to print to a terminal. */
const finding = result({ file: text, message: text });
export type Finding = v.InferOutput<typeof finding>;

/** Maximum findings of one kind to list; the others are only counted. */
export const listedPerKind = 20;

/** Collects findings. Keeps only the first of each kind in a file, so that memory stays bounded. */
export class Findings {
  readonly #groups = new Map<string, { file: string; kind: string; listed: string[]; count: number }>();

  /** `kind` names the problem in a word or two; the message says what and where. */
  add(file: string, kind: string, message: string): void {
    this.addAll(file, kind, [message]);
  }

  /** Adds several findings of a kind; `count` is needed if not all of them have a message. */
  addAll(file: string, kind: string, messages: readonly string[], count = messages.length): void {
    const key = JSON.stringify([file, kind]);
    const group = this.#groups.get(key) ?? { file, kind, listed: [], count: 0 };
    this.#groups.set(key, group);
    group.count += count;
    group.listed.push(...messages.slice(0, listedPerKind - group.listed.length));
  }

  /** The number of findings, including those that are not listed. */
  get count(): number {
    let sum = 0;
    for (const { count } of this.#groups.values()) sum += count;
    return sum;
  }

  /** The findings to report, grouped by kind in the order of first occurrence. */
  get list(): readonly Finding[] {
    return [...this.#groups.values()].flatMap(({ file, kind, listed, count }) => {
      const more = count - listed.length;
      const rest = more > 0 ? [`and ${numberText(more)} more (${kind})`] : [];
      return [...listed, ...rest].map((message) => ({ file, message }));
    });
  }
}

const checkedDatabase = result({
  path: text,
  /** Documents whose rows were compared. */
  documents: count,
  /** Documents that a later run has read. */
  read_later: count,
  /** Documents that were unstable in this run. The database keeps an earlier, complete state of them. */
  passed_over: count,
});
export type CheckedDatabase = v.InferOutput<typeof checkedDatabase>;

/** The rows and files that were checked. */
const checked = result({
  folder: text,
  /** The id of the verified run; null if the manifest could not be read. */
  run_id: orNull(text),
  files: count,
  documents: count,
  chunks: count,
  child_chunks: count,
  originals: v.pipe(orNull(count), v.description("null unless the job asks for originals")),
  attachments: v.pipe(orNull(count), v.description("files attached to chunks; null unless the job asks for originals")),
  /** The result of comparing with the database; null if this was not requested, or the database could not be opened. */
  database: orNull(checkedDatabase),
  notes: v.pipe(listOf(text), v.description("checks that were not possible, and why")),
});
export type Checked = v.InferOutput<typeof checked>;

/** The result of `verifyRun`. */
export const verification = result({
  status: oneOf("sound", "differences"),
  findings: v.pipe(listOf(finding), v.description("of each kind the first 20, and a count of the rest")),
  finding_count: count,
  checked,
});
export type Verification = v.InferOutput<typeof verification>;
