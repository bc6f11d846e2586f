import type { Original } from "../dump/manifest/original.js";
import type { DocumentNames } from "../run/discover/discovery.js";
import { countOf, nameAndId } from "../words.js";
import { noOriginals } from "./ask-for-file.js";

/** Originals that are named; a pipeline can leave thousands of documents without one. */
const named = 20;

/** Without a count, so that the shards of a run say it in the same words and a joined run says it once. */
const noRoute = `${noOriginals}: it has neither …/upload-file, as Dify until 1.8, nor …/download, as Dify from 1.13.1 on`;

/** A sentence for each original that is not complete, up to a number; one for all where the release has no route for them. */
export function originalWarnings(originals: readonly Original[], names: DocumentNames): readonly string[] {
  const incomplete = originals.filter(({ verdict }) => verdict !== "complete");
  const bad = incomplete.filter(({ reason }) => reason !== noOriginals);
  const more = bad.length - named;
  return [
    ...(bad.length < incomplete.length ? [noRoute] : []),
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
