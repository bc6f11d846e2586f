import type { ReportFacts } from "../../../src/report/report-facts.js";
import { hostileTexts, withTexts } from "./hostile-texts.js";
import { sampleFlaws } from "./sample-flaws.js";
import { sampleChanges, sampleHits } from "./sample-history.js";
import { sampleIndexing } from "./sample-indexing.js";
import { sampleLost } from "./sample-lost.js";
import { sampleFreshness, sampleLengths, sampleVerdict } from "./sample-state.js";

export { emptyFacts } from "./empty-facts.js";

/** A partial run of thirty documents with names in three scripts; every part of the report has something to show. */
export function sampleFacts(): ReportFacts {
  return {
    verdict: sampleVerdict(),
    lost: sampleLost(),
    freshness: sampleFreshness(),
    lengths: sampleLengths(),
    indexing: sampleIndexing(),
    changes: sampleChanges(),
    hits: sampleHits(),
    flaws: sampleFlaws(),
    hasContent: true,
  };
}

/** The sample with a hostile text in every place that a text of the service can come to. */
export function hostileFacts(): ReportFacts {
  return withTexts(sampleFacts(), hostileTexts);
}
