import fc from "fast-check";
import { type PlantedLink, plantedLink } from "../planted.js";

/** A manual edit of the chunk at this position. "add part" adds a part of its text as a new chunk, "add twin" all of its text. */
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

/** The proxy's treatment of the n-th write; default: "pass". */
export type WriteFate = "pass" | "lose answer" | "lose request" | "refuse";

/** Everything that happens to one document between its upload and the restore. */
export interface Scenario {
  readonly form: "text_model" | "qa_model" | "hierarchical_model";
  readonly chunks: number;
  /** Edits before the first run: the history does not contain the original texts. */
  readonly early: readonly ManualEdit[];
  /** Edits between the first run and the second run, which is the one to restore. */
  readonly edits: readonly ManualEdit[];
  /** The numbers of the chunks whose text in the source file changes before the re-index. */
  readonly updated: readonly number[];
  /** The chunk size for the re-index; null if unchanged. */
  readonly maxCharacters: number | null;
  /** Edits by others after the re-index. */
  readonly others: readonly ManualEdit[];
  readonly fates: readonly WriteFate[];
  /** After these writes, the restore is interrupted and started again. */
  readonly breaks: readonly number[];
  /** A restore is frozen before this write and wakes after the last one; null for none. */
  readonly frozenAt: number | null;
  /** A link beside the run that makes the restore stop; null for none. */
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

/** Everything that happens to one document with a single backup and then a re-index. All texts differ. */
export interface Story extends Pick<Scenario, "form" | "chunks" | "maxCharacters" | "fates" | "breaks" | "frozenAt"> {
  /** Edits before the backup. */
  readonly edits: readonly ManualEdit[];
  /** Edits after the re-index. */
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
