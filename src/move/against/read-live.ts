import type { Dump } from "../../dump/open-dump.js";
import { readGone } from "../../restore/target/document-state.js";
import { type DumpTally, dumpTarget, withTarget } from "../../restore/target/dump-target.js";
import type { TargetReading } from "../../restore/target/target-job.js";
import type { TargetService } from "../../restore/target-service.js";
import { documentKey } from "../../rows/document-row.js";
import type { Copies, DocumentPair } from "../compare/compare-options.js";
import type { MoveDifference } from "../moved.js";

export interface LiveOptions extends Pick<TargetReading, "name" | "dir"> {
  readonly service: TargetService;
  /** The dump that the documents are compared with. */
  readonly old: Dump;
  readonly pairs: readonly DocumentPair[];
  /** Null where the documents are the same, not copies. */
  readonly copies: Pick<Copies, "from"> | null;
  readonly tally: DumpTally;
}

/** The documents of a service as they stand. */
export interface Live {
  /** Undefined where the service has none of them. */
  readonly dump: Dump | undefined;
  /** Those that the service has. */
  readonly pairs: readonly DocumentPair[];
  /** Those that it does not have. */
  readonly gone: readonly MoveDifference[];
}

/** Dumps the documents of a service that are to be compared with those of a dump, into `<dir>/<name>`. Rejects as a run does. */
export async function readLive({ service, old, pairs, copies, name, dir, tally }: LiveOptions): Promise<Live> {
  const documents = pairs.map(({ live }) => live);
  const gone = await withTarget(service, documents, (api) => readGone(api, documents));
  const isGone = ({ live }: DocumentPair) => gone.has(documentKey(live));
  const left = pairs.filter((pair) => !isGone(pair));
  const reading: TargetReading = {
    ...{ name, dir, documents: left.map(({ live }) => live) },
    hasChildren: needsChildren(old, left, copies !== null),
    details: old.tablesOf(["datasets", "document_details"]) !== undefined,
    originals: copies?.from === "originals",
  };
  const dump = left.length > 0 ? await dumpTarget(service, reading, tally, "nothing was compared") : undefined;
  return { dump, pairs: left, gone: pairs.filter(isGone).map(goneFrom) };
}

/** A copy has child chunks where the run has some. The same document may have new ones anywhere. */
function needsChildren({ manifest }: Dump, pairs: readonly DocumentPair[], isCopy: boolean): boolean {
  const compared = new Set(pairs.map(({ old }) => old.document_id));
  const has = manifest.documents.some(
    ({ document_id, child_chunk_count }) => child_chunk_count > 0 && compared.has(document_id),
  );
  return has || (!isCopy && manifest.options.child_chunks === "all");
}

function goneFrom({ old: { document_id } }: DocumentPair): MoveDifference {
  return { level: "document", document_id, id: document_id, position: null, reason: "the service does not have it" };
}
