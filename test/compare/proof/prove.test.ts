import { describe, expect, test } from "vitest";
import { childHash, keywordsHash, textsHash } from "../../../src/compare/document-rows.js";
import { compareRestored } from "../../../src/compare/proof/prove.js";
import type { WrittenRow } from "../../../src/journal/journal-state.js";
import { standingChild, standingChunk } from "../../../src/restore/target-rows.js";
import { allOf, paired } from "./paired.js";

type Row = Readonly<Record<string, unknown>>;

const chunk = (id: string, fields: Row = {}): Row => ({
  id,
  document_id: "doc",
  position: 1,
  content: id,
  answer: null,
  keywords: ["k"],
  enabled: true,
  status: "completed",
  attachments: [{ id: "file", source_url: "a" }],
  hit_count: 1,
  tokens: 5,
  updated_at: "2026-03-01T00:00:00Z",
  index_node_id: "n",
  ...fields,
});
const child = (id: string, fields: Row = {}): Row => ({
  id,
  segment_id: "a",
  position: 1,
  content: id,
  type: "automatic",
  updated_at: null,
  ...fields,
});
const written = (id: string, fields: Partial<WrittenRow> = {}): WrittenRow => ({
  dataset_id: "set",
  document_id: "doc",
  level: "chunk",
  id,
  old_id: "old",
  parent_id: null,
  is_added: false,
  texts_sha256: textsHash({ content: "lost", answer: null }),
  keywords_sha256: null,
  is_disabled: false,
  is_indexed: true,
  ...fields,
});
const writtenChild = (id: string, fields: Partial<WrittenRow> = {}) =>
  written(id, { level: "child_chunk", parent_id: "a", texts_sha256: childHash("lost"), ...fields });

const before = {
  chunks: [chunk("a"), chunk("b", { position: 2 }), chunk("e", { status: "error" })],
  children: [child("x"), child("y")],
};

/** The findings of the proof if these rows replace those in `before`. */
function proved(after: Record<"chunks" | "children", readonly Row[]>, writes: readonly WrittenRow[]) {
  const pairs = {
    chunks: paired(before.chunks.map(standingChunk), after.chunks.map(standingChunk)),
    children: paired(before.children.map(standingChild), after.children.map(standingChild)),
  };
  return allOf(compareRestored(pairs, { documentId: "doc", written: writes, openAdds: [] }));
}

/** The findings of the proof if these rows replace, or are added to, the rows in `before`. */
async function differences(
  changed: Partial<Record<"chunks" | "children", readonly Row[]>>,
  writes: readonly WrittenRow[] = [],
) {
  const merged = (rows: readonly Row[], own: readonly Row[] = []) => {
    const ids = new Set(own.map(({ id }) => id));
    return [...rows.filter(({ id }) => !ids.has(id)), ...own].filter(({ gone }) => gone !== true);
  };
  const after = {
    chunks: merged(before.chunks, changed.chunks),
    children: merged(before.children, changed.children),
  };
  return (await proved(after, writes)).map(({ id, reason }) => `${id}: ${reason}`);
}

const gone = { gone: true };
const ours = "it is not as this restore wrote it";
const theirs = "this restore did not change it";

describe("nothing differs", () => {
  test.each<[string, Parameters<typeof differences>[0], readonly WrittenRow[]]>([
    ["where nothing was written", {}, []],
    [
      "but what moves by itself",
      {
        chunks: [
          chunk("a", {
            position: 7,
            hit_count: 9,
            tokens: 0,
            updated_at: null,
            index_node_id: "m",
            keywords: ["k", "k"],
          }),
        ],
      },
      [],
    ],
    ["a link that was signed again", { chunks: [chunk("a", { attachments: [{ id: "file", source_url: "b" }] })] }, []],
    ["an empty answer for none", { chunks: [chunk("a", { answer: "" })] }, []],
    [
      "an update, with keywords of the service's own",
      { chunks: [chunk("a", { content: "lost", keywords: ["own"] })] },
      [written("a")],
    ],
    [
      "an update with keywords",
      { chunks: [chunk("a", { content: "lost", keywords: ["y", "x"] })] },
      [written("a", { keywords_sha256: keywordsHash(["x", "y"]) })],
    ],
    [
      "keywords of a chunk that was not indexed before",
      { chunks: [chunk("e", { content: "lost", status: "error" })] },
      [written("e")],
    ],
    [
      "an added chunk, and the children that the service made below it",
      { chunks: [chunk("c", { content: "lost", attachments: [] })], children: [child("z", { segment_id: "c" })] },
      [written("c", { is_added: true })],
    ],
    [
      "a disabled chunk",
      { chunks: [chunk("a", { enabled: false })] },
      [written("a", { texts_sha256: null, is_disabled: true })],
    ],
    [
      "a chunk with status error that is disabled",
      { chunks: [chunk("c", { content: "lost", status: "error", enabled: false })] },
      [written("c", { is_added: true, is_indexed: false })],
    ],
    ["a child chunk", { children: [child("x", { content: "lost", type: "customized" })] }, [writtenChild("x")]],
    [
      "an added child chunk",
      { children: [child("z", { content: "lost", type: "customized" })] },
      [writtenChild("z", { is_added: true })],
    ],
    ["a write to another document", {}, [written("q", { document_id: "other" })]],
  ])("%s", async (_, changed, writes) => expect(await differences(changed, writes)).toEqual([]));
});

describe("a difference", () => {
  test.each<[string, Parameters<typeof differences>[0], readonly WrittenRow[], string]>([
    [
      "a text that the restore did not write",
      { chunks: [chunk("a", { content: "x" })] },
      [],
      `a: it differs in text: ${theirs}`,
    ],
    ["an answer", { chunks: [chunk("a", { answer: "x" })] }, [], `a: it differs in text: ${theirs}`],
    ["keywords", { chunks: [chunk("a", { keywords: [] })] }, [], `a: it differs in keywords: ${theirs}`],
    ["a state", { chunks: [chunk("a", { enabled: false })] }, [], `a: it differs in state: ${theirs}`],
    ["a status", { chunks: [chunk("a", { status: "error" })] }, [], `a: it differs in status: ${theirs}`],
    ["a file", { chunks: [chunk("a", { attachments: [] })] }, [], `a: it differs in attachments: ${theirs}`],
    ["a chunk that is gone", { chunks: [chunk("a", gone)] }, [], "a: it is gone"],
    ["a chunk that is new", { chunks: [chunk("c")] }, [], "c: it is new, and this restore did not write it"],
    [
      "a chunk that was added twice",
      { chunks: [chunk("c", { content: "lost", attachments: [] }), chunk("d", { content: "lost" })] },
      [written("c", { is_added: true })],
      "d: it is new, and this restore did not write it",
    ],
    [
      "an added chunk that is gone",
      {},
      [written("c", { is_added: true })],
      "c: this restore added it, and it is not there",
    ],
    [
      "an updated chunk that says something else",
      { chunks: [chunk("a", { content: "x" })] },
      [written("a")],
      `a: it differs in text: ${ours}`,
    ],
    [
      "an updated chunk that lost its file",
      { chunks: [chunk("a", { content: "lost", attachments: [] })] },
      [written("a")],
      `a: it differs in attachments: ${ours}`,
    ],
    [
      "an updated chunk without its keywords",
      { chunks: [chunk("a", { content: "lost" })] },
      [written("a", { keywords_sha256: keywordsHash(["x"]) })],
      `a: it differs in keywords: ${ours}`,
    ],
    [
      "an updated chunk that is disabled",
      { chunks: [chunk("a", { content: "lost", enabled: false, status: "error" })] },
      [written("a")],
      `a: it differs in state and status: ${ours}`,
    ],
    [
      "a chunk to disable that is enabled",
      {},
      [written("a", { texts_sha256: null, is_disabled: true })],
      `a: it differs in state: ${ours}`,
    ],
    [
      "a disabled chunk with another text",
      { chunks: [chunk("a", { content: "x", enabled: false })] },
      [written("a", { texts_sha256: null, is_disabled: true })],
      `a: it differs in text: ${ours}`,
    ],
    [
      "a child chunk that the restore did not write",
      { children: [child("x", { content: "q" })] },
      [],
      `x: it differs in text: ${theirs}`,
    ],
    [
      "a child chunk that became customized",
      { children: [child("x", { type: "customized" })] },
      [],
      `x: it differs in type: ${theirs}`,
    ],
    ["a child chunk that is gone", { children: [child("x", gone)] }, [], "x: it is gone"],
    [
      "a new child chunk below an old chunk",
      { children: [child("z")] },
      [written("c", { is_added: true, is_indexed: false })],
      "z: it is new, and this restore did not write it",
    ],
    [
      "a customized one, not written by the restore, below an added chunk",
      {
        chunks: [chunk("c", { content: "lost", attachments: [] })],
        children: [child("z", { segment_id: "c", type: "customized" })],
      },
      [written("c", { is_added: true })],
      "z: it is new, and this restore did not write it",
    ],
    [
      "a written child chunk that stayed automatic",
      { children: [child("x", { content: "lost" })] },
      [writtenChild("x")],
      `x: it differs in type: ${ours}`,
    ],
    [
      "an added child chunk below another chunk",
      { children: [child("z", { content: "lost", type: "customized", segment_id: "b" })] },
      [writtenChild("z", { is_added: true })],
      `z: it differs in chunk: ${ours}`,
    ],
  ])("%s", async (_, changed, writes, difference) => expect(await differences(changed, writes)).toContain(difference));

  test("has its place in the document", async () => {
    const after = { ...before, chunks: [chunk("a", { content: "x" }), ...before.chunks.slice(1)] };
    expect(await proved(after, [])).toEqual([
      { level: "chunk", id: "a", position: 1, reason: `it differs in text: ${theirs}` },
    ]);
  });
});
