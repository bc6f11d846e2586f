import { isUtf8 } from "node:buffer";
import { constants } from "node:fs";
import { type FileHandle, open, realpath, stat } from "node:fs/promises";
import { join } from "node:path";
import * as v from "valibot";
import { UsageError } from "../errors.js";
import { isAbsence } from "../files/files.js";
import { allKinds, type Kind } from "../rows/columns.js";
import { documentKey } from "../rows/row.js";
import { check, object, valueIf } from "../schema.js";
import { countOf } from "../words.js";
import { fileName, partitionedKinds } from "./formats/format.js";
import { fileFormats, formatOf } from "./formats/formats.js";
import {
  type Manifest,
  manifestFormat,
  manifestName,
  manifestSchema,
  type Original,
  partsOf,
  type RunFacts,
  runFactsSchema,
} from "./manifest.js";

/** Maximum bytes of a manifest. A larger one does not fit in a string. */
const largest = 500_000_000;

/** Maximum nesting of a manifest. A run writes about ten levels; deeper ones could overflow the stack of the check. */
const deepest = 1000;

/** A manifest, or the reasons why it cannot be used. */
type ReadManifest =
  | { readonly manifest: Manifest; readonly problems: readonly [] }
  | { readonly manifest: undefined; readonly problems: readonly string[] };

/** A run folder, with symlinks resolved. */
type DumpFolder = ReadManifest & { readonly folder: string };

/** Reads the manifest of a dump. The path may be `latest`. Throws UsageError if it is not a run folder. */
export async function readDumpFolder(path: string): Promise<DumpFolder> {
  const folder = await folderAt(path);
  const read = await readManifest(folder);
  if (read) return { folder, ...read };
  throw noDump(path, `no ${manifestName} in it, which a run writes last`);
}

/** Reads the manifest in a folder; undefined if there is none. Does not block and does not follow symlinks. */
export async function readManifest(folder: string): Promise<ReadManifest | undefined> {
  const read = await manifestText(folder);
  if (read === undefined) return undefined;
  return read.text === undefined ? unsound(read.problem) : manifestFrom(read.text);
}

/** The text of the manifest in a folder, or why it cannot be used; undefined if there is none. */
async function manifestText(
  folder: string,
): Promise<{ readonly text: string } | { readonly text?: undefined; readonly problem: string } | undefined> {
  const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
  let file: FileHandle;
  try {
    file = await open(join(folder, manifestName), flags);
  } catch (error) {
    if (isAbsence(error)) return undefined;
    if (hasCode(error, "ELOOP")) return { problem: "is a symlink, which is not followed" };
    if (hasCode(error, "ENXIO")) return { problem: "is not a regular file" }; // a socket
    throw error;
  }
  try {
    const facts = await file.stat();
    if (!facts.isFile()) return { problem: "is not a regular file" };
    if (facts.size > largest) return { problem: `is larger than ${largest / 1_000_000} MB` };
    const bytes = await file.readFile();
    return isUtf8(bytes) ? { text: bytes.toString("utf8") } : { problem: "is not UTF-8" };
  } finally {
    await file.close();
  }
}

function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && "code" in error && error.code === code;
}

/** The run that a folder holds, from its manifest; undefined if unknown for any reason. Never rejects. */
export async function readRunFacts(folder: string): Promise<RunFacts | undefined> {
  try {
    const read = await manifestText(folder);
    return read?.text === undefined ? undefined : valueIf(runFactsSchema, JSON.parse(read.text));
  } catch {
    return undefined;
  }
}

function unsound(...problems: readonly string[]): ReadManifest {
  return { manifest: undefined, problems };
}

function manifestFrom(text: string): ReadManifest {
  if (isDeeperThan(deepest, text)) return unsound(`is nested more than ${deepest} deep`);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return unsound(`is not valid JSON: ${error instanceof Error ? error.message : error}`);
  }
  const format = valueIf(object({ format: v.number() }), value)?.format ?? manifestFormat;
  if (format !== manifestFormat) return unsound(otherFormat(format));
  const checked = check(manifestSchema, value);
  if (checked.problems === null) return { manifest: checked.value, problems: [] };
  return unsound(...checked.problems.map(({ path, message }) => `${path || "the whole"}: ${message}`));
}

/** Why a run of another version cannot be read, and what to do. */
export function otherFormat(format: number): string {
  const advice = format > manifestFormat ? "update kbdump" : "run the job again, or use the version that wrote it";
  return `has format ${format}, and this version of kbdump reads format ${manifestFormat}: ${advice}`;
}

/** Whether arrays and objects are nested more than this deep. */
function isDeeperThan(bound: number, text: string): boolean {
  let depth = 0;
  let isString = false;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === 34) isString = !isString;
    else if (isString && code === 92) at++;
    else if (!isString && (code === 91 || code === 123) && ++depth > bound) return true;
    else if (!isString && (code === 93 || code === 125)) depth--;
  }
  return false;
}

async function folderAt(path: string): Promise<string> {
  try {
    const folder = await realpath(path);
    if ((await stat(folder)).isDirectory()) return folder;
  } catch (error) {
    if (!isAbsence(error)) throw error;
    throw noDump(path, "there is no such folder");
  }
  throw noDump(path, "it is not a folder; name the folder of a run, such as output/nightly/latest");
}

function noDump(path: string, message: string): UsageError {
  return new UsageError("Not a finished run folder:", [{ path, message }]);
}

/** Contradictions within a manifest, one sentence each. */
export function contradictionsIn(manifest: Manifest): readonly string[] {
  return [
    ...inFormats(manifest),
    ...inFiles(manifest),
    ...inDocuments(manifest),
    ...inChildLists(manifest),
    ...inProofs(manifest),
    ...inOriginals(manifest),
    ...inShard(manifest),
  ];
}

/** Checks that each counted kind has one file (or one per dataset) in every format that the run writes, and no others. */
function inFormats({ options, counts, files, documents, shard }: Manifest): readonly string[] {
  const { formats, compress, partition } = options.output;
  const written: readonly string[] = shard ? ["jsonl"] : formats; // a shard writes only JSONL
  const datasets = partition === "dataset" ? [...new Set(documents.map(({ dataset_id }) => dataset_id))] : [];
  const asked = fileFormats.filter((format) => written.includes(format));
  const kinds = allKinds.filter((kind) => counts[kind] !== undefined);
  const expected = asked.flatMap((format) => {
    const compression = formatOf(format).isText ? compress : "none";
    return kinds.flatMap((kind) => {
      const isDivided = datasets.length > 0 && partitionedKinds.includes(kind);
      const named = (dataset: string | undefined) => fileName({ kind, format, dataset, compression });
      return isDivided ? datasets.map(named) : [named(undefined)];
    });
  });
  const [listed, wanted] = [new Set(files.map(({ path }) => path)), new Set(expected)];
  const seen = new Set<string>();
  return [
    ...expected
      .filter((path) => !listed.has(path))
      .map((path) => `files: ${path} is not listed, although its format was asked for`),
    ...files
      .filter(({ path }) => !wanted.has(path))
      .map(({ path }) => `files: ${path} is listed, although its format was not asked for`),
    ...files
      .filter(({ path }) => seen.size === seen.add(path).size)
      .map(({ path }) => `files: ${path} is listed twice`),
  ];
}

function inFiles({ counts, files, documents }: Manifest): readonly string[] {
  const rowsOf = rowsByDataset(documents);
  return files.flatMap((file) => {
    const { kind, dataset, compression } = partsOf(file);
    const [place, count] =
      dataset === undefined
        ? [`counts.${kind}`, counts[kind]]
        : [`the sum of its documents in dataset ${dataset}`, rowsOf(kind, dataset)];
    return [
      ...(file.rows === count ? [] : [`files: ${file.path} has ${countOf(file.rows, "row")}, ${place} is ${count}`]),
      ...((file.uncompressed === undefined) === (compression === "none")
        ? []
        : [
            `files: ${file.path} ${file.uncompressed ? "has facts of its text, and is not compressed" : "is compressed, and has no facts of its text"}`,
          ]),
    ];
  });
}

/** Counts chunks and child chunks by dataset. */
function rowsByDataset(documents: Manifest["documents"]): (kind: Kind, dataset: string) => number {
  const sums = new Map<string, { chunks: number; child_chunks: number }>();
  for (const { dataset_id, chunk_count, child_chunk_count } of documents) {
    const sum = sums.get(dataset_id) ?? { chunks: 0, child_chunks: 0 };
    sums.set(dataset_id, { chunks: sum.chunks + chunk_count, child_chunks: sum.child_chunks + child_chunk_count });
  }
  return (kind, dataset) => (kind === "chunks" || kind === "child_chunks" ? (sums.get(dataset)?.[kind] ?? 0) : 0);
}

function inDocuments({ status, counts, documents }: Manifest): readonly string[] {
  const sum = (column: "chunk_count" | "child_chunk_count") => documents.reduce((all, row) => all + row[column], 0);
  const sums = { documents: documents.length, chunks: sum("chunk_count"), child_chunks: sum("child_chunk_count") };
  const incomplete = documents.find((document) => document.status !== "complete");
  return [
    ...(["documents", "chunks", "child_chunks"] as const)
      .filter((kind) => counts[kind] !== sums[kind])
      .map((kind) => `counts.${kind} is ${counts[kind]}, its documents have ${sums[kind]}`),
    ...(status === "complete" && incomplete
      ? [`status is complete, but document ${incomplete.document_id} is ${incomplete.status}`]
      : []),
    ...documents.flatMap(inDocument),
  ];
}

function inDocument({
  document_id: id,
  status,
  total,
  chunk_count: chunks,
  child_chunk_count: children,
}: Manifest["documents"][number]): readonly string[] {
  if (status === "complete" && total !== chunks)
    return [`document ${id} is complete with ${countOf(chunks, "chunk")}, but its total is ${total}`];
  if (status === "failed" && chunks + children > 0)
    return [`document ${id} failed, but has ${countOf(chunks, "chunk")} and ${countOf(children, "child chunk")}`];
  return [];
}

/** Checks the child lists of every document: one per chunk, and no more empty ones than were read. */
function inChildLists({ documents, child_lists: lists }: Manifest): readonly string[] {
  const chunks = new Map(documents.map((document) => [documentKey(document), document.chunk_count]));
  return lists.flatMap((list) => {
    const { document_id: id, asked, embedded, skipped, empty, embedding } = list;
    const has = chunks.get(documentKey(list));
    if (has === undefined) return [`child_lists: document ${id} is not among the documents`];
    const recorded = asked + embedded + skipped;
    return [
      ...(recorded === has
        ? []
        : [`child_lists: document ${id} has ${countOf(has, "chunk")}, child_lists counts ${recorded}`]),
      ...(empty <= asked ? [] : [`child_lists: of document ${id}, ${empty} lists of ${asked} are empty`]),
      ...(embedding <= recorded
        ? []
        : [`child_lists: of document ${id}, ${embedding} chunks of ${recorded} embed some`]),
    ];
  });
}

/** Checks that every document has a proof if it is complete, and none if not. A manifest without any proofs passes. */
function inProofs({ documents, proofs }: Manifest): readonly string[] {
  if (proofs.length === 0) return [];
  const recorded = new Map(proofs.map((proof) => [documentKey(proof), proof.proof]));
  const known = new Set(documents.map(documentKey));
  return [
    ...proofs
      .filter((proof) => !known.has(documentKey(proof)))
      .map(({ document_id: id }) => `proofs: document ${id} is not among the documents`),
    ...documents.flatMap((document) => {
      const proof = recorded.get(documentKey(document));
      const { document_id: id, status } = document;
      if (proof === undefined) return [`proofs: document ${id} is missing`];
      return (proof === "none") === (status !== "complete")
        ? []
        : [`proofs: document ${id} is ${status}, its proof is ${proof}`];
    }),
  ];
}

/** Checks that each original belongs to a document of the run, has its own path, is listed once, and has a verdict that fits its size. */
function inOriginals({ documents, originals = [] }: Manifest): readonly string[] {
  const known = new Set(documents.map(documentKey));
  const places = originals.flatMap(({ path }) => path ?? []);
  const attached = originals.filter(({ attachment_id: id }) => id !== null);
  const twice = [...repeatsIn(places, (path) => path), ...repeatsIn(attached, attachmentKey).map(originalText)];
  return [
    ...twice.map((which) => `originals: ${which} is listed twice`),
    ...originals
      .filter((original) => !known.has(documentKey(original)))
      .map(({ document_id: id }) => `originals: document ${id} is not among the documents`),
    ...originals.flatMap((original) => {
      const { path, sha256, bytes, expected_bytes: expected, verdict } = original;
      const which = originalText(original);
      if ((path === null) !== (verdict === "missing") || (path === null) !== (sha256 === null))
        return [`originals: ${which} is ${verdict}, and its path is ${path}`];
      const isWhole = expected === null || bytes === expected;
      return verdict === "complete" && !isWhole
        ? [`originals: ${which} is complete with ${countOf(bytes, "byte")}, but ${expected} are expected`]
        : [];
    }),
    ...originals
      .filter(({ attachment_id, chunk_id }) => attachment_id !== null && chunk_id === null)
      .map((original) => `originals: ${originalText(original)} names no chunk`),
  ];
}

/** Checks that the shard's index is within the count, and that it has no more documents than the full list. */
function inShard({ shard, documents }: Manifest): readonly string[] {
  if (!shard) return [];
  const { index, count, list } = shard;
  return [
    ...(index > count ? [`shard: ${index} of ${count} cannot be`] : []),
    ...(documents.length > list.documents
      ? [`shard: it has ${countOf(documents.length, "document")}, the list of all shards has ${list.documents}`]
      : []),
  ];
}

function originalText({ attachment_id: attachment, document_id: id }: Original): string {
  return `${attachment === null ? "that" : `attachment ${attachment}`} of document ${id}`;
}

const attachmentKey = (original: Original) => JSON.stringify([documentKey(original), original.attachment_id]);

function repeatsIn<Thing>(things: readonly Thing[], keyOf: (thing: Thing) => string): readonly Thing[] {
  const seen = new Set<string>();
  return things.filter((thing) => seen.size === seen.add(keyOf(thing)).size);
}
