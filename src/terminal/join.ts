import type { JoinResult } from "../join/join-shards.js";
import type { JoinSummary } from "../results/join.js";
import { summaryJson } from "./summary.js";

/** The result of a join for programs. */
export function joinJson(result: JoinResult, elapsed: number): JoinSummary {
  return { ...summaryJson(result, elapsed), shards: result.shards };
}
