import { childrenOf } from "./count-requests.js";
import type { DocumentSurvey } from "./document-survey.js";
import type { Evidence, SeenTies } from "./evidence.js";
import type { Quirk } from "./quirk.js";
import { serviceQuirks } from "./quirks-of-service.js";
import { sumOfPositions } from "./ties.js";

/** What the service does otherwise than others, and as they do; always all of them, in one order. */
export function quirksOf(evidence: Evidence): readonly Quirk[] {
  return [
    pageCap(evidence),
    paging(evidence),
    hasMore(evidence),
    positions(evidence),
    ties("ties", evidence.ties.chunks, chunksOf(evidence)),
    ties("child_ties", evidence.ties.children, childrenIn(evidence)),
    embedded(evidence),
    ...serviceQuirks(evidence),
  ];
}

function pageCap({ chunkPages, probe }: Evidence): Quirk {
  const name = "page_cap";
  const { cap, isPaged } = chunkPages;
  if (!isPaged) {
    const meaning = "there is no page size to count by";
    return { name, finding: "none", detail: "everything comes on page 1", meaning, trouble: false };
  }
  if (cap === undefined) {
    const detail = `the largest document has ${probe.documentSize} chunks, which come on one page`;
    return { name, finding: "unknown", detail, meaning: "every chunk list takes one request", trouble: false };
  }
  const detail = `${cap} rows where 100 were asked for and ${probe.documentSize} are there`;
  if (cap === 100)
    return { name, finding: "full", detail, meaning: "the fewest requests there can be", trouble: false };
  const meaning =
    cap < 100 ? `${Math.round(100 / cap)} times as many pages of chunks` : "pages are larger than asked for";
  return { name, finding: "capped", detail, meaning, trouble: true };
}

function paging({ chunkPages, probe }: Evidence): Quirk {
  const name = "paging";
  if (!chunkPages.isPaged) {
    const meaning =
      "one request per list, but one answer holds a whole document: service.max_body and timeout must allow it";
    return { name, finding: "ignored", detail: "page 1 holds everything, whatever is asked", meaning, trouble: true };
  }
  if (probe.pagesRepeat === undefined) {
    return {
      name,
      finding: "unknown",
      detail: "no document of several chunks was there to tell",
      meaning: "",
      trouble: false,
    };
  }
  if (probe.pagesRepeat) {
    const meaning = "documents of more than one page cannot be read whole: they will be unstable, and the run partial";
    return { name, finding: "repeats", detail: "other pages bring the rows of page 1", meaning, trouble: true };
  }
  return {
    name,
    finding: "normal",
    detail: "the last page holds other rows than the first",
    meaning: "",
    trouble: false,
  };
}

function hasMore({ answers: { hasMore: seen } }: Evidence): Quirk {
  const name = "has_more";
  const { right, claimed, denied, absent } = seen;
  const meaning = "nothing for kbdump, which goes by total; a client that believes it ";
  if (claimed + denied > 0) {
    const detail = `wrong on ${claimed + denied} of ${right + claimed + denied + absent} pages`;
    const harm = denied > 0 ? "loses rows" : "asks for empty pages";
    return { name, finding: "wrong", detail, meaning: meaning + harm, trouble: false };
  }
  if (absent > 0) {
    const detail = `absent from ${absent} pages`;
    return { name, finding: "absent", detail, meaning: "nothing for kbdump, which goes by total", trouble: false };
  }
  if (right === 0)
    return { name, finding: "unknown", detail: "no page was there to tell", meaning: "", trouble: false };
  return { name, finding: "honest", detail: `right on ${right} pages`, meaning: "", trouble: false };
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

function childrenIn({ surveys }: Evidence): Population {
  const children = surveys.map(childrenOf);
  const rows = children.reduce((sum, { count }) => sum + count, 0);
  return { rows, exact: children.every(({ exact }) => exact) && surveys.every(({ error }) => error === null) };
}

/** `the 100 chunks looked at (of 3,120)`: whatever is not found in a part may be in the rest. */
function lookedAt(rows: number, all: Population, what: string): { readonly text: string; readonly isAll: boolean } {
  const number = (count: number) => count.toLocaleString("en-US");
  if (all.exact && rows >= all.rows) return { text: `all ${number(rows)} ${what}`, isAll: true };
  const of = rows < all.rows ? ` (of ${all.exact ? "" : "about "}${number(all.rows)})` : "";
  return { text: `the ${number(rows)} ${what} looked at${of}`, isAll: false };
}

function positions(evidence: Evidence): Quirk {
  const name = "positions";
  const { rows, collisions, gaps } = sumOfPositions(evidence.surveys.map((survey) => survey.positions));
  if (rows === 0) {
    return { name, finding: "unknown", detail: "no chunk with a position was there", meaning: "", trouble: false };
  }
  const { text, isAll } = lookedAt(rows, chunksOf(evidence), "chunks");
  const gapText = gaps === 1 ? "1 gap" : `${gaps.toLocaleString("en-US")} gaps`;
  if (collisions > 0) {
    const detail = `${collisions.toLocaleString("en-US")} of ${text} have the position of another; ${gapText}`;
    return { name, finding: "collide", detail, meaning: "position is no key: use id", trouble: false };
  }
  const detail = `no two of ${text} have one position; ${gapText}`;
  return { name, finding: isAll ? "distinct" : "unseen", detail, meaning: "", trouble: false };
}

function ties(name: "ties" | "child_ties", { rows, collisions, hold }: SeenTies, all: Population): Quirk {
  if (collisions === 0) {
    const { text, isAll } = lookedAt(rows, all, name === "ties" ? "chunks" : "child chunks");
    const finding = isAll ? "none" : rows === 0 ? "unknown" : "unseen";
    return { name, finding, detail: `no ties in ${text}`, meaning: "", trouble: false };
  }
  if (hold === undefined) return { name, finding: "unknown", detail: "not asked twice", meaning: "", trouble: false };
  if (hold) {
    const detail = "rows with one position came in the same order when asked twice";
    return { name, finding: "hold", detail, meaning: "", trouble: false };
  }
  const detail = "rows with one position came in another order when asked twice";
  const meaning =
    "rows can repeat on one page and miss on another: such lists are read again, and two dumps differ in order";
  return { name, finding: "move", detail, meaning, trouble: true };
}

function embedded({ surveys }: Evidence): Quirk {
  const name = "embedded_children";
  const count = (embedding: DocumentSurvey["embedding"]) =>
    surveys.filter((survey) => survey.embedding === embedding).length;
  const [agree, differ, without] = [count("agrees"), count("differs"), count("none")];
  const detail = `documents whose chunks carry the children of their lists: ${agree}; others than these: ${differ}; none though there are some: ${without}`;
  if (differ > 0) {
    const meaning = "what chunks carry is not relied on there: child_chunks: auto asks every list";
    return { name, finding: "differ", detail, meaning, trouble: true };
  }
  if (agree > 0) {
    return { name, finding: "agree", detail, meaning: "child_chunks: auto can do with fewer requests", trouble: false };
  }
  if (without > 0) {
    const meaning = "children are found by their lists alone";
    return { name, finding: "absent", detail, meaning, trouble: false };
  }
  return { name, finding: "unknown", detail: "no children were found in the sample", meaning: "", trouble: false };
}
