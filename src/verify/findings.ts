import { numberText } from "../amounts.js";

/** One thing that is not as it should be. Texts may hold anything that a file holds: they are not safe for a terminal. */
export interface Finding {
  /** Name in the run folder, or of the database. */
  readonly file: string;
  readonly message: string;
}

/** Findings of one kind that are told one by one; the others are counted. */
export const toldOfAKind = 20;

interface Group {
  readonly file: string;
  readonly kind: string;
  readonly told: string[];
  count: number;
}

/** Collects findings. Of every kind in a file it keeps the first, so that memory stays bounded however much is wrong. */
export class Findings {
  readonly #groups = new Map<string, Group>();

  /** `kind` says in a word or two what is wrong, the message what and where. */
  add(file: string, kind: string, message: string): void {
    const group = this.#group(file, kind);
    group.count++;
    if (group.told.length < toldOfAKind) group.told.push(message);
  }

  /** Adds several of a kind; `count` when not all of them have a message. */
  addAll(file: string, kind: string, messages: readonly string[], count = messages.length): void {
    for (const message of messages) this.add(file, kind, message);
    if (count > messages.length) this.#group(file, kind).count += count - messages.length;
  }

  /** How many there are, those that are not told included. */
  get count(): number {
    let sum = 0;
    for (const { count } of this.#groups.values()) sum += count;
    return sum;
  }

  /** The findings to report, in the order in which their kinds were first found. */
  get list(): readonly Finding[] {
    return [...this.#groups.values()].flatMap(({ file, kind, told, count }) => {
      const more = count - told.length;
      const rest = more > 0 ? [`and ${numberText(more)} more (${kind})`] : [];
      return [...told, ...rest].map((message) => ({ file, message }));
    });
  }

  #group(file: string, kind: string): Group {
    const key = JSON.stringify([file, kind]);
    const group = this.#groups.get(key) ?? { file, kind, told: [], count: 0 };
    this.#groups.set(key, group);
    return group;
  }
}

/** The result of `verifyRun`. */
export interface Verification {
  readonly status: "sound" | "differences";
  /** Differences found: of each kind the first 20 and a count of the rest. Texts are not safe for a terminal. */
  readonly findings: readonly Finding[];
  /** How many there are, those that are not told included. */
  readonly finding_count: number;
  readonly checked: Checked;
}

/** The rows and files that were checked. */
export interface Checked {
  readonly folder: string;
  /** Null when the manifest could not be taken. */
  readonly run_id: string | null;
  readonly files: number;
  readonly documents: number;
  readonly chunks: number;
  readonly child_chunks: number;
  /** Files that documents were made from, and files attached to chunks; null when the run saved none. */
  readonly originals: number | null;
  readonly attachments: number | null;
  /** Null when it was not asked for, or could not be opened. */
  readonly database: CheckedDatabase | null;
  /** Checks that were not possible, and why. */
  readonly notes: readonly string[];
}

export interface CheckedDatabase {
  readonly path: string;
  /** Documents whose rows were compared. */
  readonly documents: number;
  /** Documents that a later run has read since. */
  readonly read_later: number;
  /** Documents that were unstable in this run, of which the database keeps an earlier, complete state. */
  readonly passed_over: number;
}
