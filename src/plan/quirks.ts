import { pageSize } from "../client/knowledge-api.js";
import { countOf } from "../words.js";
import type { Quirk } from "./job-plan.js";
import type { DocumentSurvey } from "./survey.js";

/** What the plan noticed about the service. */
export interface Observations {
  readonly surveys: readonly DocumentSurvey[];
  /** Rows per page of chunks. */
  readonly chunkPage: number;
  readonly isCompressed: boolean;
  /** Requests refused because there were too many. */
  readonly throttled: number;
  /** The error of a document whose chunks can be read but not its child lists. */
  readonly refusedLists: string | undefined;
}

/** The behaviours of this service that matter to users. docs/plan.md lists all names. */
export function quirksOf({
  surveys,
  chunkPage,
  isCompressed,
  throttled,
  refusedLists,
}: Observations): readonly Quirk[] {
  const quirks: Quirk[] = [];
  const add = (name: string, finding: string, meaning: string) => quirks.push({ name, finding, meaning });
  if (chunkPage === Number.POSITIVE_INFINITY)
    add(
      "paging",
      "page 1 holds everything",
      "one answer holds a whole document: service.max_body and timeout must allow it",
    );
  else if (chunkPage < pageSize)
    add(
      "page_cap",
      `at most ${chunkPage} rows per page`,
      `a run takes ${Math.round((10 * pageSize) / chunkPage) / 10} times as many pages of chunks`,
    );
  if (surveys.some(({ sample }) => sample?.repeats))
    add(
      "paging",
      "every page repeats page 1",
      "documents of more than one page cannot be read whole: the run will be partial",
    );
  if (refusedLists !== undefined)
    add("child_lists", refusedLists, "documents fail unless the job says child_chunks: none");
  const documents = (embedding: string) => surveys.filter(({ sample }) => sample?.embedding === embedding).length;
  const differing = documents("differs");
  if (differing > 0)
    add(
      "embedded_children",
      `differ from the child lists in ${countOf(differing, "document")}`,
      "child_chunks: auto reads every list there",
    );
  else if (documents("agrees") > 0)
    add("embedded_children", "agree with the child lists", "child_chunks: auto needs fewer requests");
  if (!isCompressed)
    add(
      "compression",
      "no answer was compressed",
      "enable gzip in the service or its proxy to receive far fewer bytes",
    );
  if (throttled > 0)
    add(
      "throttling",
      `${countOf(throttled, "request")} refused by a rate limit`,
      "a run will slow down as this plan did; set service.max_rps",
    );
  return quirks;
}
