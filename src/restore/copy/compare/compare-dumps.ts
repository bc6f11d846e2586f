import type { DocumentId } from "../../../compare/document-rows.js";
import { isOf, loadDocumentRows, type ReadDocumentRows } from "../../../compare/load-document-rows.js";
import { type Connection, withSpill } from "../../../duckdb/open-duckdb.js";
import type { Original } from "../../../dump/manifest.js";
import type { Dump } from "../../../dump/open-dump.js";
import { StopError } from "../../../errors.js";
import { countOf } from "../../../words.js";
import { type CopyPlan, type CopySource, copyName, datasetIdOf, type Loss, type LossPart } from "../copy-plan.js";
import type { AppliedCopy, CopyDifference, JournalFacts } from "../copy-result.js";
import { type CopiedDataset, compareDataset, datasetPairKey } from "./compare-dataset.js";
import { comingOf, compareCopy, compareDocument, compareSame, type RowDifference } from "./compare-document.js";
import { loadDetails, type ReadDetails } from "./details.js";

/**
 * Compares documents of a dump with those of a service, one at a time. StopError where one could not be read whole, or a file is not
 * as its run wrote it: then nothing is proved.
 */
export async function compareDumps(options: CompareOptions): Promise<readonly CopyDifference[]> {
  const { pairs, signal } = options;
  refuseUnread(options.live);
  return withSpill(":memory:", options, async (connection) => {
    const sides = await openSides(connection, options);
    const differences: CopyDifference[] = [
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
): Promise<{ readonly found: readonly CopyDifference[]; readonly rows: ComparedRows }> {
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

/** Compares the settings of every dataset that has one of the documents, each pair of datasets once. */
async function compareDatasets(
  { pairs, copies, live: dump }: Pick<CompareOptions, "pairs" | "copies" | "live">,
  { old, live }: { readonly old: ReadDetails; readonly live: ReadDetails },
): Promise<readonly CopyDifference[]> {
  const differences: CopyDifference[] = [];
  const datasets = datasetPairs(pairs);
  for (const { id, liveId } of datasets) {
    const [before, now] = [await old.dataset(id), await live.dataset(liveId)];
    if (before && !now && copies) refuseWithoutSettings(dump, `dataset ${liveId}`);
    const copied = copies?.datasets.get(datasetPairKey(id, liveId)) ?? null;
    const sentences = before && now ? compareDataset(before, now, copied) : [];
    const which = datasets.filter((each) => each.id === id).length > 1 ? ` (dataset ${liveId})` : "";
    differences.push(...sentences.map((reason) => ({ ...ofDataset(id), reason: reason + which })));
  }
  return differences;
}

/** The datasets of these documents in the dump and at the service, each pair once. */
function datasetPairs(pairs: readonly DocumentPair[]) {
  const datasets = pairs.map(({ old, live }) => ({ id: old.dataset_id, liveId: live.dataset_id }));
  return [...new Map(datasets.map((each) => [datasetPairKey(each.id, each.liveId), each])).values()];
}

function ofDataset(id: string) {
  return { level: "dataset", document_id: null, id, position: null } as const;
}

type File = Pick<Original, "sha256" | "verdict" | "reason">;

/** Compares the file that a document was made from with the one that the service has for its copy; gives sentences. */
function compareOriginals(old: File | undefined, live: File | undefined): readonly string[] {
  if (old?.verdict !== "complete") return [];
  if (live?.verdict !== "complete")
    return [`its file is not complete at the service: ${live?.reason ?? "it has none"}`];
  return old.sha256 === live.sha256 ? [] : ["its file has another SHA-256 at the service"];
}

/** Differences of rows of one document that are listed. */
const mostListed = 100;

/** The first differences of the rows of a document, and a sentence that counts all others. */
function listRows(differences: readonly RowDifference[]): {
  readonly listed: readonly RowDifference[];
  readonly more: readonly string[];
} {
  const rest = differences.slice(mostListed);
  const chunks = rest.filter(({ level }) => level === "chunk").length;
  const counts = [
    ...(chunks > 0 ? [countOf(chunks, "more chunk")] : []),
    ...(rest.length > chunks ? [countOf(rest.length - chunks, "more child chunk")] : []),
  ];
  return {
    listed: differences.slice(0, mostListed),
    more: rest.length > 0 ? [`${counts.join(" and ")} of it ${rest.length === 1 ? "differs" : "differ"}`] : [],
  };
}

/** StopError where a document of the service could not be read whole: then nothing can be said of it. */
function refuseUnread({ manifest }: Dump): void {
  const unread = manifest.documents.filter(({ status }) => status !== "complete");
  if (unread.length === 0) return;
  const sentences = unread.map(({ document_id, status, error }) => `${document_id}: ${error ?? status}`);
  throw notCompared("documents could not be read whole", sentences);
}

/** StopError: the service did not show the settings of a dataset or document that this program made. */
function refuseWithoutSettings({ manifest }: Dump, what: string): never {
  throw notCompared(`the settings of ${what} could not be read`, manifest.warnings);
}

function notCompared(reason: string, sentences: readonly string[]): StopError {
  const lines = [`nothing was proved, as ${reason} at the service:`, ...sentences.map((sentence) => `  ${sentence}`)];
  return new StopError([...lines, "run the same command again"].join("\n"));
}

/** A document of a dump, and the one at the service that it is compared with. */
export interface DocumentPair {
  readonly old: DocumentId;
  readonly live: DocumentId;
}

/** The facts of documents that were restored as copies. */
export interface Copies {
  readonly from: CopySource;
  /** By `datasetPairKey`. */
  readonly datasets: ReadonlyMap<string, CopiedDataset>;
  /** Parts of documents that were announced not to come, by the id of the document in the dump. */
  readonly losses: ReadonlyMap<string, ReadonlySet<LossPart>>;
  /** The id at the service of an attachment of the dump; undefined where it was announced not to come. */
  readonly attachmentOf: (id: string) => string | undefined;
  /** Ids in the dump of rows that are known not to be there as they should, and were reported. */
  readonly failed: ReadonlySet<string>;
}

interface CompareOptions {
  readonly old: Dump;
  /** A dump of the documents of all `pairs`, with `details` where the old one has them. */
  readonly live: Dump;
  readonly pairs: readonly DocumentPair[];
  /** Null: the documents are the same, with the same ids. */
  readonly copies: Copies | null;
  /** Memory for DuckDB, as DuckDB reads it. */
  readonly memory: string;
  readonly signal: AbortSignal;
  /** Called after each document. */
  readonly onDocument?: (rows: ComparedRows) => void;
}

/** The rows that the run has of a document: those that were compared, and those that have no copy, as they say nothing. */
export interface ComparedRows {
  readonly compared: RowCounts;
  readonly refused: RowCounts;
}

export interface RowCounts {
  readonly chunks: number;
  readonly child_chunks: number;
}

/** The facts of copies that a plan made: everything that it announced is expected. `moved`: rows that failed were reported. */
export function copiesOfPlan(plan: CopyPlan, facts: JournalFacts, { moved, missingTags }: AppliedCopy): Copies {
  const documents = plan.datasets.flatMap((dataset) => dataset.documents);
  const kept = documents.flatMap(({ attachments }) => attachments.filter(({ file }) => file === null));
  const keptIds = new Set(kept.map(({ id }) => id));
  return {
    from: plan.from,
    datasets: new Map(
      plan.datasets.map(({ key, dataset_id, target }) => [
        datasetPairKey(dataset_id, facts.datasets.get(key)?.id ?? ""),
        {
          name: target.name,
          existed: facts.datasets.get(key)?.existed ?? false,
          missingTags: new Set(missingTags.get(key)),
        },
      ]),
    ),
    losses: new Map(documents.map(({ document_id, losses }) => [document_id, partsOf(losses)])),
    attachmentOf: (id) => facts.attachments.get(id) ?? (keptIds.has(id) ? id : undefined),
    failed: new Set(moved.documents.flatMap(({ failed }) => failed.map(({ id }) => id))),
  };
}

/** The facts of copies that a journal knows. `isSameService`: the copies are where the run came from, and so are the attachments. */
export function copiesOfJournal(facts: JournalFacts, isSameService: boolean): Copies {
  const datasets = [...facts.datasets].map(([key, { id, name, existed = false }]): [string, CopiedDataset] => [
    datasetPairKey(datasetIdOf(key), id),
    { name, existed },
  ]);
  return {
    from: facts.from ?? "chunks",
    datasets: new Map(datasets),
    losses: new Map(),
    attachmentOf: (id) => facts.attachments.get(id) ?? (isSameService ? id : undefined),
    failed: new Set(),
  };
}

function partsOf(losses: readonly Loss[]): ReadonlySet<LossPart> {
  return new Set(losses.map(({ part }) => part));
}
