import type { Connection } from "../../duckdb/open-duckdb.js";
import { withSpill } from "../../duckdb/with-spill.js";
import type { Original } from "../../dump/manifest/original.js";
import type { Dump } from "../../dump/open-dump.js";
import type { DocumentId } from "../../restore/document-rows.js";
import { isOf, loadDocumentRows, type ReadDocumentRows } from "../../restore/load-document-rows.js";
import { copyName } from "../copy-name.js";
import type { LossPart } from "../move-plan.js";
import type { MoveDifference } from "../moved.js";
import { comingOf, compareCopy } from "./compare-copy.js";
import { compareDatasets } from "./compare-datasets.js";
import { compareDocument } from "./compare-document.js";
import type { ComparedRows, CompareOptions, Copies, DocumentPair, RowCounts } from "./compare-options.js";
import { compareOriginals } from "./compare-originals.js";
import { compareSame } from "./compare-same.js";
import { listRows } from "./list-rows.js";
import { loadDetails, type ReadDetails } from "./load-details.js";
import type { RowDifference } from "./row-difference.js";
import { refuseUnread, refuseWithoutSettings } from "./unread.js";

/**
 * Compares documents of a dump with those of a service, one at a time. StopError where one could not be read whole, or a file is not
 * as its run wrote it: then nothing is proved.
 */
export async function compareDumps(options: CompareOptions): Promise<readonly MoveDifference[]> {
  const { pairs, signal } = options;
  refuseUnread(options.live);
  return withSpill(":memory:", options, async (connection) => {
    const sides = await openSides(connection, options);
    const differences: MoveDifference[] = [
      ...(await compareDatasets(options, { old: sides.old.details, live: sides.live.details })),
    ];
    for (const pair of pairs) {
      signal.throwIfAborted();
      const { found, rows } = await comparePair(pair, options, sides);
      differences.push(...found);
      options.onDocument?.(rows);
    }
    return differences;
  });
}

interface Side {
  readonly details: ReadDetails;
  /** Undefined where rows are not compared. */
  readonly rows: ReadDocumentRows | undefined;
}

interface Sides {
  readonly old: Side;
  readonly live: Side;
}

async function openSides(connection: Connection, options: CompareOptions): Promise<Sides> {
  const open = async (name: "old" | "live"): Promise<Side> => {
    const documents = options.pairs.map((pair) => pair[name]);
    return {
      details: await loadDetails(connection, name, options[name]),
      rows:
        options.copies?.from === "originals"
          ? undefined
          : await loadDocumentRows(connection, name, options[name], documents, options),
    };
  };
  return { old: await open("old"), live: await open("live") };
}

async function comparePair(
  pair: DocumentPair,
  options: CompareOptions,
  sides: Sides,
): Promise<{ readonly found: readonly MoveDifference[]; readonly rows: ComparedRows }> {
  const { document_id } = pair.old;
  const ofDocument = { level: "document", document_id, id: document_id, position: null } as const;
  const sentences = [...(await compareSettings(pair, options, sides)), ...compareFiles(pair, options)];
  const { differing, ...rows } = await compareRows(pair, options, sides);
  const { listed, more } = listRows(differing);
  const found = [
    ...[...sentences, ...more].map((reason) => ({ ...ofDocument, reason })),
    ...listed.map((difference) => ({ ...difference, document_id })),
  ];
  return { found, rows };
}

async function compareSettings(pair: DocumentPair, options: CompareOptions, { old, live }: Sides) {
  const { copies, live: dump } = options;
  const [before, now] = [await old.details.document(pair.old), await live.details.document(pair.live)];
  if (before && !now && copies) refuseWithoutSettings(dump, `document ${pair.live.document_id}`);
  if (!before || !now) return [];
  if (copies === null) return compareDocument(before, now, null);
  const losses = lossesOf(copies, pair);
  const fields = (await old.details.dataset(pair.old.dataset_id))?.fields;
  const file = copies.from === "originals" ? originalOf(options.old, pair.old) : undefined;
  const name = before.name !== null && file?.name ? copyName(before.name, file.name) : before.name;
  return compareDocument({ ...before, name }, now, { from: copies.from, losses, fields });
}

function compareFiles({ old, live }: DocumentPair, options: CompareOptions): readonly string[] {
  if (options.copies?.from !== "originals") return [];
  return compareOriginals(originalOf(options.old, old), originalOf(options.live, live));
}

/** The file that a document was made from; those attached to its chunks are others. */
function originalOf({ manifest }: Dump, document: DocumentId): Original | undefined {
  const isIt = isOf(document);
  return manifest.originals?.find((original) => original.attachment_id === null && isIt(original));
}

const noCounts: RowCounts = { chunks: 0, child_chunks: 0 };

async function compareRows(
  pair: DocumentPair,
  { old: dump, copies }: CompareOptions,
  { old, live }: Sides,
): Promise<ComparedRows & { readonly differing: readonly RowDifference[] }> {
  if (!old.rows || !live.rows) return { differing: [], compared: noCounts, refused: noCounts };
  const [all, now] = [await old.rows(pair.old), await live.rows(pair.live)];
  const hasChildren = dump.manifest.options.child_chunks !== "none";
  const before = copies === null ? all : comingOf(all);
  const compared = { chunks: before.chunks.length, child_chunks: before.children.length };
  const refused = {
    chunks: all.chunks.length - compared.chunks,
    child_chunks: all.children.length - compared.child_chunks,
  };
  if (copies === null) return { differing: compareSame(before, now, hasChildren), compared, refused };
  const { attachmentOf, failed } = copies;
  const rules = { attachmentOf, failed, hasChildren };
  return { differing: compareCopy(before, now, rules), compared, refused };
}

function lossesOf({ losses }: Copies, { old }: DocumentPair): ReadonlySet<LossPart> {
  return losses.get(old.document_id) ?? new Set();
}
