import { filteredDatasets } from "../../dump/manifest/filtered-datasets.js";
import type { Manifest } from "../../dump/manifest/manifest.js";
import { UsageError } from "../../errors.js";
import type { DocumentId } from "../../restore/document-rows.js";
import { countOf } from "../../words.js";
import type { DocumentPair } from "../compare/compare-options.js";
import type { JournalFacts } from "../journal-facts.js";

/** The documents that are compared, and sentences on those that are not. */
export interface Chosen {
  readonly pairs: readonly DocumentPair[];
  readonly notes: readonly string[];
}

/**
 * Chooses the documents of a run that can be compared with a service: those that are restored there, by the journal, or the same
 * documents where there is no journal. `ids`: those that the owner named; none: all. UsageError where the run does not have one.
 */
export function chooseDocuments(manifest: Manifest, facts: JournalFacts, ids: readonly string[]): Chosen {
  refuseUnknown(manifest, ids);
  const named = new Set(ids);
  const all = manifest.documents.filter(({ document_id }) => named.size === 0 || named.has(document_id));
  const complete = all.filter(({ status }) => status === "complete");
  const left = (count: number, reason: string) => (count > 0 ? [`${countOf(count, "document")} ${reason}`] : []);
  const partial = left(all.length - complete.length, "of the run: not compared, as the run could not read all of it");
  if (facts.from === null) {
    const filtered = new Set(filteredDatasets(manifest.options));
    const whole = complete.filter(({ dataset_id }) => !filtered.has(dataset_id));
    const passed = left(
      complete.length - whole.length,
      "of the run: not compared, as the job has a filter (status, keyword)",
    );
    return { pairs: whole.map((each) => pairOf(each)), notes: [...partial, ...passed] };
  }
  const pairs = complete.flatMap((document) => {
    const copy = facts.documents.get(document.document_id);
    return copy?.state === "restored" ? [pairOf(document, copy)] : [];
  });
  const missing = left(
    complete.length - pairs.length,
    "of the run: not compared, as there is no finished copy by the journal",
  );
  return { pairs, notes: [...partial, ...missing] };
}

type Copy = { readonly target_dataset_id: string; readonly target_id: string };

/** A document of the run and its copy; without one, the same document. */
function pairOf({ dataset_id, document_id }: DocumentId, copy?: Copy): DocumentPair {
  const old = { dataset_id, document_id };
  return { old, live: copy ? { dataset_id: copy.target_dataset_id, document_id: copy.target_id } : old };
}

function refuseUnknown({ documents }: Manifest, ids: readonly string[]): void {
  const there = new Set(documents.map(({ document_id }) => document_id));
  const unknown = ids.filter((id) => !there.has(id));
  if (unknown.length === 0) return;
  const problems = unknown.map((id) => ({ path: "--document", message: `the run has no document ${id}` }));
  throw new UsageError("The documents cannot be compared:", problems);
}
