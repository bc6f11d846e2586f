import fc from "fast-check";
import { type PlantedLink, plantedLink } from "../planted.js";

/** The work of a person on one chunk of a document, by its place. A part of its text is added as a chunk, or all of it once more. */
export type ManualEdit = EditOfChunk | { readonly do: "add" | "add and disable" };

interface EditOfChunk {
  readonly do:
    | "edit"
    | "disable"
    | "edit keywords"
    | "edit and disable"
    | "add child"
    | "edit child"
    | "add part"
    | "add twin";
  readonly at: number;
}

/** The fate of the n-th write: by default it passes. */
export type WriteFate = "pass" | "lose answer" | "lose request" | "refuse";

/** Everything that happens to one document, from its upload to the restore. */
export interface Scenario {
  readonly form: "text_model" | "qa_model" | "hierarchical_model";
  readonly chunks: number;
  /** Before the first run: nobody knows what stood there before. */
  readonly early: readonly ManualEdit[];
  /** Between the first run and the second, which is restored from. */
  readonly edits: readonly ManualEdit[];
  /** Chunks whose source somebody changed. */
  readonly updated: readonly number[];
  /** The size of the chunks of the re-index; null for the same as before. */
  readonly maxCharacters: number | null;
  /** Edits of others after the re-index. */
  readonly others: readonly ManualEdit[];
  readonly fates: readonly WriteFate[];
  /** Writes after which a restore is broken off; then it is begun again. */
  readonly breaks: readonly number[];
  /** The write before which a restore is frozen, to wake after the last one; null for none. */
  readonly frozenAt: number | null;
  /** A link beside the run, for which a restore is refused; null for none. */
  readonly planted: PlantedLink | null;
}

const at = fc.nat(11);
const onChunk = (name: EditOfChunk["do"]): fc.Arbitrary<EditOfChunk> => fc.record({ do: fc.constant(name), at });
const manualEdit: fc.Arbitrary<ManualEdit> = fc.oneof(
  onChunk("edit"),
  onChunk("edit"),
  onChunk("disable"),
  onChunk("edit keywords"),
  onChunk("edit and disable"),
  onChunk("add child"),
  onChunk("edit child"),
  onChunk("add part"),
  onChunk("add twin"),
  fc.constant<ManualEdit>({ do: "add" }),
  fc.constant<ManualEdit>({ do: "add and disable" }),
);
const edits = (most: number) =>
  fc.uniqueArray(manualEdit, { maxLength: most, selector: (edit) => ("at" in edit ? edit.at : JSON.stringify(edit)) });

export const scenario: fc.Arbitrary<Scenario> = fc.record({
  form: fc.constantFrom("text_model", "qa_model", "hierarchical_model"),
  chunks: fc.integer({ min: 1, max: 8 }),
  early: edits(2),
  edits: edits(5),
  updated: fc.uniqueArray(fc.nat(7), { maxLength: 2 }),
  maxCharacters: fc.constantFrom(null, null, null, 40),
  others: fc.uniqueArray(fc.oneof(onChunk("edit"), onChunk("add child"), fc.constant<ManualEdit>({ do: "add" })), {
    maxLength: 2,
    selector: (edit) => ("at" in edit ? edit.at : -1),
  }),
  fates: fc.array(fc.constantFrom<WriteFate>("pass", "pass", "pass", "lose answer", "lose request", "refuse"), {
    maxLength: 8,
  }),
  breaks: fc.array(fc.integer({ min: 1, max: 5 }), { maxLength: 2 }),
  frozenAt: fc.option(fc.integer({ min: 1, max: 4 }), { freq: 2 }),
  planted: fc.option(plantedLink, { freq: 2 }),
});

/** One backup ever, then a re-index: everything that happens to one document. No text is there twice. */
export interface Story extends Pick<Scenario, "form" | "chunks" | "maxCharacters" | "fates" | "breaks" | "frozenAt"> {
  /** Before the backup. */
  readonly edits: readonly ManualEdit[];
  /** After the re-index. */
  readonly others: readonly ManualEdit[];
}

const storyEdit = fc.oneof(
  onChunk("edit"),
  onChunk("edit"),
  onChunk("disable"),
  onChunk("edit and disable"),
  onChunk("add child"),
  onChunk("edit child"),
  fc.constant<ManualEdit>({ do: "add" }),
  fc.constant<ManualEdit>({ do: "add and disable" }),
);
const distinct = (most: number, edit: fc.Arbitrary<ManualEdit>) =>
  fc.uniqueArray(edit, { maxLength: most, selector: (each) => ("at" in each ? each.at : each.do) });

export const story: fc.Arbitrary<Story> = scenario.chain((drawn) =>
  fc.record({
    ...{ form: fc.constant(drawn.form), fates: fc.constant(drawn.fates), breaks: fc.constant(drawn.breaks) },
    ...{ frozenAt: fc.constant(drawn.frozenAt), maxCharacters: fc.constant(drawn.maxCharacters) },
    chunks: fc.integer({ min: 5, max: 12 }),
    edits: distinct(5, storyEdit),
    others: distinct(2, fc.oneof(onChunk("edit"), fc.constant<ManualEdit>({ do: "add" }))),
  }),
);
