import fc from "fast-check";
import { expect, it } from "vitest";
import { rounds } from "../../rounds.js";
import { planAll } from "./planned.js";
import { chunk, document } from "./rows.js";

interface Text {
  readonly content: string;
  readonly answer: string | null;
}

const textOf = (content: string, answer: string | null = null): Text => ({ content, answer });
const textsOf = (...contents: readonly string[]) => contents.map((content) => textOf(content));

/** The texts of a document before and after a re-index. */
interface Scene {
  /** Texts that people wrote; the re-index may have lost them. */
  readonly manual: readonly Text[];
  /** Texts that the indexing made. */
  readonly automatic?: readonly Text[];
  /** Texts that the indexing made and a person replaced. */
  readonly replaced?: readonly Text[];
  readonly targets: readonly Text[];
}

const by = { updated_by: "ann" };

function comparedOf({ manual, automatic = [], replaced = [], targets }: Scene) {
  const form = [...manual, ...targets].some(({ answer }) => answer !== null) ? "qa_model" : "text_model";
  const rows = (kind: string, texts: readonly Text[], more = {}) =>
    texts.map(({ content, answer }, at) => chunk(`${kind}${at + 1}`, content, { answer, position: at + 1, ...more }));
  const over = replaced.map((_, at) => textOf(`edit ${at}`, form === "qa_model" ? "edit" : null));
  const olds = [
    ...rows("a", automatic),
    ...rows("m", manual, { ...by, position: 50 }),
    ...rows("r", over, { ...by, position: 90 }),
  ];
  const first = replaced.map(({ content }, at) => [`r${at + 1}`, { content }] as const);
  return {
    old: document(olds, [], form),
    target: document(rows("t", targets), [], form),
    history: { chunks: new Map(first) },
  };
}

/** For every scene, the texts that the plan lists as found inside a chunk. */
async function foundIn(scenes: readonly Scene[]): Promise<readonly (readonly Text[])[]> {
  const plans = await planAll(scenes.map(comparedOf));
  return plans.map((plan, at) => {
    const ids = (plan?.listed ?? []).flatMap(({ why, id }) => (why === "found inside" ? [Number(id.slice(1))] : []));
    return (scenes[at]?.manual ?? []).filter((_, nth) => ids.includes(nth + 1));
  });
}

it("finds a part of a text of any length at any position, and nothing else", async () => {
  const letters = (minLength: number, maxLength: number) =>
    fc.string({ unit: fc.constantFrom("a", "a", "b", "b", "é", "\u0301", "😀", "\0", "%"), minLength, maxLength });
  const scene = fc
    .record({ whole: letters(1, 400), from: fc.nat(399), length: fc.integer({ min: 1, max: 400 }) })
    .chain(({ whole, from, length }) =>
      fc.record({
        text: fc.oneof(fc.constant([...whole].slice(from, from + length).join("")), letters(1, 3)),
        others: fc.array(letters(1, 300), { maxLength: 3 }).map((others) => [...others, whole]),
      }),
    );
  await fc.assert(
    fc.asyncProperty(fc.array(scene, { minLength: 40, maxLength: 40 }), async (given) => {
      const scenes = given.map(({ text, others }) => ({ manual: textsOf(text), targets: textsOf(...others) }));
      const expected = given.map(({ text, others }) => {
        const isInside = text !== "" && !others.includes(text) && others.some((other) => other.includes(text));
        return isInside ? textsOf(text) : [];
      });
      expect(await foundIn(scenes)).toEqual(expected);
    }),
    { numRuns: rounds(1, 20, "KBDUMP_INSIDE_ROUNDS") },
  );
});

it("finds a lost text only if the target has it more often than the rest of the older run", async () => {
  const scenes: [what: string, scene: Scene, found: readonly Text[]][] = [];
  for (const text of ["Closed on Sundays.", "Closed on Sundays, and on the days of the fair. ".repeat(4)]) {
    const around = `Open 9 to 5. ${text}`;
    const one = textsOf(text);
    scenes.push(
      ["in a new chunk", { manual: one, targets: textsOf(around) }, one],
      ["not in an unchanged chunk", { manual: one, automatic: textsOf(around), targets: textsOf(around) }, []],
      ["not in an equal chunk of another one", { manual: one, automatic: one, targets: one }, []],
      [
        "in a new chunk beside the unchanged one",
        { manual: one, automatic: textsOf(around), targets: textsOf(around, `Hours. ${text}`) },
        one,
      ],
      [
        "in a chunk that has it twice, once more than before",
        { manual: one, automatic: one, targets: textsOf(`${text} ${text}`) },
        one,
      ],
      ["only as often as the target has it", { manual: textsOf(text, text), targets: textsOf(around) }, one],
      [
        "not beside a longer lost text that is found there",
        { manual: textsOf(text, around), targets: textsOf(`${around} Come in.`) },
        textsOf(around),
      ],
      [
        "not in a part of the text that it replaced, cut at other places",
        { manual: one, replaced: textsOf(around), targets: textsOf(`${around} Ring twice.`) },
        [],
      ],
    );
    for (const [what, automatic, targets] of [
      ["was cut in two", `${around} Ring twice.`, [around, "Ring twice."]],
      ["became a part of a longer one", around, [`We are here. ${around} Ring twice.`]],
    ] as const) {
      const scene = { manual: one, automatic: textsOf(automatic), targets: textsOf(...targets) };
      scenes.push(
        [`not in what it repeats, which ${what}`, scene, []],
        [
          `in a new chunk beside what it repeats, which ${what}`,
          { ...scene, targets: textsOf(...targets, `Hours. ${text}`) },
          one,
        ],
      );
    }
  }
  const found = await foundIn(scenes.map(([, scene]) => scene));
  expect(scenes.map(([what], at) => [what, found[at]])).toEqual(scenes.map(([what, , texts]) => [what, texts]));
});

it("finds question and answer only in one text, the longer of two answers first, and a blank content nowhere", async () => {
  const long = "x".repeat(150);
  const targets = [textOf(`${long} one`, "because"), textOf(`${long} two`, "so")];
  const answers = [textOf("Open?", "Yes"), textOf("Open?", "Yes, daily")];
  const scenes: readonly Scene[] = [
    { manual: [textOf(long, "so")], targets },
    { manual: [textOf(`${long} one`, "so")], targets },
    { manual: answers, targets: [textOf("Open? Where?", "Yes, daily. Here")] },
    { manual: [textOf("  ")], targets: [textOf("a  b")] },
  ];
  expect(await foundIn(scenes)).toEqual([[textOf(long, "so")], [], answers.slice(1), []]);
});
