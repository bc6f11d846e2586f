/** The progress of a command that reads files: verify, diff or serve. */
export interface ReadProgress {
  /** The current step, in a word or two. */
  step: string;
  /** Total bytes to read, and bytes already read. A file that is read twice counts twice. */
  expected: number;
  done: number;
}

export function emptyReadProgress(step = "starting"): ReadProgress {
  return { step, expected: 0, done: 0 };
}
