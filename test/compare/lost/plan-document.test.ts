import { describe, expect, it } from "vitest";
import type { DocumentRows } from "../../../src/compare/document-rows.js";
import { type DocumentHistory, noHistory } from "../../../src/compare/lost/evidence.js";
import { planDocument } from "../../../src/compare/lost/plan-document.js";
import { child, chunk, described, document } from "./rows.js";

interface Wishes {
  readonly history?: Partial<DocumentHistory>;
  readonly chosen?: readonly string[];
  readonly addDisabled?: boolean;
}

function plan(
  old: DocumentRows,
  target: DocumentRows,
  { history = {}, chosen = [], addDisabled = false }: Wishes = {},
) {
  const options = { chosen: new Set(chosen), addDisabled, document_name: "Handbook" };
  return planDocument(old, { ...noHistory, ...history }, target, options);
}
const planned = (...given: Parameters<typeof plan>) => described(plan(...given));

const by = { updated_by: "ann" };
const off = { enabled: false, disabled_by: "ann" };
/** A history in which one chunk said something else before. */
const was = (id: string, content: string): Wishes => ({ history: { chunks: new Map([[id, { content }]]) } });
const added = (...ids: readonly string[]) => ({ history: { added: new Set(ids) } });

describe("an edited chunk", () => {
  const old = document([chunk("c1", "intro"), chunk("c2", "edited", by), chunk("c3", "end")]);
  const around = (...chunks: readonly ReturnType<typeof chunk>[]) =>
    document([chunk("t1", "intro"), ...chunks, chunk("t9", "end")]);

  it("replaces the text that stood there before the edit", () => {
    expect(planned(old, around(chunk("t2", "before")), was("c2", "before"))).toEqual([
      "c2 over t2: edited [updated_by history]",
    ]);
  });
  it("is found by its text before the edit, not by its place", () => {
    expect(
      planned(old, document([chunk("t1", "x"), chunk("t2", "y"), chunk("t5", "before")]), was("c2", "before"))[0],
    ).toBe("c2 over t5: edited [updated_by history]");
  });
  it("is a conflict if the target says something else, with what stands at its place now", () => {
    expect(planned(old, around(chunk("t2", "newer")), was("c2", "before"))).toEqual([
      'conflict: c2, now "newer", replace',
    ]);
  });
  it("is a conflict without a place if two new chunks stand there", () => {
    const two = around(chunk("t2", "newer"), chunk("t3", "newest"));
    expect(planned(old, two, was("c2", "before"))).toEqual(["conflict: c2, add"]);
  });
  it("is a conflict if the chunk that it would replace is disabled", () => {
    const disabled = around(chunk("t2", "before", { enabled: false }));
    expect(planned(old, disabled, { ...was("c2", "before"), chosen: ["c2"] })).toEqual([
      'conflict: c2, now "before", no choice',
    ]);
  });
  it("prefers an enabled chunk among equal ones", () => {
    const equal = around(chunk("t2", "before", { enabled: false }), chunk("t3", "before"));
    expect(planned(old, equal, was("c2", "before"))).toEqual(["c2 over t3: edited [updated_by history]"]);
  });
  it("is listed if nobody knows what stood there before", () => {
    expect(planned(old, around(chunk("t2", "before")))).toEqual(['unknown before: c2, now "before", replace']);
  });
  it("is present if it stands in the target, whatever its position", () => {
    expect(planned(old, document([chunk("t7", "edited"), chunk("t8", "intro"), chunk("t9", "end")]))).toEqual([
      "1 present",
    ]);
  });
  it("is present if it stands inside a new chunk", () => {
    expect(planned(old, document([chunk("t1", "intro and edited and end")]), was("c2", "before"))).toEqual([
      "1 present",
    ]);
  });
  it("is brought back although it stands inside the text that it shortened", () => {
    expect(planned(old, around(chunk("t2", "edited, once long")), was("c2", "edited, once long"))).toEqual([
      "c2 over t2: edited [updated_by history]",
    ]);
  });
  it("is what counts in its place: a text that stands inside the one that it replaces is lost with that", () => {
    const two = document([chunk("c1", "edited", by), chunk("c2", "part")]);
    const history = { chunks: new Map([["c1", { content: "before and part" }]]), added: new Set(["c2"]) };
    expect(planned(two, document([chunk("t1", "before and part")]), { history })).toEqual([
      "c1 over t1: edited [updated_by history]",
      "add c2: part [history]",
    ]);
    expect(planned(two, document([chunk("t1", "before and part", { enabled: false })]), { history })).toEqual([
      'conflict: c1, now "before and part", no choice',
      "1 present",
    ]);
  });
  it("takes no chunk that another one is paired with", () => {
    const twice = document([chunk("c1", "before"), chunk("c2", "edited", by)]);
    expect(planned(twice, document([chunk("t1", "before")]), was("c2", "before"))).toEqual(["conflict: c2, add"]);
    expect(planned(twice, document([chunk("t1", "before"), chunk("t2", "before")]), was("c2", "before"))).toEqual([
      "c2 over t2: edited [updated_by history]",
    ]);
  });
  it("takes the k-th of equal texts if it is the k-th that was edited", () => {
    const olds = document([chunk("c1", "one", by), chunk("c2", "two", by), chunk("c3", "three", by)]);
    const history = { chunks: new Map(["c1", "c2", "c3"].map((id) => [id, { content: "before" }])) };
    expect(planned(olds, document([chunk("t1", "before"), chunk("t2", "before")]), { history })).toEqual([
      "c1 over t1: one [updated_by history]",
      "c2 over t2: two [updated_by history]",
      "conflict: c3, add",
    ]);
  });
  it("keeps the keywords of its target if it has none, and brings its own", () => {
    const keys = document([chunk("c1", "edited", { ...by, keywords: ["k"] })]);
    const target = document([chunk("t1", "before", { keywords: ["machine"] })]);
    expect(planned(keys, target, was("c1", "before"))).toEqual(["c1 over t1: edited #k [updated_by history]"]);
    expect(planned(document([chunk("c1", "edited", by)]), target, was("c1", "before"))).toEqual([
      "c1 over t1: edited [updated_by history]",
    ]);
  });
  it("is known by the history alone, too", () => {
    expect(planned(document([chunk("c1", "edited")]), document([chunk("t1", "before")]), was("c1", "before"))).toEqual([
      "c1 over t1: edited [history]",
    ]);
  });
  it("is disabled once it is brought back, if somebody had disabled it", () => {
    const disabled = document([chunk("c1", "edited", { ...by, ...off })]);
    expect(planned(disabled, document([chunk("t1", "before")]), was("c1", "before"))).toEqual([
      "c1 over t1: edited [updated_by disabled_by history]",
      "disable t1",
    ]);
  });
  it("announces attachments and a summary that do not come back", () => {
    const rich = document([chunk("c1", "edited", { ...by, attachment_ids: ["a", "b"], summary: "short" })]);
    const target = document([chunk("t1", "before", { attachment_ids: ["b"] })]);
    expect(planned(rich, target, was("c1", "before"))).toEqual([
      "c1 over t1: edited [updated_by history]",
      "loses attachments of c1",
      "loses summary of c1",
    ]);
  });
});

describe("a chunk that is no loss", () => {
  it("does nothing if nobody touched it and it stands there", () => {
    expect(
      planned(document([chunk("c1", "a"), chunk("c2", "b")]), document([chunk("t1", "b"), chunk("t2", "a")])),
    ).toEqual([]);
  });
  it("does nothing if it stands inside a new chunk", () => {
    expect(planned(document([chunk("c1", "a\n"), chunk("c2", "b")]), document([chunk("t1", "a\nb")]))).toEqual([]);
  });
  it("does nothing if it is blank", () => {
    expect(planned(document([chunk("c1", " \n"), chunk("c2", "")]), document([]))).toEqual([]);
  });
});

describe("a lost chunk without a sign", () => {
  const old = document([chunk("c1", "a"), chunk("c2", "gone"), chunk("c3", "b")]);
  const target = document([chunk("t1", "a"), chunk("t2", "new"), chunk("t3", "b")]);
  it("is listed, and never written", () => {
    expect(planned(old, target)).toEqual(['no evidence: c2, now "new", replace']);
  });
  it("counts blanks: a text without them is another one", () => {
    expect(planned(document([chunk("c1", "gone \n")]), document([chunk("t1", "gone")]))).toEqual([
      'no evidence: c1, now "gone", replace',
    ]);
  });
  it("comes back over what stands at its place if it is chosen", () => {
    expect(planned(old, target, { chosen: ["c2"] })).toEqual(["c2 over t2: gone [chosen]"]);
  });
  it("has no place if its neighbours stand the other way round", () => {
    const turned = document([chunk("t1", "b"), chunk("t2", "new"), chunk("t3", "a")]);
    expect(planned(old, turned, { chosen: ["c2"] })).toEqual(["add c2: gone [chosen]"]);
  });
  it("has no place beside another lost one", () => {
    const two = document([chunk("c1", "a"), chunk("c2", "gone"), chunk("c3", "too"), chunk("c4", "b")]);
    expect(planned(two, target)).toEqual(["no evidence: c2, add", "no evidence: c3, add"]);
  });
  it("has a place at the borders of the document", () => {
    expect(planned(document([chunk("c1", "gone")]), document([chunk("t1", "new")]))).toEqual([
      'no evidence: c1, now "new", replace',
    ]);
  });
  it("cannot be chosen where a disabled chunk stands", () => {
    const disabled = document([chunk("t1", "a"), chunk("t2", "new", { enabled: false }), chunk("t3", "b")]);
    expect(planned(old, disabled, { chosen: ["c2"] })).toEqual(['no evidence: c2, now "new", no choice']);
  });
  it("is no person's because it was created long after the others", () => {
    const late = document([chunk("c1", "a"), chunk("c2", "b"), chunk("c3", "late", { created_at: 500_000 })]);
    expect(planned(late, document([chunk("t1", "a"), chunk("t2", "b")]))).toEqual(["no evidence: c3, add"]);
  });
});

describe("an edit that no run has seen from before, in a document whose details are known", () => {
  const provenance = { source: "file 1, rule 1", indexed_at: 2_000 };
  const made = (chunks: readonly ReturnType<typeof chunk>[], more = {}) =>
    document(chunks, [], "text_model", { ...provenance, ...more });
  /** The same document, indexed again. */
  const again = (chunks: readonly ReturnType<typeof chunk>[], more = {}) =>
    made(chunks, { indexed_at: 5_000, ...more });
  const old = made([chunk("c1", "intro"), chunk("c2", "edited", by), chunk("c3", "end")]);
  const target = (second: Parameters<typeof chunk>[2] = {}, more = {}) =>
    again([chunk("t1", "intro"), chunk("t2", "before", second), chunk("t9", "end")], more);
  const restored = ["c2 over t2: edited [updated_by neighbours]"];
  const undecided = ['unknown before: c2, now "before", replace'];

  it("replaces the chunk between the same neighbours", () => {
    expect(planned(old, target())).toEqual(restored);
  });
  it("replaces it at the beginning and at the end of the document, too", () => {
    const edges = made([chunk("c1", "first", by), chunk("c2", "middle"), chunk("c3", "last", by)]);
    const before = again([chunk("t1", "one"), chunk("t2", "middle"), chunk("t3", "three")]);
    expect(planned(edges, before)).toEqual([
      "c1 over t1: first [updated_by neighbours]",
      "c3 over t3: last [updated_by neighbours]",
    ]);
  });
  it("replaces it although it stands inside the text that it shortened", () => {
    const longer = again([chunk("t1", "intro"), chunk("t2", "edited, once long"), chunk("t3", "end")]);
    expect(planned(old, longer)).toEqual(restored);
  });
  it("is disabled again", () => {
    const disabled = made([chunk("c1", "intro"), chunk("c2", "edited", { ...by, ...off }), chunk("c3", "end")]);
    expect(planned(disabled, target())).toEqual([
      "c2 over t2: edited [updated_by disabled_by neighbours]",
      "disable t2",
    ]);
  });
  it.each<[string, DocumentRows, DocumentRows]>([
    ["the file is another one", old, target({}, { source: "file 2, rule 1" })],
    ["the process rule is another one", old, target({}, { source: "file 1, rule 2" })],
    ["the newer details are not known", old, target({}, { source: null, indexed_at: null })],
    ["the older details are not known", document(old.chunks), target()],
    ["it is not known when it was indexed", made(old.chunks, { indexed_at: null }), target()],
    ["it is not known when it was indexed again", old, target({}, { indexed_at: null })],
    ["it was not indexed again since", old, target({}, { indexed_at: 2_000 })],
    ["a person has added the new chunk", old, target({ created_at: 5_001 })],
    ["the new chunk is not indexed yet", old, target({ status: "waiting" })],
    ["its position is another one", old, target({ position: 7 })],
    ["a person has edited the new chunk", old, target({ updated_by: "bob" })],
    ["a person has disabled the new chunk", old, target({ disabled_by: "bob" })],
  ])("needs a decision if %s", (_, older, newer) => {
    expect(planned(older, newer)).toEqual(undecided);
  });
  it("needs a decision beside another edit, and where two chunks stand in its place", () => {
    const two = made([
      chunk("c1", "intro"),
      chunk("c2", "edited", by),
      chunk("c3", "edited too", by),
      chunk("c4", "end"),
    ]);
    const wide = again([chunk("t1", "intro"), chunk("t2", "before"), chunk("t3", "more"), chunk("t4", "end")]);
    expect(planned(two, wide)).toEqual(["unknown before: c2, add", "unknown before: c3, add"]);
    expect(planned(old, wide)).toEqual(["unknown before: c2, add"]);
  });
  it("needs a decision if another chunk has moved between its neighbours", () => {
    const moved = made([chunk("c1", "intro"), chunk("c2", "edited", by), chunk("c3", "end"), chunk("c4", "more")]);
    const now = again([chunk("t1", "intro"), chunk("t2", "before"), chunk("t3", "more"), chunk("t4", "end")]);
    expect(planned(moved, now)).toEqual(undecided);
  });
  it("is added, not put over the chunk that a person deleted, if it was created after the indexing", () => {
    const late = made([chunk("c1", "intro"), chunk("c2", "mine", { ...by, created_at: 2_001 }), chunk("c3", "end")]);
    expect(planned(late, target())).toEqual(["add c2: mine [updated_by created_at]"]);
    const last = made([chunk("c1", "intro"), chunk("c2", "mine", { created_at: 2_001 })]);
    expect(planned(last, again([chunk("t1", "intro"), chunk("t2", "deleted by a person")]))).toEqual([
      "add c2: mine [created_at]",
    ]);
  });
  it("counts only what the indexing made: chunks that people added at the end change nothing", () => {
    const work = [chunk("c1", "intro"), chunk("c2", "edited", by), chunk("c3", "mine", { created_at: 2_001 })];
    const plain = [chunk("t1", "intro"), chunk("t2", "before")];
    expect(planned(made(work), again(plain))).toEqual([
      "c2 over t2: edited [updated_by neighbours]",
      "add c3: mine [created_at]",
    ]);
    const continued = again([...plain, chunk("t3", "mine", { created_at: 5_001 })]);
    expect(planned(made(work), continued)).toEqual(["c2 over t2: edited [updated_by neighbours]", "1 present"]);
  });
  it("takes no chunk that another edit takes by its text from before", () => {
    const twice = [chunk("c1", "A"), chunk("c2", "E2", by), chunk("c3", "C"), chunk("c4", "E4", by), chunk("c5", "D")];
    const now = ["A", "B", "C", "B", "D"].map((content, at) => chunk(`t${at + 1}`, content));
    expect(planned(made(twice), again(now), was("c4", "B"))).toEqual([
      "c2 over t2: E2 [updated_by neighbours]",
      "c4 over t4: E4 [updated_by history]",
    ]);
  });
  it("is no person's by its time alone if most chunks are younger than the indexing: the clocks differ", () => {
    const late = { created_at: 2_001 };
    const skewed = made([chunk("c1", "A", late), chunk("c2", "B old", late), chunk("c3", "C", { created_at: 1_999 })]);
    const other = again([chunk("t1", "A"), chunk("t2", "B new"), chunk("t3", "C")], { source: "file 2" });
    expect(planned(skewed, other)).toEqual(['no evidence: c2, now "B new", replace']);
  });
  it("of an answer replaces the one of the same question, as a model may ask others the next time", () => {
    const qa = (content: string, answer: string, id: string, more = {}) =>
      document([chunk(id, content, { answer, ...more })], [], "qa_model", {
        ...provenance,
        indexed_at: id === "t1" ? 5_000 : 2_000,
      });
    const edit = qa("why?", "mine", "c1", by);
    expect(planned(edit, qa("why?", "because", "t1"))).toEqual(["c1 over t1: why? → mine [updated_by neighbours]"]);
    expect(planned(edit, qa("who?", "she", "t1"))).toEqual(['unknown before: c1, now "who?", replace']);
  });
  it("of a child chunk replaces the one between the same neighbours, if the indexing made it", () => {
    const family = (...children: readonly ReturnType<typeof child>[]) =>
      document([chunk("c1", "parent")], children, "hierarchical_model", provenance);
    const now = document(
      [chunk("t1", "parent")],
      [child("t1", "n1", "one"), child("t1", "n2", "two"), child("t1", "n3", "three")],
      "hierarchical_model",
      { ...provenance, indexed_at: 5_000 },
    );
    const [one, three] = [child("c1", "k1", "one"), child("c1", "k3", "three")];
    const edited = child("c1", "k2", "edited", "customized");
    expect(planned(family(one, edited, three), now)).toEqual(["child k2 over n2: edited [customized neighbours]"]);
    const late = child("c1", "k2", "mine", "customized", 2_001);
    expect(planned(family(one, late, three), now)).toEqual(["child k2 below t1: mine [customized]"]);
    const elsewhere = { ...edited, position: 1.5 };
    expect(planned(family(one, elsewhere, three), now)).toEqual(["child k2 below t1: edited [customized]"]);
  });
});

describe("a chunk that was added by hand", () => {
  const old = document([chunk("c1", "a"), chunk("c2", "mine"), chunk("c3", "hidden", off)]);
  const target = document([chunk("t1", "a")]);
  it("is added again", () => {
    expect(planned(document(old.chunks.slice(0, 2)), target, added("c2"))).toEqual(["add c2: mine [history]"]);
  });
  it("is left to the owner if it was disabled", () => {
    expect(planned(old, target, added("c2", "c3"))).toEqual(["add c2: mine [history]", "disabled: c3, add"]);
  });
  it("is added and disabled if the owner wants disabled ones, or that one", () => {
    const all = ["add c2: mine [history]", "add c3: hidden [history]", "disable new"];
    expect(planned(old, target, { ...added("c2", "c3"), addDisabled: true })).toEqual(all);
    expect(planned(old, target, { ...added("c2", "c3"), chosen: ["c3"] })).toEqual([
      "add c2: mine [history]",
      "add c3: hidden [chosen]",
      "disable new",
    ]);
  });
  it("is added as it was edited last", () => {
    const history = { added: new Set(["c2"]), chunks: new Map([["c2", { content: "a first try" }]]) };
    const edited = document([chunk("c1", "a"), chunk("c2", "mine", by)]);
    expect(planned(edited, document([chunk("t1", "a first try")]), { history })).toContain(
      "add c2: mine [updated_by history]",
    );
  });
});

describe("a chunk that was disabled by hand", () => {
  const old = document([chunk("c1", "a", off), chunk("c2", "b")]);
  it("is disabled again", () => {
    expect(planned(old, document([chunk("t1", "b"), chunk("t2", "a")]))).toEqual(["disable t2 for c1 [disabled_by]"]);
  });
  it("is present if it is disabled", () => {
    expect(planned(old, document([chunk("t1", "a", { enabled: false }), chunk("t2", "b")]))).toEqual(["1 present"]);
  });
  it("is a conflict if its text is gone", () => {
    expect(planned(old, document([chunk("t1", "A"), chunk("t2", "b")]))).toEqual(['conflict: c1, now "A", replace']);
  });
  it("is known by the history, unless its indexing failed", () => {
    const history = { chunks: new Map([["c1", { enabled: true }]]) };
    const [quiet, failed] = ["completed", "error"].map((status) =>
      document([chunk("c1", "a", { enabled: false, status })]),
    );
    expect(planned(quiet ?? old, document([chunk("t1", "a")]), { history })).toEqual(["disable t1 for c1 [history]"]);
    expect(planned(failed ?? old, document([chunk("t1", "a")]), { history })).toEqual([]);
  });
  it("does not enable what somebody disabled since", () => {
    expect(planned(document([chunk("c1", "a", by)]), document([chunk("t1", "a", off)]))).toEqual(["1 present"]);
  });
});

describe("keywords that were edited", () => {
  const edited = (keywords: readonly string[], more = {}) => document([chunk("c1", "a", { keywords, ...more })]);
  const history = { chunks: new Map([["c1", { keywords: ["old", "both"] }]]) };
  const has = (...keywords: readonly string[]) => document([chunk("t1", "a", { keywords })]);
  it("come back where those before the edit stand, in whatever order", () => {
    expect(planned(edited(["new", "both"]), has("both", "old"), { history })).toEqual([
      "c1 over t1: a #new #both [history]",
    ]);
  });
  it("come back where there are none", () => {
    expect(planned(edited(["new"]), has(), { history })).toEqual(["c1 over t1: a #new [history]"]);
  });
  it("are present where they stand, in whatever order", () => {
    expect(planned(edited(["new", "both"]), has("both", "new"), { history })).toEqual(["1 present"]);
  });
  it("are a conflict where others stand", () => {
    expect(planned(edited(["new"]), has("third"), { history })).toEqual(['conflict: c1, now "a", replace']);
    expect(planned(edited(["new"]), has("third"), { history, chosen: ["c1"] })).toEqual([
      "c1 over t1: a #new [chosen]",
    ]);
  });
  it("are an announced loss if they were emptied", () => {
    expect(planned(edited([]), has("old", "both"), { history })).toEqual(["loses keywords of c1"]);
    const both = { chunks: new Map([["c1", { keywords: ["old"], content: "before" }]]) };
    const target = document([chunk("t1", "before", { keywords: ["old"] })]);
    expect(planned(edited([]), target, { history: both })).toEqual(["c1 over t1: a [history]", "loses keywords of c1"]);
  });
  it("come back together with the disabling", () => {
    expect(planned(edited(["new"], off), has("old", "both"), { history })).toEqual([
      "c1 over t1: a #new [disabled_by history]",
      "disable t1",
    ]);
    expect(planned(edited(["new"], off), has("third"), { history })).toEqual([
      "disable t1 for c1 [disabled_by]",
      'conflict: c1, now "a", replace',
    ]);
  });
});

describe("a document of questions and answers", () => {
  const qa = (...chunks: readonly ReturnType<typeof chunk>[]) => document(chunks, [], "qa_model");
  it("takes an edit of the answer alone for an edit", () => {
    const history = { chunks: new Map([["c1", { answer: "before" }]]) };
    const old = qa(chunk("c1", "why?", { answer: "because", ...by }));
    expect(planned(old, qa(chunk("t1", "why?", { answer: "before" })), { history })).toEqual([
      "c1 over t1: why? → because [updated_by history]",
    ]);
    expect(planned(old, qa(chunk("t1", "why?", { answer: "newer" })), { history })).toEqual([
      'conflict: c1, now "why?", replace',
    ]);
  });
  it("has a chunk inside another one only if question and answer stand there", () => {
    const old = qa(chunk("c1", "why", { answer: "because", ...by }));
    expect(planned(old, qa(chunk("t1", "why?", { answer: "just because" })))).toEqual(["1 present"]);
    expect(planned(old, qa(chunk("t1", "why?", { answer: "no" })))).toEqual([
      'unknown before: c1, now "why?", replace',
    ]);
  });
  it("lists a question without an answer, which no request can add", () => {
    expect(planned(qa(chunk("c1", "why?", { answer: "" })), qa(), { ...added("c1"), chosen: ["c1"] })).toEqual([
      "no evidence: c1, no choice",
    ]);
  });
  it("takes no answer and an empty one for the same", () => {
    expect(
      planned(document([chunk("c1", "a", { answer: null })]), document([chunk("t1", "a", { answer: "" })])),
    ).toEqual([]);
  });
});

describe("a document that was not indexed anew", () => {
  it("lists what a person deleted or changed since, and writes nothing", () => {
    const old = document([
      chunk("c1", "a"),
      chunk("c2", "mine"),
      chunk("c3", "edited", by),
      chunk("c4", "hidden", off),
    ]);
    const history = { added: new Set(["c2"]), chunks: new Map([["c3", { content: "before" }]]) };
    const now = document([chunk("c1", "a"), chunk("c3", "before"), chunk("c4", "hidden")]);
    expect(planned(old, now, { history })).toEqual([
      "no evidence: c2, add",
      'no evidence: c3, now "before", replace',
      "1 present",
    ]);
    expect(planned(old, now, { history, chosen: ["c2", "c3"] })).toEqual([
      "add c2: mine [chosen]",
      "c3 over c3: edited [chosen]",
      "1 present",
    ]);
  });
  it("replaces nothing that a person put in the place of a deleted chunk", () => {
    const old = document([chunk("c1", "a"), chunk("c2", "gone"), chunk("c3", "b")]);
    const now = document([chunk("c1", "a"), chunk("n2", "new"), chunk("c3", "b")]);
    expect(planned(old, now)).toEqual(["no evidence: c2, add"]);
  });
  it("says nothing of chunks that were edited after the run", () => {
    expect(planned(document([chunk("c1", "a")]), document([chunk("c1", "b", by)]))).toEqual([]);
  });
});

describe("child chunks", () => {
  const manual = "customized";
  const parents = [chunk("c1", "p"), chunk("c2", "q")];
  const tree = (...children: readonly ReturnType<typeof child>[]) => document(parents, children, "hierarchical_model");
  const target = (...children: readonly ReturnType<typeof child>[]) =>
    document([chunk("t1", "p"), chunk("t2", "q")], children, "hierarchical_model");
  const first = (content: string) => ({ history: { children: new Map([["k1", content]]) } });

  it("of the indexer are left alone", () => {
    expect(planned(tree(child("c1", "k1", "x")), target())).toEqual([]);
  });
  it("that stand below the parent of the target are present", () => {
    expect(planned(tree(child("c1", "k1", "x", manual)), target(child("t1", "u5", "x")))).toEqual(["1 present"]);
  });
  it("that stand below another parent only are added", () => {
    expect(planned(tree(child("c1", "k1", "x", manual)), target(child("t2", "u1", "x")))).toEqual([
      "child k1 below t1: x [customized]",
    ]);
  });
  it("replace the automatic one that has the text before the edit", () => {
    const old = tree(child("c1", "k1", "x", manual));
    expect(planned(old, target(child("t1", "u1", "y"), child("t1", "u2", "b")), first("b"))).toEqual([
      "child k1 over u2: x [customized history]",
    ]);
  });
  it("are added beside a customized one, or one that says something else", () => {
    const old = tree(child("c1", "k1", "x", manual));
    const added = ["child k1 below t1: x [customized history]"];
    expect(planned(old, target(child("t1", "u1", "b", manual)), first("b"))).toEqual(added);
    expect(planned(old, target(child("t1", "u1", "else")), first("b"))).toEqual(added);
  });
  it("are added if nobody knows what stood there before", () => {
    expect(planned(tree(child("c1", "k1", "x", manual)), target(child("t1", "u1", "y")))).toEqual([
      "child k1 below t1: x [customized]",
    ]);
  });
  it("count: two equal ones are there only if two are", () => {
    const old = tree(child("c1", "k1", "x", manual), child("c1", "k2", "x", manual));
    expect(planned(old, target(child("t1", "u1", "x")))).toEqual(["child k2 below t1: x [customized]", "1 present"]);
  });
  it("replace one twin each", () => {
    const old = tree(child("c1", "k1", "x", manual), child("c1", "k2", "y", manual));
    const history = {
      children: new Map([
        ["k1", "b"],
        ["k2", "b"],
      ]),
    };
    expect(planned(old, target(child("t1", "u1", "b")), { history })).toEqual([
      "child k1 over u1: x [customized history]",
      "child k2 below t1: y [customized history]",
    ]);
  });
  it("follow their parent to the chunk that takes its text, and to the one that is added", () => {
    const old = document(
      [chunk("c1", "edited", by), chunk("c2", "mine")],
      [child("c1", "k1", "x", manual), child("c2", "k2", "y", manual), child("c2", "k3", "auto")],
    );
    const history = { chunks: new Map([["c1", { content: "p" }]]), added: new Set(["c2"]) };
    expect(planned(old, document([chunk("t1", "p")]), { history })).toEqual([
      "c1 over t1: edited [updated_by history]",
      "child k1 below t1: x [customized]",
      "add c2: mine [history]",
      "child k2 below new: y [customized]",
    ]);
  });
  it("have no place if their parent is gone, or stands inside another chunk", () => {
    const old = tree(child("c1", "k1", "x", manual), child("c2", "k2", "y", manual));
    expect(
      planned(old, document([chunk("t1", "p and more")], [], "hierarchical_model"), { chosen: ["k1", "k2"] }),
    ).toEqual(["no place: k1, no choice", "no evidence: c2, add", "no place: k2, no choice"]);
  });
  it("come back with a parent that is chosen", () => {
    const old = document([chunk("c1", "p")], [child("c1", "k1", "x", manual)]);
    expect(planned(old, document([]), { chosen: ["c1"] })).toEqual([
      "add c1: p [chosen]",
      "child k1 below new: x [customized]",
    ]);
  });
  it("that a person deleted since are left to the owner", () => {
    const old = document([chunk("c1", "p")], [child("c1", "k1", "x", manual)]);
    const now = document([chunk("c1", "p")]);
    expect(planned(old, now)).toEqual(["no evidence: k1, add"]);
    expect(planned(old, now, { chosen: ["k1"] })).toEqual(["child k1 below c1: x [chosen]"]);
  });
});

describe("a document", () => {
  it("is refused if its form is another one", () => {
    const now = document([chunk("t1", "b")], [], "hierarchical_model");
    expect(planned(document([chunk("c1", "a", by)]), now)).toEqual([
      "refused: It was text_model and is hierarchical_model now: its chunks cannot be compared.",
    ]);
  });
  it("of which nobody knows the form is compared by content and answer", () => {
    const old = document([chunk("c1", "a", { answer: "x", ...by })], [], null);
    const now = document([chunk("t1", "a", { answer: "y" })], [], null);
    expect(planned(old, now, { history: { chunks: new Map([["c1", { answer: "y" }]]) } })).toEqual([
      "c1 over t1: a → x [updated_by history]",
    ]);
  });
  it("is planned in the order of its positions; chunks without one come last", () => {
    const old = document([chunk("c9", "x"), chunk("c1", "y", { position: null }), chunk("c2", "z")]);
    expect(planned(old, document([]), added("c9", "c1", "c2")).map((line) => line.slice(0, 6))).toEqual([
      "add c2",
      "add c9",
      "add c1",
    ]);
  });
});
