import * as v from "valibot";
import { numberText } from "../amounts.js";
import { count, listOf, oneOf, orNull, result, text } from "../schema.js";

/** One thing that is not as it should be, in a file of the run folder or in the database. Texts are not safe for a terminal. */
const finding = result({ file: text, message: text });
export type Finding = v.InferOutput<typeof finding>;

/** Findings of one kind that are listed one by one; the others are counted. */
export const listedPerKind = 20;

interface Group {
  readonly file: string;
  readonly kind: string;
  readonly listed: string[];
  count: number;
}

/** Collects findings. Of every kind in a file it keeps the first, so that memory stays bounded however much is wrong. */
export class Findings {
  readonly #groups = new Map<string, Group>();

  /** `kind` says in a word or two what is wrong, the message what and where. */
  add(file: string, kind: string, message: string): void {
    this.addAll(file, kind, [message]);
  }

  /** Adds several of a kind; `count` when not all of them have a message. */
  addAll(file: string, kind: string, messages: readonly string[], count = messages.length): void {
    const group = this.#group(file, kind);
    group.count += count;
    group.listed.push(...messages.slice(0, listedPerKind - group.listed.length));
  }

  /** How many there are, those that are not listed included. */
  get count(): number {
    let sum = 0;
    for (const { count } of this.#groups.values()) sum += count;
    return sum;
  }

  /** The findings to report, in the order in which their kinds were first found. */
  get list(): readonly Finding[] {
    return [...this.#groups.values()].flatMap(({ file, kind, listed, count }) => {
      const more = count - listed.length;
      const rest = more > 0 ? [`and ${numberText(more)} more (${kind})`] : [];
      return [...listed, ...rest].map((message) => ({ file, message }));
    });
  }

  #group(file: string, kind: string): Group {
    const key = JSON.stringify([file, kind]);
    const group = this.#groups.get(key) ?? { file, kind, listed: [], count: 0 };
    this.#groups.set(key, group);
    return group;
  }
}

const checkedDatabase = result({
  path: text,
  /** Documents whose rows were compared. */
  documents: count,
  /** Documents that a later run has read since. */
  read_later: count,
  /** Documents that were unstable in this run, of which the database keeps an earlier, complete state. */
  passed_over: count,
});
export type CheckedDatabase = v.InferOutput<typeof checkedDatabase>;

/** The rows and files that were checked. */
const checked = result({
  folder: text,
  /** Null when the manifest could not be read. */
  run_id: orNull(text),
  files: count,
  documents: count,
  chunks: count,
  child_chunks: count,
  originals: v.pipe(orNull(count), v.description("null unless the job asks for originals")),
  attachments: v.pipe(orNull(count), v.description("files attached to chunks; null unless the job asks for originals")),
  /** Null when it was not asked for, or could not be opened. */
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
