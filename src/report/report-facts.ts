import type { FlawFacts } from "./flaw-facts.js";
import type { ChangeFacts, HitFacts } from "./history-facts.js";
import type { LostFacts } from "./lost-facts.js";
import type { FreshnessFacts, IndexingFacts, LengthFacts, VerdictFacts } from "./state-facts.js";

/**
 * Everything that a report shows, as numbers and texts: the page is made of this and of nothing else. Times are milliseconds since
 * 1970. Texts may hold anything that a service sends. Without content, every text of the service is null or left out: names, chunks,
 * errors, warnings.
 */
export interface ReportFacts {
  readonly verdict: VerdictFacts;
  /** Undefined where the run is compared with no older one. */
  readonly lost: LostFacts | undefined;
  readonly freshness: FreshnessFacts;
  readonly lengths: LengthFacts;
  readonly indexing: IndexingFacts;
  readonly changes: ChangeFacts;
  readonly hits: HitFacts;
  readonly flaws: FlawFacts;
  /** Whether the report shows texts of the service. */
  readonly hasContent: boolean;
}
