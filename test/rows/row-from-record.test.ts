import { beforeEach, describe, expect, it } from "vitest";
import { allKinds, columns, type Kind } from "../../src/rows/columns.js";
import { ExactNumber } from "../../src/rows/exact-json.js";
import type { RawRecord, Row } from "../../src/rows/row.js";
import { rowFromRecord } from "../../src/rows/row-from-record.js";

const known: Readonly<Record<Kind, Row>> = {
  chunks: { dataset_id: "dataset", document_id: "document" },
  child_chunks: { dataset_id: "dataset", document_id: "document", segment_id: "segment" },
  documents: {},
  indexing_status: { captured_at: "2025-03-06T13:20:00Z", dataset_id: "dataset", batch: "batch" },
  metadata_fields: { dataset_id: "dataset", position: 1 },
  document_info: { dataset_id: "dataset", dataset_name: "Handbook" },
  datasets: {},
  document_details: { dataset_id: "dataset" },
};

let drift: string[] = [];
beforeEach(() => {
  drift = [];
});

function rowOf(kind: Kind, record: RawRecord, keepSignatures = false): Row {
  return rowFromRecord(kind, record, known[kind], { keepSignatures, drift: (...where) => drift.push(where.join(".")) });
}

const signature = `?timestamp=1741267200&nonce=${"0".repeat(32)}&sign=${"a".repeat(43)}=`;

describe("a row", () => {
  it.each(allKinds)("of %s has every column, in order, null if nothing was sent", (kind) => {
    const row = rowOf(kind, {});
    expect(Object.keys(row)).toEqual(columns[kind].map(({ name }) => name));
    for (const { name } of columns[kind]) expect(row[name]).toBe(known[kind][name] ?? null);
    expect(drift).toEqual([]);
  });

  it("has its columns in order, however the fields came", () => {
    const row = rowOf("child_chunks", { zz: 1, updated_at: 0, content: "c", id: "i", segment_id: "segment" });
    expect(JSON.stringify(row)).toBe(
      '{"dataset_id":"dataset","document_id":"document","segment_id":"segment","id":"i","position":null,"content":"c",' +
        '"word_count":null,"type":null,"created_at":null,"updated_at":"1970-01-01T00:00:00Z","extra":{"zz":1}}',
    );
  });

  it("distinguishes the empty string from null, and treats a missing field as null", () => {
    expect(rowOf("chunks", { answer: "", content: null, keywords: [], attachments: [] })).toMatchObject({
      answer: "",
      content: null,
      status: null,
      keywords: [],
      attachments: [],
      extra: null,
    });
  });

  it("leaves the record as it was", () => {
    const record = {
      id: 5,
      sign_content: `/files/a${signature}`,
      attachments: [{ source_url: `/files/a${signature}` }],
    };
    const before = structuredClone(record);
    rowOf("chunks", record);
    expect(record).toEqual(before);
  });
});

describe("a field that no column names", () => {
  it.each<[string, unknown]>([
    ["made_up", 1],
    ["made_up", null],
    ["made_up", ""],
    ["made_up", { a: [new ExactNumber("9007199254740993")] }],
    ["", "nameless"],
    ["extra", { extra: 1 }],
    ["constructor", "c"],
    ["toString", 1],
    ["dataset", "d"],
    ["segment_id", "another column of another table"],
  ])("%j: %j is kept in extra", (field, value) => {
    expect(rowOf("chunks", { id: "i", [field]: value })).toMatchObject({ id: "i", extra: { [field]: value } });
    expect(drift).toEqual([]);
  });

  it("is kept when it is __proto__, and harms nothing", () => {
    const { extra } = rowOf("chunks", JSON.parse('{"__proto__":{"polluted":true}}'));
    expect(JSON.stringify(extra)).toBe('{"__proto__":{"polluted":true}}');
    expect({}).not.toHaveProperty("polluted");
  });

  it("keeps its links as they are", () => {
    const link = `/files/a${signature}`;
    expect(rowOf("chunks", { content: link, preview: link })).toMatchObject({
      content: link,
      extra: { preview: link },
    });
  });
});

describe("a field of an unexpected type", () => {
  it.each<[Kind, string, unknown]>([
    ["chunks", "content", 12],
    ["chunks", "position", "12"],
    ["chunks", "position", 1.5],
    ["chunks", "tokens", new ExactNumber("9223372036854775808")],
    ["chunks", "enabled", "true"],
    ["chunks", "keywords", "a, b"],
    ["chunks", "keywords", ["a", null]],
    ["chunks", "attachments", {}],
    ["chunks", "created_at", "2025-03-06T13:20:00Z"],
    ["chunks", "created_at", 1741267200000],
    ["child_chunks", "type", false],
    ["indexing_status", "paused_at", ""],
    ["indexing_status", "total_segments", "3"],
  ])("%s.%s: %j is kept in extra and counted, its column is null", (kind, field, value) => {
    expect(rowOf(kind, { [field]: value, other: 1 })).toMatchObject({
      [field]: null,
      extra: { [field]: value, other: 1 },
    });
    expect(drift).toEqual([`${kind}.${field}`]);
  });

  it("keeps the name that the service gave it", () => {
    expect(rowOf("indexing_status", { id: 7 })).toMatchObject({ document_id: null, extra: { id: 7 } });
    expect(drift).toEqual(["indexing_status.id"]);
  });

  it("is counted every time", () => {
    rowOf("chunks", { tokens: "1", position: "1" });
    rowOf("chunks", { tokens: "2" });
    expect(drift.sort()).toEqual(["chunks.position", "chunks.tokens", "chunks.tokens"]);
  });
});

describe("a time", () => {
  it.each([
    [1741267200, "2025-03-06T13:20:00Z"],
    [1741267200.25, "2025-03-06T13:20:00.250Z"],
    [1741267200.123, "2025-03-06T13:20:00.123Z"],
    [0, "1970-01-01T00:00:00Z"],
  ])("%d is %s, and nothing of it is left for extra", (seconds, text) => {
    expect(rowOf("chunks", { created_at: seconds })).toMatchObject({ created_at: text, extra: null });
    expect(drift).toEqual([]);
  });

  it.each([
    [1741267200.123456, "2025-03-06T13:20:00.123Z"],
    [1741267200.9999, "2025-03-06T13:20:00.999Z"],
    [new ExactNumber("1741267200.1230000001"), "2025-03-06T13:20:00.123Z"],
  ])(
    "%j is finer than the column: it stands there to the millisecond, is kept in extra, and counted",
    (seconds, text) => {
      expect(rowOf("chunks", { created_at: seconds })).toMatchObject({
        created_at: text,
        extra: { created_at: seconds },
      });
      expect(drift).toEqual(["chunks.created_at"]);
    },
  );

  it.each([253402300800, 1e300, new ExactNumber("1e400"), -62135596801])(
    "%j is none that a column can hold, and is kept in extra",
    (seconds) => {
      expect(rowOf("chunks", { created_at: seconds })).toMatchObject({
        created_at: null,
        extra: { created_at: seconds },
      });
      expect(drift).toEqual(["chunks.created_at"]);
    },
  );
});

describe("the ids that kbdump knows", () => {
  it.each<[Kind, string]>([
    ["chunks", "dataset_id"],
    ["chunks", "document_id"],
    ["child_chunks", "segment_id"],
    ["indexing_status", "batch"],
    ["indexing_status", "captured_at"],
  ])("%s.%s is not repeated when the service says the same, and kept and counted when not", (kind, field) => {
    const own = known[kind][field];
    expect(rowOf(kind, { [field]: own })).toMatchObject({ [field]: own, extra: null });
    expect(rowOf(kind, { [field]: null })).toMatchObject({ [field]: own, extra: null });
    expect(drift).toEqual([]);
    expect(rowOf(kind, { [field]: "another" })).toMatchObject({ [field]: own, extra: { [field]: "another" } });
    expect(rowOf(kind, { [field]: 5 })).toMatchObject({ [field]: own, extra: { [field]: 5 } });
    expect(drift).toEqual([`${kind}.${field}`, `${kind}.${field}`]);
  });
});

describe("embedded children", () => {
  it.each([[[]], [[{ id: "c" }]], [null]])("%j are not repeated", (children) => {
    expect(rowOf("chunks", { child_chunks: children })).toMatchObject({ extra: null });
    expect(drift).toEqual([]);
  });

  it.each([[{}], ["none"], [0], [false]])("%j, which is no list, is kept and counted", (children) => {
    expect(rowOf("chunks", { child_chunks: children })).toMatchObject({ extra: { child_chunks: children } });
    expect(drift).toEqual(["chunks.child_chunks"]);
  });

  it.each<Kind>(["child_chunks", "indexing_status"])("in %s are a field as any other", (kind) => {
    expect(rowOf(kind, { child_chunks: [1] })).toMatchObject({ extra: { child_chunks: [1] } });
    expect(drift).toEqual([]);
  });
});

describe("signatures", () => {
  const signed = `![](/files/a/file-preview${signature})`;
  const plain = "![](/files/a/file-preview)";

  it.each([
    [false, plain],
    [true, signed],
  ])("of sign_content and attachments, with keep_signatures: %s", (keep, text) => {
    const record = { content: signed, sign_content: signed, attachments: [{ name: "n", deep: [{ url: signed }] }] };
    expect(rowOf("chunks", record, keep)).toMatchObject({
      content: signed,
      sign_content: text,
      attachments: [{ name: "n", deep: [{ url: text }] }],
    });
  });

  it("are also removed from values that go to extra because of their type", () => {
    expect(rowOf("chunks", { sign_content: [signed], attachments: { url: signed } })).toMatchObject({
      sign_content: null,
      attachments: null,
      extra: { sign_content: [plain], attachments: { url: plain } },
    });
  });
});

describe("metadata fields, which have no extra,", () => {
  it("have the columns of the contract", () => {
    expect(rowOf("metadata_fields", { name: "uploader", type: "string" })).toEqual({
      dataset_id: "dataset",
      position: 1,
      name: "uploader",
      type: "string",
    });
    expect(drift).toEqual([]);
  });

  it.each([
    [5, "5"],
    [new ExactNumber("9007199254740993"), "9007199254740993"],
    [["a"], '["a"]'],
    [{ en: "source" }, '{"en":"source"}'],
  ])("keep a name of an unexpected type, %j, as JSON text", (name, text) => {
    expect(rowOf("metadata_fields", { name, type: null })).toMatchObject({ name: text, type: null });
    expect(drift).toEqual(["metadata_fields.name"]);
  });

  it("count what has no place, and keep their own dataset and position", () => {
    const row = rowOf("metadata_fields", { name: "n", type: "t", dataset_id: "another", position: "9", label: "x" });
    expect(row).toEqual({ dataset_id: "dataset", position: 1, name: "n", type: "t" });
    expect(drift.sort()).toEqual(["metadata_fields.dataset_id", "metadata_fields.label", "metadata_fields.position"]);
  });
});
