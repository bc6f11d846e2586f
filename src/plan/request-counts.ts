import type { Job } from "../job/job.js";

export type ChildMode = Job["childChunks"];

/** Requests that a document takes in one mode of child_chunks. */
export interface DocumentRequests {
  /** For pages of chunks, those of a second sweep included. */
  readonly pages: number;
  /** Times that each page of chunks is read. */
  readonly sweeps: 1 | 2;
  /** For child lists, likewise: as many as are certain, or an estimate from the sample. */
  readonly lists: number;
  /** Fewer than these, in all, are not possible. */
  readonly atLeast: number;
  /** Chunks whose child list would have to be asked to know more. */
  readonly unasked: number;
  /** What else keeps the count from being certain, a sentence each. */
  readonly doubts: readonly string[];
}

/** Requests for the child lists of a document. */
export interface ListRequests {
  /** Chunks whose list is asked. */
  readonly chunks: number;
  readonly requests: number;
  readonly atLeast: number;
  /** Those that a second sweep sends: for lists of several pages. */
  readonly again: number;
  readonly againAtLeast: number;
  readonly unasked: number;
  readonly doubts: readonly string[];
}
