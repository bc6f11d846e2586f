import { appendFileSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import * as v from "valibot";
import { documentName } from "../../../src/crawl/discovery.js";
import type { SegmentFile } from "../../../src/files/join-segments.js";
import type { JoinResult } from "../../../src/join/join-shards.js";
import { documentKey } from "../../../src/rows/row.js";
import { type DumpedDocument, proofSchema } from "../../../src/segments/document-result.js";
import { segmentPath } from "../../../src/segments/segment.js";
import type { Environment } from "../environment.js";
import type { Outcome, Through } from "../outcome.js";
import type { Processes } from "../processes.js";

const kinds = ["chunks", "child_chunks"] as const;

/** Converts a joined dump to the outcome of a single run, using only the files of the dump. */
export function joinedOutcome(
  { folder, manifest }: JoinResult,
  { reading, progress }: Through,
  { environment, processes }: { readonly environment: Environment; readonly processes: Processes },
): Outcome {
  const { scenario, service, calls, segments, violations, trace } = environment;
  splitRows(folder, segments, manifest.documents);
  const documents = manifest.documents.map((row, index): DumpedDocument => {
    const isOf = (other: typeof row | Manifested) => documentKey(other) === documentKey(row);
    const proof = v.parse(proofSchema, manifest.proofs.find(isOf)?.proof);
    return {
      row,
      drift: {},
      childLists: manifest.child_lists.find(isOf) ?? null,
      proof,
      edited: false,
      files: filesOf(segments, index),
      isOld: false,
    };
  });
  const ids = manifest.documents.map(({ document_id }) => document_id);
  const dataset = { id: service.knowledge.dataset.id, documents: ids, batches: [], status: [], keyword: undefined };
  const discovery = { datasets: [dataset], found: undefined };
  return {
    ...{ scenario, service, calls, segments, violations, trace, left: [], errors: processes.errors },
    lives: processes.lives,
    through: { reading: { ...reading, discovery, documents }, progress },
  };
}

type Manifested = Pick<JoinResult["manifest"]["documents"][number], "dataset_id" | "document_id">;

/** The files of a document from `splitRows`. */
function filesOf(segments: string, index: number): readonly SegmentFile[] {
  return kinds.flatMap((kind) => {
    const path = segmentPath(segments, documentName(index), kind, "jsonl");
    const bytes = statSync(path, { throwIfNoEntry: false })?.size;
    const facts = { lines: 0, longestLine: 0, longNumbers: false }; // the checks do not use these facts
    return bytes === undefined ? [] : [{ kind, format: "jsonl", path, start: 0, bytes, ...facts }];
  });
}

/** Writes the rows of each document to separate files, like a run does while reading. */
function splitRows(folder: string, segments: string, documents: readonly Manifested[]): void {
  const names = new Map(documents.map((row, index) => [documentKey(row), documentName(index)]));
  for (const kind of kinds) {
    const lines = readFileSync(join(folder, `${kind}.jsonl`), "utf8")
      .split("\n")
      .slice(0, -1);
    for (const line of lines) {
      const name = names.get(documentKey(JSON.parse(line)));
      if (name === undefined) throw new Error(`a row of ${kind} belongs to no document: ${line}`);
      appendFileSync(segmentPath(segments, name, kind, "jsonl"), `${line}\n`);
    }
  }
}
