import type { Kind } from "../../rows/columns.js";
import type { RowText } from "./row-text.js";

/** A row and where it stands, from 1. Undefined is what turned out to be no row. */
export interface ReadRow {
  readonly row: number;
  readonly text: RowText | undefined;
}

/** Told of what is no row, and why. */
export type Problem = (row: number, message: string) => void;

/** Rows of one kind, wherever they lie; they can be read any number of times. */
export interface RowSource {
  /** As findings name it: `chunks.csv`. */
  readonly name: string;
  readonly kind: Kind;
  /** The rows in their order, some at a time, each made when it is taken. Throws UnreadableError when there is no going on. */
  readonly read: (problem: Problem) => AsyncGenerator<Iterable<ReadRow>>;
}

/** A file that cannot be read as what it should be, from some place on. */
export class UnreadableError extends Error {
  override readonly name = "UnreadableError";
}
