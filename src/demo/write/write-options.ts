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
}

export function withDefaults(options: WriteOptions): Required<WriteOptions> {
  const none = () => false;
  return { maxPerRequest: 0, embeddingFails: none, childIndexFails: none, indexingSeconds: 600, delay: 0, ...options };
}
