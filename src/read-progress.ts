/** How far a command is that reads files: verify, diff or serve. */
export interface ReadProgress {
  /** The work in hand, in a word or two. */
  step: string;
  /** Bytes to go through, and those of them that are done. A file that is read twice counts twice. */
  expected: number;
  done: number;
}

/** A tally of nothing yet. */
export function emptyReadProgress(step = "starting"): ReadProgress {
  return { step, expected: 0, done: 0 };
}
