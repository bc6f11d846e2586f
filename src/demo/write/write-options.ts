import { randomUUID } from "node:crypto";
import { setTimeout } from "node:timers/promises";

/** How the service takes writes. */
export interface WriteOptions {
  /** Chunks that one request may add; 0, the default, for any number. */
  readonly maxPerRequest?: number;
  /** Whether a chunk with this content cannot be indexed. None fails by default. */
  readonly embeddingFails?: (content: string) => boolean;
  /** Whether a child chunk with this content cannot be indexed. None fails by default. */
  readonly childIndexFails?: (content: string) => boolean;
  /** Seconds after a request that changed `enabled` in which the chunk takes no other; 600 by default. */
  readonly indexingSeconds?: number;
  /** Milliseconds from a write to its answer; 0 by default. */
  readonly delay?: number;
  /** Milliseconds that an addition of chunks takes longer for each of them; 0 by default. */
  readonly embeddingMilliseconds?: number;
  /** The embedding models that a dataset may have, the default first; any model by default. */
  readonly embeddingModels?: readonly string[] | null;
  /** Seconds that the indexing of a document takes that is created; 0.2 by default. */
  readonly indexingTime?: number;
  /** Whether the indexing of a document of this name fails. None fails by default. */
  readonly indexingFails?: (name: string) => boolean;
  /** Whether a dataset takes documents of several forms, as releases before 1.9 did; no by default. */
  readonly mixedForms?: boolean;
  /** The id of the next dataset, document, field, tag or file; random by default. */
  readonly newId?: () => string;
}

export function withDefaults(options: WriteOptions): Required<WriteOptions> {
  const none = () => false;
  return {
    ...{ maxPerRequest: 0, embeddingFails: none, childIndexFails: none, indexingSeconds: 600 },
    ...{ delay: 0, embeddingMilliseconds: 0, embeddingModels: null, newId: randomUUID },
    ...{ indexingTime: 0.2, indexingFails: none, mixedForms: false },
    ...options,
  };
}

/** Waits until the answer to a write is due. `added`: the chunks that it added. */
export async function answerLater({ delay, embeddingMilliseconds }: Required<WriteOptions>, added = 0): Promise<void> {
  const milliseconds = delay + embeddingMilliseconds * added;
  if (milliseconds > 0) await setTimeout(milliseconds);
}
