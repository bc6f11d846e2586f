import { filteredDatasets } from "../../dump/manifest/filtered-datasets.js";
import type { Manifest } from "../../dump/manifest/manifest.js";
import type { Dump } from "../../dump/open-dump.js";
import { savedFile } from "../../dump/saved-files.js";
import { documentKey } from "../../rows/document-row.js";
import type { FilePlan, MoveFrom } from "../move-plan.js";

type DumpedDocument = Manifest["documents"][number];
type DumpedOriginal = NonNullable<Manifest["originals"]>[number];

/** How a document can come from a dump: with its original, with its chunks, or not at all. */
export interface Fitness {
  /** Why it cannot, as a sentence; null where it can. */
  readonly refused: string | null;
  /** The file to upload, with `originals`. */
  readonly original: FilePlan | null;
}

/** Tells of a document of a dump, and its form, how it can come. */
export function fitnessOf(dump: Dump, from: MoveFrom): (document: DumpedDocument, form: string) => Fitness {
  if (from === "chunks") {
    const filtered = new Set(filteredDatasets(dump.manifest.options));
    const { child_chunks } = dump.manifest.options;
    return (document, form) => {
      const lacksChildren = child_chunks === "none" && form === "hierarchical_model";
      return { refused: chunksRefusal(document, filtered, lacksChildren), original: null };
    };
  }
  const own = dump.manifest.originals?.filter(({ attachment_id: id }) => id === null);
  const originals = new Map(own?.map((original) => [documentKey(original), original]));
  return (document) => {
    if (!dump.manifest.originals)
      return { refused: "The run has no originals: its job lacks originals: true.", original: null };
    const original = originals.get(documentKey(document));
    const file = original && savedFile(original, dump.folder);
    return file ? { refused: null, original: file } : { refused: originalRefusal(original), original: null };
  };
}

function chunksRefusal(
  { dataset_id, status, error }: DumpedDocument,
  filtered: ReadonlySet<string>,
  lacksChildren: boolean,
): string | null {
  if (status !== "complete")
    return `The run did not read all of it: it is ${status}${error === null ? "" : ` (${error})`}.`;
  if (filtered.has(dataset_id)) return "The run left out chunks of it: the job has a filter (status, keyword).";
  if (lacksChildren) return "The run read no child chunks of it: the job has child_chunks: none.";
  return null;
}

function originalRefusal(original: DumpedOriginal | undefined): string {
  if (!original) return "The run has no original of it: it was not uploaded as a file.";
  const { verdict, reason } = original;
  return `Its original is not complete in the run: ${verdict}${reason === null ? "" : ` (${reason})`}.`;
}
