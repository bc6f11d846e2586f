import type { ReadTally } from "../read-tally.js";

export interface ServeOptions {
  /** On 127.0.0.1; 0, the default, takes a free one. */
  readonly port?: number;
  /** The key that every request must carry; a random one by default. */
  readonly key?: string;
  /** Ends the indexing; its reason is what rejects. A service that runs is ended by `close`. */
  readonly signal?: AbortSignal;
  readonly tally?: ReadTally;
}

/** The options that the opening of a dump takes. */
export type OpenOptions = Required<Pick<ServeOptions, "signal" | "tally">>;
