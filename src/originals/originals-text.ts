import type { Original } from "../dump/manifest/original.js";
import type { DocumentNames } from "../run/discover/discovery.js";
import { countOf, nameAndId } from "../words.js";

/** Originals that are named; a pipeline can leave thousands of documents without one. */
const named = 20;

/** A sentence for each original that is not complete, up to a number. */
export function originalWarnings(originals: readonly Original[], names: DocumentNames): readonly string[] {
  const bad = originals.filter(({ verdict }) => verdict !== "complete");
  const more = bad.length - named;
  return [
    ...bad.slice(0, named).map((original) => {
      const { verdict, reason } = original;
      return `${subjectOf(original, names)} ${verdict === "missing" ? "is missing" : "has the wrong size"}: ${reason}`;
    }),
    ...(more > 0 ? [`and ${countOf(more, "more original")} are not complete: manifest.json lists them`] : []),
  ];
}

function subjectOf(original: Original, names: DocumentNames): string {
  const { document_id: id, attachment_id: attachment, chunk_id: chunk, name } = original;
  if (attachment === null) return `the original of document ${nameAndId(names.get(id) ?? name, id)}`;
  return `attachment ${nameAndId(name, attachment)} of chunk ${chunk} of document ${nameAndId(names.get(id), id)}`;
}
