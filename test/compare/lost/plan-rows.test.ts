import { describe, expect, it } from "vitest";
import { planAll, planning, type Wishes } from "./planned.js";
import { child, chunk, document } from "./rows.js";

const planned = planning();

const by = { updated_by: "ann" };
const off = { enabled: false, disabled_by: "ann" };
/** Test options: a history in which the chunk with this id had another content. */
const was = (id: string, content: string): Wishes => ({ history: { chunks: new Map([[id, { content }]]) } });
/** The user's decision to restore these rows only. */
const yes = (...ids: readonly string[]) => new Map(ids.map((id) => [id, { restore: true }]));
const no = (...ids: readonly string[]) => new Map(ids.map((id) => [id, { restore: false }]));
const added = (...ids: readonly string[]) => ({ history: { added: new Set(ids) } });

it.each([
  [
    "no database",
    {},
    {},
    / known: there is no database of the job, .*; add duckdb to output.formats\. Nor .* details: true\.$/,
  ],
  [
    "a history that begins after the edit",
    { history: {} },
    {},
    / known: the history .*; run the job more often\. Nor /,
  ],
  ["no database, and details", {}, { source: "file" }, / known: there is no database of the job, .* output.formats\.$/],
])("an edit without a place says why, and what helps: %s", async (_, wishes, details, reason) => {
  const old = document([chunk("c1", "edited", by), chunk("c2", "end")], [], "text_model", details);
  const target = document([chunk("t1", "other", by), chunk("t2", "end")], [], "text_model", details);
  const [plan] = await planAll([{ old, target, ...wishes }]);
  expect(plan?.listed.map((row) => row.reason)).toEqual([expect.stringMatching(reason)]);
});

describe("an edited chunk", () => {
  const old = document([chunk("c1", "intro"), chunk("c2", "edited", by), chunk("c3", "end")]);
  const around = (...chunks: readonly ReturnType<typeof chunk>[]) =>
    document([chunk("t1", "intro"), ...chunks, chunk("t9", "end")]);

  planned("replaces the text that stood there before the edit", (plans) => {
    plans([old, around(chunk("t2", "before")), was("c2", "before")], ["c2 over t2: edited [updated_by history]"]);
  });
  planned("is found by its text before the edit, not by its place", (plans) => {
    plans(
      [old, document([chunk("t1", "x"), chunk("t2", "y"), chunk("t5", "before")]), was("c2", "before")],
      ["c2 over t5: edited [updated_by history]", "2 lost"],
    );
  });
  planned("needs a decision if the target says something else, with what stands at its place now", (plans) => {
    plans([old, around(chunk("t2", "newer")), was("c2", "before")], ['needs your decision: c2, now "newer", replace']);
  });
  planned("has no place if two new chunks stand there", (plans) => {
    const two = around(chunk("t2", "newer"), chunk("t3", "newest"));
    plans([old, two, was("c2", "before")], ["needs your decision: c2, add"]);
  });
  planned("needs a decision if the chunk that it would replace is disabled", (plans) => {
    const disabled = around(chunk("t2", "before", { enabled: false }));
    plans(
      [old, disabled, { ...was("c2", "before"), decisions: yes("c2") }],
      ['needs your decision: c2, now "before", no choice'],
    );
  });
  planned("prefers an enabled chunk among equal ones", (plans) => {
    const equal = around(chunk("t2", "before", { enabled: false }), chunk("t3", "before"));
    plans([old, equal, was("c2", "before")], ["c2 over t3: edited [updated_by history]"]);
  });
  planned("needs a decision if the text before is unknown", (plans) => {
    plans([old, around(chunk("t2", "before"))], ['needs your decision: c2, now "before", replace']);
  });
  planned("is present if it stands in the target, whatever its position", (plans) => {
    plans([old, document([chunk("t7", "edited"), chunk("t8", "intro"), chunk("t9", "end")])], ["1 present"]);
  });
  planned("is listed as found if it stands inside a new chunk", (plans) => {
    plans(
      [old, document([chunk("t1", "intro and edited and end")]), was("c2", "before")],
      ["found inside: c2, add", "2 lost"],
    );
  });
  planned("is brought back although it stands inside the text that it shortened", (plans) => {
    plans(
      [old, around(chunk("t2", "edited, once long")), was("c2", "edited, once long")],
      ["c2 over t2: edited [updated_by history]"],
    );
  });
  planned(
    "is what counts in its place: a text that stands inside the one that it replaces is lost with that",
    (plans) => {
      const two = document([chunk("c1", "edited", by), chunk("c2", "part")]);
      const history = { chunks: new Map([["c1", { content: "before and part" }]]), added: new Set(["c2"]) };
      plans(
        [two, document([chunk("t1", "before and part")]), { history }],
        ["c1 over t1: edited [updated_by history]", "add c2: part [history]"],
      );
      plans(
        [two, document([chunk("t1", "before and part", { enabled: false })]), { history }],
        ["add c2: part [history]", 'needs your decision: c1, now "before and part", no choice'],
      );
    },
  );
  planned("takes no chunk that another one is paired with", (plans) => {
    const twice = document([chunk("c1", "before"), chunk("c2", "edited", by)]);
    plans([twice, document([chunk("t1", "before")]), was("c2", "before")], ["needs your decision: c2, add"]);
    plans(
      [twice, document([chunk("t1", "before"), chunk("t2", "before")]), was("c2", "before")],
      ["c2 over t2: edited [updated_by history]"],
    );
  });
  planned(
    "takes the k-th of equal texts if it is the k-th that was edited, and none if there are fewer, or more",
    (plans) => {
      const olds = document([chunk("c1", "one", by), chunk("c2", "two", by), chunk("c3", "three", by)]);
      const history = { chunks: new Map(["c1", "c2", "c3"].map((id) => [id, { content: "before" }])) };
      const times = (count: number) =>
        document(Array.from({ length: count }, (_, at) => chunk(`t${at + 1}`, "before")));
      plans(
        [olds, times(3), { history }],
        [
          "c1 over t1: one [updated_by history]",
          "c2 over t2: two [updated_by history]",
          "c3 over t3: three [updated_by history]",
        ],
      );
      const undecided = ["c1", "c2", "c3"].map((id) => `needs your decision: ${id}, add`);
      plans([olds, times(2), { history }], undecided);
      plans([olds, times(4), { history }], undecided);
    },
  );
  planned("keeps the keywords of its target if it has none, and brings its own", (plans) => {
    const keys = document([chunk("c1", "edited", { ...by, keywords: ["k"] })]);
    const target = document([chunk("t1", "before", { keywords: ["machine"] })]);
    plans([keys, target, was("c1", "before")], ["c1 over t1: edited #k [updated_by history]"]);
    plans(
      [document([chunk("c1", "edited", by)]), target, was("c1", "before")],
      ["c1 over t1: edited [updated_by history]"],
    );
  });
  planned("is known by the history alone, too", (plans) => {
    plans(
      [document([chunk("c1", "edited")]), document([chunk("t1", "before")]), was("c1", "before")],
      ["c1 over t1: edited [history]"],
    );
  });
  planned("is disabled once it is brought back, if a person had disabled it", (plans) => {
    const disabled = document([chunk("c1", "edited", { ...by, ...off })]);
    plans(
      [disabled, document([chunk("t1", "before")]), was("c1", "before")],
      ["c1 over t1: edited [updated_by disabled_by history]", "disable t1"],
    );
  });
  planned("announces attachments and a summary that do not come back", (plans) => {
    const rich = document([chunk("c1", "edited", { ...by, attachment_ids: ["a", "b"], summary: "short" })]);
    const target = document([chunk("t1", "before", { attachment_ids: ["b"] })]);
    plans(
      [rich, target, was("c1", "before")],
      ["c1 over t1: edited [updated_by history]", "loses attachments of c1", "loses summary of c1"],
    );
  });
});

describe("a chunk without manual edits", () => {
  planned("is no loss if it stands in the target", (plans) => {
    plans([document([chunk("c1", "a"), chunk("c2", "b")]), document([chunk("t1", "b"), chunk("t2", "a")])], []);
  });
  planned("is only counted as lost if it stands inside a new chunk, or is blank", (plans) => {
    plans([document([chunk("c1", "a\n"), chunk("c2", "b")]), document([chunk("t1", "a\nb")])], ["2 lost"]);
    plans([document([chunk("c1", " \n"), chunk("c2", "")]), document([])], ["2 lost"]);
  });
});

describe("a lost chunk without a sign", () => {
  const old = document([chunk("c1", "a"), chunk("c2", "gone"), chunk("c3", "b")]);
  const target = document([chunk("t1", "a"), chunk("t2", "new"), chunk("t3", "b")]);
  planned("is counted, and never written", (plans) => {
    plans([old, target], ["1 lost"]);
    const two = document([chunk("c1", "a"), chunk("c2", "gone"), chunk("c3", "too"), chunk("c4", "b")]);
    plans([two, target], ["2 lost"]);
  });
  planned("counts blanks: a text without them is another one", (plans) => {
    plans([document([chunk("c1", "gone \n")]), document([chunk("t1", "gone")])], ["1 lost"]);
  });
  planned("is added if it is chosen, and replaces nothing", (plans) => {
    plans([old, target, { decisions: yes("c2") }], ["add c2: gone [chosen]", "1 lost"]);
    const beside = document([...old.chunks, chunk("c4", "mine", by)]);
    const now = document([...target.chunks, chunk("t4", "mine")]);
    plans([beside, now, { decisions: yes("c2") }], ["add c2: gone [chosen]", "1 lost", "1 present"]);
  });
  planned("is no person's because it was created long after the others", (plans) => {
    const late = document([chunk("c1", "a"), chunk("c2", "b"), chunk("c3", "late", { created_at: 500_000 })]);
    plans([late, document([chunk("t1", "a"), chunk("t2", "b")])], ["1 lost"]);
  });
});

describe("a lost edit without a known place", () => {
  const old = document([chunk("c1", "a"), chunk("c2", "gone", by), chunk("c3", "b")]);
  const target = document([chunk("t1", "a"), chunk("t2", "new"), chunk("t3", "b")]);
  const decided = (now: string | null) => ({ decisions: new Map([["c2", { restore: true, now }]]) });

  planned("comes back over what stands at its place if it is chosen", (plans) => {
    plans([old, target, { decisions: yes("c2") }], ["c2 over t2: gone [chosen]"]);
    plans([old, target, decided("new")], ["c2 over t2: gone [chosen]"]);
  });
  planned("does not if something else stands there than at the decision", (plans) => {
    plans([old, target, decided("other")], ['needs your decision: c2, now "new", replace']);
    plans([old, target, decided(null)], ['needs your decision: c2, now "new", replace']);
  });
  planned("is left out if the owner says so, and waits if the owner does not name it", (plans) => {
    plans([old, target, { decisions: new Map() }], ['needs your decision: c2, now "new", replace']);
    const no = new Map([["c2", { restore: false }]]);
    plans([old, target, { decisions: no }], ['left out: c2, now "new", replace']);
  });
  planned("is added at the end if all manual edits are wanted", (plans) => {
    plans([old, target, { addManualEdits: true }], ["add c2: gone [chosen]"]);
  });
  planned("is not added if a request cannot, if it stands inside a chunk, or if it was only disabled", (plans) => {
    const all = { addManualEdits: true };
    const one = (content: string, more = {}) => document([chunk("c1", content, { ...by, ...more })]);
    plans([one(" \n"), document([chunk("t1", "x")]), all], ['cannot be restored: c1, now "x", no choice']);
    plans([one("x"), document([chunk("t1", "x, y")]), all], ['found inside: c1, now "x, y", replace']);
    plans(
      [one("x", { ...off, updated_by: null }), document([chunk("t1", "y")]), all],
      ['needs your decision: c1, now "y", replace'],
    );
  });
  planned("has no place if its neighbours stand the other way round, or beside another lost one", (plans) => {
    const turned = document([chunk("t1", "b"), chunk("t2", "new"), chunk("t3", "a")]);
    plans([old, turned, { decisions: yes("c2") }], ["add c2: gone [chosen]"]);
    const two = document([chunk("c1", "a"), chunk("c2", "gone", by), chunk("c3", "too", by), chunk("c4", "b")]);
    plans([two, target], ["needs your decision: c2, add", "needs your decision: c3, add"]);
  });
  planned("has a place at the borders of the document", (plans) => {
    plans(
      [document([chunk("c1", "gone", by)]), document([chunk("t1", "new")])],
      ['needs your decision: c1, now "new", replace'],
    );
  });
  planned("cannot be chosen where a disabled chunk stands", (plans) => {
    const disabled = document([chunk("t1", "a"), chunk("t2", "new", { enabled: false }), chunk("t3", "b")]);
    plans([old, disabled, { decisions: yes("c2") }], ['needs your decision: c2, now "new", no choice']);
  });
});

describe("an edit that no run has seen from before, in a document whose details are known", () => {
  const provenance = { source: "file 1, rule 1", indexed_at: 2_000 };
  const made = (chunks: readonly ReturnType<typeof chunk>[], more = {}) =>
    document(chunks, [], "text_model", { ...provenance, ...more });
  /** The test's document after a re-index. */
  const again = (chunks: readonly ReturnType<typeof chunk>[], more = {}) =>
    made(chunks, { indexed_at: 5_000, ...more });
  const old = made([chunk("c1", "intro"), chunk("c2", "edited", by), chunk("c3", "end")]);
  const target = (second: Parameters<typeof chunk>[2] = {}, more = {}) =>
    again([chunk("t1", "intro"), chunk("t2", "before", second), chunk("t9", "end")], more);
  const restored = ["c2 over t2: edited [updated_by neighbours]"];
  const undecided = ['needs your decision: c2, now "before", replace'];

  planned("replaces the chunk between the same neighbours", (plans) => {
    plans([old, target()], restored);
  });
  planned("replaces it at the beginning and at the end of the document, too", (plans) => {
    const edges = made([chunk("c1", "first", by), chunk("c2", "middle"), chunk("c3", "last", by)]);
    const before = again([chunk("t1", "one"), chunk("t2", "middle"), chunk("t3", "three")]);
    plans([edges, before], ["c1 over t1: first [updated_by neighbours]", "c3 over t3: last [updated_by neighbours]"]);
  });
  planned("replaces it although it stands inside the text that it shortened", (plans) => {
    const longer = again([chunk("t1", "intro"), chunk("t2", "edited, once long"), chunk("t3", "end")]);
    plans([old, longer], restored);
  });
  planned("is disabled again", (plans) => {
    const disabled = made([chunk("c1", "intro"), chunk("c2", "edited", { ...by, ...off }), chunk("c3", "end")]);
    plans([disabled, target()], ["c2 over t2: edited [updated_by disabled_by neighbours]", "disable t2"]);
  });
  for (const [what, older, newer] of [
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
  ] as const)
    planned(`needs a decision if ${what}`, (plans) => plans([older, newer], undecided));
  planned("needs a decision beside another edit, and where two chunks stand in its place", (plans) => {
    const two = made([
      chunk("c1", "intro"),
      chunk("c2", "edited", by),
      chunk("c3", "edited too", by),
      chunk("c4", "end"),
    ]);
    const wide = again([chunk("t1", "intro"), chunk("t2", "before"), chunk("t3", "more"), chunk("t4", "end")]);
    plans([two, wide], ["needs your decision: c2, add", "needs your decision: c3, add"]);
    plans([old, wide], ["needs your decision: c2, add"]);
  });
  planned("needs a decision if another chunk has moved between its neighbours", (plans) => {
    const moved = made([chunk("c1", "intro"), chunk("c2", "edited", by), chunk("c3", "end"), chunk("c4", "more")]);
    const now = again([chunk("t1", "intro"), chunk("t2", "before"), chunk("t3", "more"), chunk("t4", "end")]);
    plans([moved, now], ["needs your decision: c2, add"]);
  });
  planned("is added, not put over the chunk that a person deleted, if it was created after the indexing", (plans) => {
    const late = made([chunk("c1", "intro"), chunk("c2", "mine", { ...by, created_at: 2_001 }), chunk("c3", "end")]);
    plans([late, target()], ["add c2: mine [updated_by created_at]"]);
    const last = made([chunk("c1", "intro"), chunk("c2", "mine", { created_at: 2_001 })]);
    plans([last, again([chunk("t1", "intro"), chunk("t2", "deleted by a person")])], ["add c2: mine [created_at]"]);
  });
  planned("counts only what the indexing made: chunks that people added at the end change nothing", (plans) => {
    const work = [chunk("c1", "intro"), chunk("c2", "edited", by), chunk("c3", "mine", { created_at: 2_001 })];
    const plain = [chunk("t1", "intro"), chunk("t2", "before")];
    plans([made(work), again(plain)], ["c2 over t2: edited [updated_by neighbours]", "add c3: mine [created_at]"]);
    const continued = again([...plain, chunk("t3", "mine", { created_at: 5_001 })]);
    plans([made(work), continued], ["c2 over t2: edited [updated_by neighbours]", "1 present"]);
  });
  planned("has its place by them, too, if the history began after an earlier edit", (plans) => {
    plans([old, target(), was("c2", "an earlier edit")], ["c2 over t2: edited [updated_by history neighbours]"]);
    const other = target({}, { source: "file 2, rule 1" });
    plans([old, other, was("c2", "an earlier edit")], undecided);
  });
  planned("has its place beside another edit, too, if the history knows the place of that one", (plans) => {
    const two = made([chunk("c1", "intro"), chunk("c2", "E2", by), chunk("c3", "E3", by)]);
    const now = again([chunk("t1", "intro"), chunk("t2", "B"), chunk("t3", "C")]);
    plans(
      [two, now, was("c3", "C")],
      ["c2 over t2: E2 [updated_by neighbours]", "c3 over t3: E3 [updated_by history]"],
    );
  });
  planned("takes no chunk that another edit takes by its text from before", (plans) => {
    const twice = [chunk("c1", "A"), chunk("c2", "E2", by), chunk("c3", "C"), chunk("c4", "E4", by), chunk("c5", "D")];
    const now = ["A", "B", "C", "B", "D"].map((content, at) => chunk(`t${at + 1}`, content));
    plans(
      [made(twice), again(now), was("c4", "B")],
      ["c2 over t2: E2 [updated_by neighbours]", "c4 over t4: E4 [updated_by history]"],
    );
  });
  planned(
    "is no person's by its time alone if most chunks are younger than the indexing: the clocks differ",
    (plans) => {
      const late = { created_at: 2_001 };
      const skewed = made([
        chunk("c1", "A", late),
        chunk("c2", "B old", late),
        chunk("c3", "C", { created_at: 1_999 }),
      ]);
      const other = again([chunk("t1", "A"), chunk("t2", "B new"), chunk("t3", "C")], { source: "file 2" });
      plans([skewed, other], ["1 lost"]);
    },
  );
  planned("of an answer replaces the one of the same question, as a model may ask others the next time", (plans) => {
    const qa = (content: string, answer: string, id: string, more = {}) =>
      document([chunk(id, content, { answer, ...more })], [], "qa_model", {
        ...provenance,
        indexed_at: id === "t1" ? 5_000 : 2_000,
      });
    const edit = qa("why?", "mine", "c1", by);
    plans([edit, qa("why?", "because", "t1")], ["c1 over t1: why? → mine [updated_by neighbours]"]);
    plans([edit, qa("who?", "she", "t1")], ['needs your decision: c1, now "who?", replace']);
  });
  planned("of a child chunk replaces the one between the same neighbours, if the indexing made it", (plans) => {
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
    plans([family(one, edited, three), now], ["child k2 over n2: edited [customized neighbours]"]);
    const late = child("c1", "k2", "mine", "customized", 2_001);
    plans([family(one, late, three), now], ["child k2 below t1: mine [customized]"]);
    const elsewhere = { ...edited, position: 3 };
    plans([family(one, elsewhere, { ...three, position: 4 }), now], ["child k2 below t1: edited [customized]"]);
  });
});

describe("a chunk that was added manually", () => {
  const old = document([chunk("c1", "a"), chunk("c2", "mine"), chunk("c3", "hidden", off)]);
  const target = document([chunk("t1", "a")]);
  planned("is added again", (plans) => {
    plans([document(old.chunks.slice(0, 2)), target, added("c2")], ["add c2: mine [history]"]);
  });
  planned("is added and disabled again if a person disabled it", (plans) => {
    const hidden = ["add c3: hidden [disabled_by history]", "disable new"];
    plans([old, target, added("c2", "c3")], ["add c2: mine [history]", ...hidden]);
    plans([old, target, { ...added("c2", "c3"), decisions: yes("c3") }], [...hidden, "left out: c2, add"]);
  });
  planned("is added as it was edited last", (plans) => {
    const history = { added: new Set(["c2"]), chunks: new Map([["c2", { content: "a first try" }]]) };
    const edited = document([chunk("c1", "a"), chunk("c2", "mine", by)]);
    plans(
      [edited, document([chunk("t1", "a first try")]), { history }],
      ["add c2: mine [updated_by history]", "1 lost"],
    );
  });
});

describe("a chunk that was disabled manually", () => {
  const old = document([chunk("c1", "a", off), chunk("c2", "b")]);
  planned("is disabled again", (plans) => {
    plans([old, document([chunk("t1", "b"), chunk("t2", "a")])], ["disable t2 for c1 [disabled_by]"]);
  });
  planned("is present if it is disabled", (plans) => {
    plans([old, document([chunk("t1", "a", { enabled: false }), chunk("t2", "b")])], ["1 present"]);
  });
  planned("needs a decision if its text is gone", (plans) => {
    plans([old, document([chunk("t1", "A"), chunk("t2", "b")])], ['needs your decision: c1, now "A", replace']);
  });
  planned("is known by the history, unless its indexing failed", (plans) => {
    const history = { chunks: new Map([["c1", { enabled: true }]]) };
    const [quiet, failed] = ["completed", "error"].map((status) =>
      document([chunk("c1", "a", { enabled: false, status })]),
    );
    plans([quiet ?? old, document([chunk("t1", "a")]), { history }], ["disable t1 for c1 [history]"]);
    plans([failed ?? old, document([chunk("t1", "a")]), { history }], []);
  });
  planned("does not enable what a person disabled since", (plans) => {
    plans([document([chunk("c1", "a", by)]), document([chunk("t1", "a", off)])], ["1 present"]);
  });
});

describe("keywords that were edited", () => {
  const edited = (keywords: readonly string[], more = {}) => document([chunk("c1", "a", { keywords, ...more })]);
  const history = { chunks: new Map([["c1", { keywords: ["old", "both"] }]]) };
  const has = (...keywords: readonly string[]) => document([chunk("t1", "a", { keywords })]);
  planned("come back where those before the edit stand, in whatever order", (plans) => {
    plans([edited(["new", "both"]), has("both", "old"), { history }], ["c1 over t1: a #new #both [history]"]);
  });
  planned("come back where there are none", (plans) => {
    plans([edited(["new"]), has(), { history }], ["c1 over t1: a #new [history]"]);
  });
  planned("are present where they stand, in whatever order", (plans) => {
    plans([edited(["new", "both"]), has("both", "new"), { history }], ["1 present"]);
  });
  planned("need a decision where others stand", (plans) => {
    plans([edited(["new"]), has("third"), { history }], ['needs your decision: c1, now "a", replace']);
    plans([edited(["new"]), has("third"), { history, decisions: yes("c1") }], ["c1 over t1: a #new [history]"]);
  });
  planned("are an announced loss if they were emptied", (plans) => {
    plans([edited([]), has("old", "both"), { history }], ["loses keywords of c1"]);
    const both = { chunks: new Map([["c1", { keywords: ["old"], content: "before" }]]) };
    const target = document([chunk("t1", "before", { keywords: ["old"] })]);
    plans([edited([]), target, { history: both }], ["c1 over t1: a [history]", "loses keywords of c1"]);
  });
  planned("come back together with the disabling", (plans) => {
    plans(
      [edited(["new"], off), has("old", "both"), { history }],
      ["c1 over t1: a #new [disabled_by history]", "disable t1"],
    );
    plans(
      [edited(["new"], off), has("third"), { history }],
      ["disable t1 for c1 [disabled_by]", 'needs your decision: c1, now "a", replace'],
    );
  });
});

describe("a document of questions and answers", () => {
  const qa = (...chunks: readonly ReturnType<typeof chunk>[]) => document(chunks, [], "qa_model");
  planned("takes an edit of the answer alone for an edit", (plans) => {
    const history = { chunks: new Map([["c1", { answer: "before" }]]) };
    const old = qa(chunk("c1", "why?", { answer: "because", ...by }));
    plans(
      [old, qa(chunk("t1", "why?", { answer: "before" })), { history }],
      ["c1 over t1: why? → because [updated_by history]"],
    );
    plans(
      [old, qa(chunk("t1", "why?", { answer: "newer" })), { history }],
      ['needs your decision: c1, now "why?", replace'],
    );
  });
  planned("has a chunk inside another one only if question and answer stand there", (plans) => {
    const old = qa(chunk("c1", "why", { answer: "because", ...by }));
    plans([old, qa(chunk("t1", "why?", { answer: "just because" }))], ['found inside: c1, now "why?", replace']);
    plans([old, qa(chunk("t1", "why?", { answer: "no" }))], ['needs your decision: c1, now "why?", replace']);
  });
  planned("lists a question without an answer, which no request can add", (plans) => {
    plans(
      [qa(chunk("c1", "why?", { answer: "", ...by })), qa(), { decisions: yes("c1") }],
      ["cannot be restored: c1, no choice"],
    );
  });
  planned("takes no answer and an empty one for the same", (plans) => {
    plans([document([chunk("c1", "a", { answer: null })]), document([chunk("t1", "a", { answer: "" })])], []);
  });
});

describe("a document that was not re-indexed", () => {
  planned("lists what a person deleted since, and writes it only if its owner wants it", (plans) => {
    const old = document([
      chunk("c1", "a"),
      chunk("c2", "mine"),
      chunk("c3", "edited", by),
      chunk("c4", "hidden", off),
    ]);
    const history = { added: new Set(["c2"]), chunks: new Map([["c3", { content: "before" }]]) };
    const now = document([chunk("c1", "a"), chunk("c3", "before"), chunk("c4", "hidden")]);
    plans([old, now, { history }], ["needs your decision: c2, add", "2 present"]);
    plans([old, now, { history, addManualEdits: true }], ["add c2: mine [chosen]", "2 present"]);
    plans([old, now, { history, decisions: yes("c2") }], ["add c2: mine [chosen]", "2 present"]);
  });
  planned("replaces nothing that a person put in the place of a deleted chunk", (plans) => {
    const now = document([chunk("c1", "a"), chunk("n2", "new"), chunk("c3", "b")]);
    plans([document([chunk("c1", "a"), chunk("c2", "gone"), chunk("c3", "b")]), now], ["1 lost"]);
    const edited = document([chunk("c1", "a"), chunk("c2", "gone", by), chunk("c3", "b")]);
    plans([edited, now], ["needs your decision: c2, add"]);
    plans([edited, now, was("c2", "new")], ["needs your decision: c2, add"]);
  });
  planned("says nothing of chunks that were edited after the run", (plans) => {
    plans([document([chunk("c1", "a")]), document([chunk("c1", "b", by)])], []);
  });
});

describe("child chunks", () => {
  const manual = "customized";
  const parents = [chunk("c1", "p"), chunk("c2", "q")];
  const tree = (...children: readonly ReturnType<typeof child>[]) => document(parents, children, "hierarchical_model");
  const target = (...children: readonly ReturnType<typeof child>[]) =>
    document([chunk("t1", "p"), chunk("t2", "q")], children, "hierarchical_model");
  const first = (content: string) => ({ history: { children: new Map([["k1", content]]) } });

  planned("of the indexer are left alone", (plans) => {
    plans([tree(child("c1", "k1", "x")), target()], ["1 lost"]);
  });
  planned("of chunks that kept their ids are added only if their owner wants it", (plans) => {
    const [old, now] = [tree(child("c1", "k1", "x", manual)), tree()];
    plans([old, now], ["needs your decision: k1, add"]);
    plans([old, now, { addManualEdits: true }], ["child k1 below c1: x [chosen]"]);
  });
  planned("that stand below the parent of the target are present", (plans) => {
    plans([tree(child("c1", "k1", "x", manual)), target(child("t1", "u5", "x"))], ["1 present"]);
  });
  planned("that stand below another parent only are added", (plans) => {
    plans(
      [tree(child("c1", "k1", "x", manual)), target(child("t2", "u1", "x"))],
      ["child k1 below t1: x [customized]"],
    );
  });
  planned("replace the automatic one that has the text before the edit", (plans) => {
    const old = tree(child("c1", "k1", "x", manual));
    plans(
      [old, target(child("t1", "u1", "y"), child("t1", "u2", "b")), first("b")],
      ["child k1 over u2: x [customized history]"],
    );
  });
  planned("are added beside a customized one, or one that says something else", (plans) => {
    const old = tree(child("c1", "k1", "x", manual));
    const added = ["child k1 below t1: x [customized history]"];
    plans([old, target(child("t1", "u1", "b", manual)), first("b")], added);
    plans([old, target(child("t1", "u1", "else")), first("b")], added);
  });
  planned("are added if the text before is unknown", (plans) => {
    plans(
      [tree(child("c1", "k1", "x", manual)), target(child("t1", "u1", "y"))],
      ["child k1 below t1: x [customized]"],
    );
  });
  planned("count: two equal ones are there only if two are", (plans) => {
    const old = tree(child("c1", "k1", "x", manual), child("c1", "k2", "x", manual));
    for (const type of ["automatic", manual])
      plans([old, target(child("t1", "u1", "x", type))], ["child k2 below t1: x [customized]", "1 present"]);
  });
  planned("replace one twin each", (plans) => {
    const old = tree(child("c1", "k1", "x", manual), child("c1", "k2", "y", manual));
    const history = {
      children: new Map([
        ["k1", "b"],
        ["k2", "b"],
      ]),
    };
    plans(
      [old, target(child("t1", "u1", "b")), { history }],
      ["child k1 over u1: x [customized history]", "child k2 below t1: y [customized history]"],
    );
  });
  planned("follow their parent to the chunk that takes its text, and to the one that is added", (plans) => {
    const old = document(
      [chunk("c1", "edited", by), chunk("c2", "mine")],
      [child("c1", "k1", "x", manual), child("c2", "k2", "y", manual), child("c2", "k3", "auto")],
    );
    const history = { chunks: new Map([["c1", { content: "p" }]]), added: new Set(["c2"]) };
    plans(
      [old, document([chunk("t1", "p")]), { history }],
      [
        "c1 over t1: edited [updated_by history]",
        "child k1 below t1: x [customized]",
        "add c2: mine [history]",
        "child k2 below new: y [customized]",
        "1 lost",
      ],
    );
  });
  planned("have no place if their parent is gone, or stands inside another chunk", (plans) => {
    const old = tree(child("c1", "k1", "x", manual), child("c2", "k2", "y", manual));
    plans(
      [old, document([chunk("t1", "p and more")], [], "hierarchical_model"), { decisions: yes("k1", "k2") }],
      ["needs your decision: k1, no choice", "needs your decision: k2, no choice", "2 lost"],
    );
  });
  planned("come back with a parent that is chosen", (plans) => {
    const old = document([chunk("c1", "p")], [child("c1", "k1", "x", manual)]);
    const now = document([chunk("t1", "q")]);
    const parent = ["add c1: p [chosen]"];
    plans([old, now, { decisions: yes("c1", "k1") }], [...parent, "child k1 below new: x [customized]", "1 lost"]);
    plans([old, now, { decisions: yes("c1") }], [...parent, "left out: k1, add", "1 lost"]);
  });
  planned("can be chosen if their parent can, and are left out with it", (plans) => {
    const old = document([chunk("c1", "edited", by)], [child("c1", "k1", "x", manual)]);
    const now = document([chunk("t1", "q"), chunk("t2", "r")]);
    plans([old, now], ["needs your decision: c1, add", "needs your decision: k1, add"]);
    plans(
      [old, now, { decisions: yes("c1", "k1") }],
      ["add c1: edited [chosen]", "child k1 below new: x [customized]"],
    );
    plans([old, now, { decisions: yes("k1") }], ["needs your decision: c1, add", "needs your decision: k1, add"]);
    plans([old, now, { decisions: no("c1", "k1") }], ["left out: c1, add", "left out: k1, add"]);
  });
  planned("that a person deleted since are left to the owner", (plans) => {
    const old = document([chunk("c1", "p")], [child("c1", "k1", "x", manual)]);
    const now = document([chunk("c1", "p")]);
    plans([old, now], ["needs your decision: k1, add"]);
    plans([old, now, { decisions: yes("k1") }], ["child k1 below c1: x [chosen]"]);
  });
});

describe("a document", () => {
  planned("is refused if its form is another one", (plans) => {
    const now = document([chunk("t1", "b")], [], "hierarchical_model");
    plans(
      [document([chunk("c1", "a", by)]), now],
      ["refused: It was text_model and is hierarchical_model now: its chunks cannot be compared."],
    );
  });
  planned("of unknown form is compared by content and answer", (plans) => {
    const old = document([chunk("c1", "a", { answer: "x", ...by })], [], null);
    const now = document([chunk("t1", "a", { answer: "y" })], [], null);
    plans(
      [old, now, { history: { chunks: new Map([["c1", { answer: "y" }]]) } }],
      ["c1 over t1: a → x [updated_by history]"],
    );
  });
  planned("is planned in the order of its positions; chunks without one come last", (plans) => {
    const old = document([chunk("c9", "x"), chunk("c1", "y", { position: null }), chunk("c2", "z"), chunk("c5", "w")]);
    plans(
      [old, document([chunk("t1", "w")]), added("c9", "c1", "c2")],
      ["add c2: z [history]", "add c9: x [history]", "add c1: y [history]"],
    );
  });
  planned("that has no chunks any more gets back what people added", (plans) => {
    const details = { source: "file", indexed_at: 2_000 };
    const old = document(
      [chunk("c1", "a"), chunk("c2", "edited", by), chunk("c3", "mine", { created_at: 2_001 })],
      [],
      "text_model",
      details,
    );
    plans([old, document([])], ["add c3: mine [created_at]", "needs your decision: c2, add", "1 lost"]);
  });
  planned("that is switched off, or was put away, has no chunks that a person disabled", (plans) => {
    const chunks = [chunk("c1", "a", off), chunk("c2", "b", { ...off, ...by })];
    const now = document([chunk("t1", "a"), chunk("t2", "b")]);
    for (const state of [{ enabled: false }, { archived: true }])
      plans([document(chunks, [], "text_model", state), now], ["1 present"]);
  });
});
