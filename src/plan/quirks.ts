import { numberText } from "../amounts.js";
import { countOf } from "../words.js";
import type { DocumentSurvey } from "./document-survey.js";
import type { Evidence, TieCheck } from "./inquiry.js";
import type { Quirk } from "./job-plan.js";

/** A quirk without its name. `meaning` is empty where a run need not care. */
type Finding = readonly [finding: string, detail: string, meaning?: string, trouble?: "trouble"];

/** All quirks, always in this order, those included that the service does not have. */
export function quirksOf(evidence: Evidence): readonly Quirk[] {
  const findings: readonly (readonly [name: string, finding: Finding])[] = [
    ["page_cap", pageCap(evidence)],
    ["paging", paging(evidence)],
    ["has_more", hasMore(evidence)],
    ["ties", ties(evidence.chunkTies, chunksOf(evidence), "chunks")],
    ["child_ties", ties(evidence.childTies, childrenOf(evidence), "child chunks")],
    ["embedded_children", embedded(evidence)],
    ["child_lists", childLists(evidence)],
    ["metadata_fields", metadataFields(evidence)],
    ["compression", compression(evidence)],
    ["throttling", throttling(evidence)],
  ];
  return findings.map(([name, [finding, detail, meaning = "", trouble]]) => {
    return { name, finding, detail, meaning, trouble: trouble !== undefined };
  });
}

function pageCap({ chunkPages: { cap, isPaged }, surveys }: Evidence): Finding {
  if (!isPaged) return ["none", "everything comes on page 1", "the page size does not matter"];
  const largest = surveys.reduce((most, { total }) => Math.max(most, total ?? 0), 0);
  if (cap === undefined) {
    const detail = `the largest document has ${countOf(largest, "chunk")}, which fit on one page`;
    return ["unknown", detail, "every chunk list takes one request"];
  }
  const detail = `${cap} rows per page (100 requested, ${largest} available)`;
  if (cap === 100) return ["full", detail, "the minimum number of requests"];
  if (cap > 100) return ["capped", detail, "pages are larger than requested", "trouble"];
  return ["capped", detail, `${Math.round(100 / cap)} times as many pages of chunks`, "trouble"];
}

function paging({ chunkPages, pagesRepeat }: Evidence): Finding {
  if (!chunkPages.isPaged) {
    const meaning =
      "one request per list, but one answer holds a whole document: service.max_body and timeout must allow it";
    return ["ignored", "page 1 holds everything, whatever page is requested", meaning, "trouble"];
  }
  if (pagesRepeat === undefined) return ["unknown", "no document has more than one chunk, so paging was not tested"];
  if (!pagesRepeat) return ["normal", "the last page differs from the first"];
  const meaning = "documents of more than one page cannot be read whole: they will be unstable, and the run partial";
  return ["repeats", "every page repeats page 1", meaning, "trouble"];
}

function hasMore({ hasMore: { right, wrong, absent } }: Evidence): Finding {
  const pages = right + wrong + absent;
  const meaning = "no effect on kbdump, which relies on total";
  if (pages === 0) return ["unknown", "no page was read"];
  if (wrong > 0)
    return ["wrong", `wrong on ${wrong} of ${countOf(pages, "page")}`, `${meaning}; other clients must do the same`];
  return absent > 0
    ? ["absent", `absent from ${countOf(absent, "page")}`, meaning]
    : ["honest", `correct on ${countOf(right, "page")}`];
}

/** The rows of one kind: how many there are, and whether that is certain. */
interface Population {
  readonly rows: number;
  readonly exact: boolean;
}

function chunksOf({ surveys }: Evidence): Population {
  const rows = surveys.reduce((sum, { total }) => sum + (total ?? 0), 0);
  return { rows, exact: surveys.every(({ total }) => total !== null) };
}

function childrenOf({ surveys }: Evidence): Population {
  const rows = surveys.reduce((sum, { childCount }) => sum + childCount.count, 0);
  return { rows, exact: surveys.every(({ childCount, error }) => childCount.exact && error === null) };
}

/** Reports the absence of ties as certain only if all rows were looked at. */
function ties({ rows, collisions, holds }: TieCheck, all: Population, what: string): Finding {
  const of = rows < all.rows ? ` (of ${all.exact ? "" : "about "}${numberText(all.rows)})` : "";
  const lookedAt = `the ${numberText(rows)} ${what} checked${of}`;
  if (collisions === 0) {
    if (all.exact && rows >= all.rows) return ["none", `no ties in all ${numberText(all.rows)} ${what}`];
    return [rows === 0 ? "unknown" : "unseen", `no ties in ${lookedAt}`];
  }
  const seen = `${numberText(collisions)} of ${lookedAt} share a position`;
  if (holds === undefined) return ["unknown", `${seen}, and were not read twice`];
  if (holds) return ["hold", `${seen}, and came in the same order when read twice`, "position is not unique: use id"];
  const meaning =
    "rows can repeat on one page and be missing from another: such lists are read again, and the order differs between dumps";
  return ["move", `${seen}, and came in another order when read twice`, meaning, "trouble"];
}

function embedded({ surveys }: Evidence): Finding {
  const count = (embedding: DocumentSurvey["embedding"]) =>
    surveys.filter((survey) => survey.embedding === embedding).length;
  const [agree, differ, without] = [count("agrees"), count("differs"), count("none")];
  const detail = `documents whose embedded children agree with the child lists: ${agree}; differ: ${differ}; are missing: ${without}`;
  if (differ > 0) {
    const meaning = "child_chunks: auto does not rely on embedded children there, and reads every list";
    return ["differ", detail, meaning, "trouble"];
  }
  if (agree > 0) return ["agree", detail, "child_chunks: auto needs fewer requests"];
  if (without > 0) return ["absent", detail, "only child lists contain children"];
  return ["unknown", "no children were found in the sample"];
}

function childLists({ surveys, answers }: Evidence): Finding {
  const { answers: lists } = answers.of("child_list");
  if (lists > 0) return ["present", `${lists} were read`];
  const refused = surveys.find(({ total, error }) => total !== null && error !== null);
  if (!refused) return ["unknown", "no chunk was available to test with"];
  return ["absent", refused.error ?? "", "documents fail unless the job says child_chunks: none", "trouble"];
}

function metadataFields({ withoutFields: count }: Evidence): Finding {
  if (count === 0) return ["present", ""];
  const detail = `${count} ${count === 1 ? "dataset has" : "datasets have"} no such list`;
  return ["absent", detail, "the table metadata_fields stays empty; everything else is read"];
}

function compression({ answers: { encodings } }: Evidence): Finding {
  const [first, ...others] = encodings;
  if (first !== undefined)
    return [first, `answers were compressed with ${[first, ...others].join(", ")}`, "fewer bytes received"];
  const meaning = "enable gzip in the service or its proxy to receive far fewer bytes";
  return ["none", "no answer was compressed", meaning];
}

function throttling({ throttled }: Evidence): Finding {
  if (throttled === 0) return ["none", "no request of this plan was refused"];
  const meaning = "a run will slow down as this plan did; set service.max_rps";
  return ["seen", `${countOf(throttled, "request")} refused by a rate limit`, meaning, "trouble"];
}
