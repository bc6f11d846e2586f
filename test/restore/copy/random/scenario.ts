import fc from "fast-check";
import { type PlantedLink, plantedLink } from "../../planted.js";

/** The proxy's treatment of the n-th write; default: "pass". */
export type WriteFate = "pass" | "lose answer" | "lose request" | "refuse" | { readonly late: number };

export interface DrawnChild {
  readonly text: string;
  readonly isCustomized: boolean;
}

export interface DrawnChunk {
  readonly content: string;
  readonly answer: string;
  readonly keywords: readonly string[];
  readonly isEnabled: boolean;
  /** Null: the service splits the content into children. */
  readonly children: readonly DrawnChild[] | null;
}

export interface DrawnDocument {
  readonly name: string;
  readonly form: "text_model" | "qa_model" | "hierarchical_model";
  readonly chunks: readonly DrawnChunk[];
  readonly state: "available" | "disabled" | "archived";
  /** The value for the dataset's only metadata field. */
  readonly value: string | null;
}

/** A knowledge base, the service that receives the copy, and everything that happens during the copy. */
export interface Scenario {
  readonly technique: "high_quality" | "economy";
  readonly tags: readonly string[];
  readonly documents: readonly DrawnDocument[];
  /** How many chunks one request may add; 0 for no limit. */
  readonly cap: number;
  readonly fates: readonly WriteFate[];
  /** After these writes, the copy is interrupted and started again. */
  readonly breaks: readonly number[];
  /** A copy is frozen before this write and wakes after the last one; null for none. */
  readonly frozenAt: number | null;
  /** A link planted beside the run, which must stop the copy; null for none. */
  readonly planted: PlantedLink | null;
  /** How often the service fails to index a chunk about pumps. */
  readonly unindexed: number;
}

/** The fate of a write that arrives only while the copy already looks for its result. */
const late = { late: 50 };

const word = fc.constantFrom("pump", "valve", "熱", "مضخة", "#1", '"quoted"', "<|x", "a\tb", "100%", "é", "😀");
const sentence = fc.array(word, { minLength: 1, maxLength: 4 }).map((words) => `${words.join(" ")}.`);
const text = fc.oneof(
  { weight: 8, arbitrary: fc.array(sentence, { minLength: 1, maxLength: 3 }).map((all) => all.join(" ")) },
  { weight: 1, arbitrary: fc.constantFrom("", " ", "\u3000\n", "\ufeff", "# heading\n\nbody\n\n- item", "Same text.") },
);
const child = fc.record({ text, isCustomized: fc.boolean() });
const chunk: fc.Arbitrary<DrawnChunk> = fc.record({
  content: text,
  answer: text,
  keywords: fc.uniqueArray(word, { maxLength: 2 }),
  isEnabled: fc.boolean(),
  children: fc.option(fc.array(child, { maxLength: 3 })),
});
const document: fc.Arbitrary<DrawnDocument> = fc.record({
  name: fc.constantFrom("one.txt", "two.pdf", "same name.md", "same name.md"),
  form: fc.constantFrom("text_model", "qa_model", "hierarchical_model"),
  chunks: fc.array(chunk, { maxLength: 7 }),
  state: fc.constantFrom("available", "available", "disabled", "archived"),
  value: fc.option(fc.constantFrom("pumps", "42")),
});

export const scenario: fc.Arbitrary<Scenario> = fc.record({
  technique: fc.constantFrom("high_quality", "economy"),
  tags: fc.uniqueArray(fc.constantFrom("blue", "red"), { maxLength: 2 }),
  documents: fc.array(document, { minLength: 1, maxLength: 3 }),
  cap: fc.constantFrom(0, 1, 3),
  fates: fc.array(fc.constantFrom<WriteFate>("pass", "pass", "pass", "lose answer", "lose request", "refuse", late), {
    maxLength: 16,
  }),
  breaks: fc.array(fc.integer({ min: 1, max: 12 }), { maxLength: 3 }),
  frozenAt: fc.option(fc.integer({ min: 1, max: 12 }), { freq: 2 }),
  planted: fc.option(plantedLink, { freq: 2 }),
  unindexed: fc.integer({ min: 0, max: 2 }),
});
