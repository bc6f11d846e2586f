import { appendFileSync, readFileSync } from "node:fs";
import { join } from "node:path";
import * as v from "valibot";
import type { JoinResult } from "../../../src/join/join-shards.js";
import { documentKey } from "../../../src/rows/document-row.js";
import { documentName } from "../../../src/run/discover/discovery.js";
import type { DumpedDocument } from "../../../src/run/documents/document-result.js";
import { proofSchema } from "../../../src/run/documents/proof.js";
import { partPath } from "../../../src/run/work/document-parts.js";
import type { Outcome, Through } from "../outcome.js";
import type { Processes } from "../processes.js";
import type { World } from "../world.js";

/** A joined dump as the outcome of one run, with everything that it says taken from its files. */
export function joinedOutcome(
  { folder, manifest }: JoinResult,
  { reading, tally }: Through,
  { world, processes }: { readonly world: World; readonly processes: Processes },
): Outcome {
  const { scenario, service, calls, parts, violations, trace, clock } = world;
  const documents = manifest.documents.map((row): DumpedDocument => {
    const isOf = (other: typeof row | Manifested) => documentKey(other) === documentKey(row);
    const proof = v.parse(proofSchema, manifest.proofs.find(isOf));
    return { row, drift: {}, childLists: manifest.child_lists.find(isOf) ?? null, proof, files: [], isOld: false };
  });
  splitRows(folder, parts, manifest.documents);
  const ids = manifest.documents.map(({ document_id }) => document_id);
  const dataset = { id: service.knowledge.dataset.id, documents: ids, batches: [], status: [], keyword: undefined };
  const discovery = { datasets: [dataset], found: undefined };
  return {
    ...{ scenario, service, calls, parts, violations, trace, left: [], errors: processes.errors },
    lives: processes.lives,
    elapsed: clock.now,
    through: { reading: { ...reading, discovery, documents }, tally },
  };
}

type Manifested = Pick<JoinResult["manifest"]["documents"][number], "dataset_id" | "document_id">;

/** Writes the rows of each document to files of its own, as a run has them while it reads. */
function splitRows(folder: string, parts: string, documents: readonly Manifested[]): void {
  const names = new Map(documents.map((row, index) => [documentKey(row), documentName(index)]));
  for (const kind of ["chunks", "child_chunks"] as const) {
    const lines = readFileSync(join(folder, `${kind}.jsonl`), "utf8")
      .split("\n")
      .slice(0, -1);
    for (const line of lines) {
      const name = names.get(documentKey(JSON.parse(line)));
      if (name === undefined) throw new Error(`a row of ${kind} belongs to no document: ${line}`);
      appendFileSync(partPath(parts, name, kind, "jsonl"), `${line}\n`);
    }
  }
}
