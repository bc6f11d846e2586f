import { allKinds } from "../../rows/columns.js";
import { documentKey } from "../../rows/document-row.js";
import { countOf } from "../../words.js";
import { fileFormats } from "../formats/formats.js";
import { type Manifest, partsOf } from "./manifest.js";
import type { Original } from "./original.js";

/** Finds contradictions within a manifest, a sentence each. */
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

/** A file of every kind that is counted, in every format that the run writes, each once, and no others. A shard writes JSONL. */
function inFormats({ options, counts, files, shard }: Manifest): readonly string[] {
  const asked = fileFormats.filter((format) => (shard ? ["jsonl"] : options.output.formats).includes(format));
  const kinds = allKinds.filter((kind) => counts[kind] !== undefined);
  const expected = asked.flatMap((format) => kinds.map((kind) => `${kind}.${format}`));
  const listed = files.map(({ path }) => path);
  return [
    ...expected
      .filter((path) => !listed.includes(path))
      .map((path) => `files: ${path} is not listed, although its format was asked for`),
    ...listed
      .filter((path) => !expected.includes(path))
      .map((path) => `files: ${path} is listed, although its format was not asked for`),
    ...listed.filter((path, at) => listed.indexOf(path) < at).map((path) => `files: ${path} is listed twice`),
  ];
}

function inFiles({ counts, files }: Manifest): readonly string[] {
  return files.flatMap((file) => {
    const { kind } = partsOf(file);
    return file.rows === counts[kind]
      ? []
      : [`files: ${file.path} has ${countOf(file.rows, "row")}, counts.${kind} is ${counts[kind]}`];
  });
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

/** Checks the child lists of every document: as many as it has chunks, and no more empty ones than were asked for. */
function inChildLists({ documents, child_lists: lists }: Manifest): readonly string[] {
  const chunks = new Map(documents.map((document) => [documentKey(document), document.chunk_count]));
  return lists.flatMap((list) => {
    const { document_id: id, asked, embedded, skipped, empty, embedding } = list;
    const has = chunks.get(documentKey(list));
    if (has === undefined) return [`child_lists: document ${id} is not among the documents`];
    const told = asked + embedded + skipped;
    return [
      ...(told === has ? [] : [`child_lists: document ${id} has ${countOf(has, "chunk")}, ${told} are told of`]),
      ...(empty <= asked ? [] : [`child_lists: of document ${id}, ${empty} lists of ${asked} are empty`]),
      ...((embedding ?? 0) <= told
        ? []
        : [`child_lists: of document ${id}, ${embedding} chunks of ${told} embed some`]),
    ];
  });
}

/** A proof of every document, unless the manifest tells of none; a document has one exactly if it is complete. */
function inProofs({ documents, proofs }: Manifest): readonly string[] {
  if (proofs.length === 0) return [];
  const told = new Map(proofs.map((proof) => [documentKey(proof), proof.proof]));
  const known = new Set(documents.map(documentKey));
  return [
    ...proofs
      .filter((proof) => !known.has(documentKey(proof)))
      .map(({ document_id: id }) => `proofs: document ${id} is not among the documents`),
    ...documents.flatMap((document) => {
      const proof = told.get(documentKey(document));
      const { document_id: id, status } = document;
      if (proof === undefined) return [`proofs: document ${id} is not told of`];
      return (proof === "none") === (status !== "complete")
        ? []
        : [`proofs: document ${id} is ${status}, its proof is ${proof}`];
    }),
  ];
}

/** Each original is of a document of the run, in a place of its own, listed once, and its verdict is that of its size. */
function inOriginals({ documents, originals = [] }: Manifest): readonly string[] {
  const known = new Set(documents.map(documentKey));
  const places = originals.flatMap(({ path }) => path ?? []);
  const attached = originals.filter(({ attachment_id: id }) => id !== null).map(originalText);
  return [
    ...repeatsIn([...places, ...attached]).map((twice) => `originals: ${twice} is listed twice`),
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

/** A shard is one of so many, and has no more documents than the list of all of them. */
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

function repeatsIn(places: readonly string[]): readonly string[] {
  const seen = new Set<string>();
  return places.filter((place) => seen.size === seen.add(place).size);
}
