/** How far the indexing of a dump is, for whoever wants to show it. */
export interface ServeTally {
  step: string;
  /** Bytes to read. */
  expected: number;
  done: number;
}

export function emptyServeTally(): ServeTally {
  return { step: "opening the dump", expected: 0, done: 0 };
}

export interface ServeOptions {
  /** On 127.0.0.1; 0, the default, takes a free one. */
  readonly port?: number;
  /** The key that every request must carry; a random one by default. */
  readonly key?: string;
  /** Ends the indexing; its reason is what rejects. A service that runs is ended by `close`. */
  readonly signal?: AbortSignal;
  readonly tally?: ServeTally;
}

/** The options that the opening of a dump takes. */
export type OpenOptions = Required<Pick<ServeOptions, "signal" | "tally">>;
