import { beforeAll, describe, expect, it } from "vitest";
import { type RunningService, startService } from "../../src/demo/start-service.js";
import { inFull } from "../rounds.js";
import { writableSample } from "../servers/writable/writable-knowledge.js";
import { type Row, readAllRows, rowsFrom } from "./ask.js";
import { sampleDatasets } from "./sample-datasets.js";

interface Sample {
  readonly documents: readonly { readonly row: Row; readonly chunks: readonly Row[] }[];
  readonly chunks: readonly Row[];
  /** The child chunks by chunk id. */
  readonly children: ReadonlyMap<unknown, readonly Row[]>;
}

async function readSample(): Promise<Sample> {
  const service = await startService({ demo: writableSample(() => new Date(1_750_000_000_000)) });
  const documents: Sample["documents"][number][] = [];
  const children = new Map<unknown, readonly Row[]>();
  for (const { id: dataset } of sampleDatasets()) {
    for (const row of await readAllRows(service, `/datasets/${dataset}/documents`)) {
      const list = `/datasets/${dataset}/documents/${row.id}/segments`;
      const chunks = await readAllRows(service, list);
      documents.push({ row, chunks });
      await readChildren(service, list, chunks, children);
    }
  }
  await service.close();
  return { documents, chunks: documents.flatMap(({ chunks }) => chunks), children };
}

async function readChildren(
  service: RunningService,
  list: string,
  chunks: readonly Row[],
  into: Map<unknown, readonly Row[]>,
) {
  for (let first = 0; first < chunks.length; first += 16) {
    await Promise.all(
      chunks.slice(first, first + 16).map(async ({ id }) => {
        into.set(id, await readAllRows(service, `${list}/${id}/child_chunks`));
      }),
    );
  }
}

let sample: Sample;
beforeAll(async () => {
  sample = await readSample();
});

function documentNamed(part: string): Sample["documents"][number] {
  const found = sample.documents.find(({ row }) => String(row.name).includes(part));
  if (!found) throw new Error(`no document ${part}`);
  return found;
}

function withoutSignatures(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value).replace(/&?(nonce|sign)=[\w-]+=?/g, ""));
}

describe("the sample data", () => {
  it.runIf(inFull)("is the same in every service, signatures aside", async () => {
    const again = await readSample();
    expect(JSON.stringify(sample.chunks)).not.toBe(JSON.stringify(again.chunks));
    expect(withoutSignatures(sample.documents)).toEqual(withoutSignatures(again.documents));
    expect([...sample.children]).toEqual([...again.children]);
  });

  it("is about 5,000 chunks and 3,000 child chunks, with ids that are all different UUIDs", () => {
    const children = [...sample.children.values()].flat();
    expect(Math.abs(sample.chunks.length / 5_000 - 1)).toBeLessThan(0.05);
    expect(Math.abs(children.length / 3_000 - 1)).toBeLessThan(0.05);
    const ids = [...sample.chunks, ...children, ...sample.documents.map(({ row }) => row)].map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
    for (const id of ids) expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  });

  it("counts characters, not UTF-16 units or bytes", () => {
    const rows = [...sample.chunks, ...[...sample.children.values()].flat()];
    for (const { content, word_count } of rows) expect(word_count).toBe(Array.from(String(content)).length);
  });

  it("has every document form, an empty document, one of exactly 300 chunks and one of more than 1,000", () => {
    const forms = new Set(sample.documents.map(({ row }) => row.doc_form));
    expect(forms).toEqual(new Set(["text_model", "qa_model", "hierarchical_model"]));
    const sizes = sample.documents.map(({ chunks }) => chunks.length);
    expect(sizes).toEqual(expect.arrayContaining([0, 300, 1180]));
    for (const { answer } of documentNamed("Answers").chunks) expect(answer).not.toBe("");
  });

  it("embeds the children of paragraph parents, all of them and as the child list shows them", () => {
    const counts = new Set<number>();
    for (const part of ["Administrator guide", "User manual", "Contents that break exports"]) {
      for (const { id, child_chunks } of documentNamed(part).chunks) {
        const children = sample.children.get(id) ?? [];
        expect(rowsFrom(child_chunks)).toEqual(children);
        counts.add(children.length);
      }
    }
    expect([...counts]).toEqual(expect.arrayContaining([0, 1, 100, 101, 250]));
  });

  it("has children that only the child list shows: of full-document parents, and of a plain text", () => {
    for (const part of ["Release notes", "Installation leaflets", "Troubleshooting"]) {
      const { chunks } = documentNamed(part);
      for (const { child_chunks } of chunks) expect(child_chunks).toEqual([]);
      expect(chunks.flatMap(({ id }) => sample.children.get(id) ?? []).length).toBeGreaterThan(100);
    }
    expect(documentNamed("Troubleshooting").row.doc_form).toBe("text_model");
    expect(documentNamed("Release notes").chunks).toHaveLength(1);
  });

  it("has chunks of every status, two at one position, and errors that are strings and objects", () => {
    const statuses = new Set(sample.chunks.map(({ status }) => status));
    expect(statuses).toEqual(new Set(["waiting", "indexing", "completed", "error", "re_segment"]));
    const { chunks } = documentNamed("Interrupted import");
    expect(new Set(chunks.map(({ position }) => position)).size).toBeLessThan(chunks.length);
    const errors = new Set(sample.chunks.map(({ error }) => (error === null ? "null" : typeof error)));
    expect(errors).toEqual(new Set(["null", "string", "object"]));
  });

  it("has disabled and edited chunks, attachments, summaries, automatic and customized children", () => {
    const some = (test: (chunk: Row) => boolean) => sample.chunks.some(test);
    expect(
      some((c) => c.enabled === false && typeof c.disabled_at === "number" && typeof c.disabled_by === "string"),
    ).toBe(true);
    expect(some((c) => typeof c.updated_by === "string" && Number(c.updated_at) > Number(c.created_at))).toBe(true);
    expect(some((c) => Array.isArray(c.attachments) && c.attachments.length === 2)).toBe(true);
    expect(some((c) => typeof c.summary === "string")).toBe(true);
    expect(some((c) => typeof c.summary === "object" && c.summary !== null)).toBe(true);
    const types = new Set([...sample.children.values()].flat().map(({ type }) => type));
    expect(types).toEqual(new Set(["automatic", "customized"]));
  });

  it("has signed links, signed right behind their path, also where another link follows", () => {
    const signed = sample.chunks.map(({ sign_content }) => String(sign_content)).join("\n");
    const urls = sample.chunks.flatMap(({ attachments }) => rowsFrom(attachments ?? []).map((file) => file.source_url));
    for (const text of [signed, urls.join("\n")]) {
      expect(text).toMatch(/\/file-preview\?timestamp=1750000000&nonce=\w+&sign=[\w-]+=/);
      expect(text).toMatch(/\/image-preview\?timestamp=1750000000&nonce=[0-9a-f]{32}&sign=[\w-]{43}=/);
    }
    expect(signed).toMatch(/\/image-preview\?timestamp=1750000000&nonce=[0-9a-f]{32}&sign=[\w-]{43}=\/files\//);
    for (const { content } of sample.chunks) expect(content).not.toContain("nonce=");
  });

  it("has nulls, absent fields as of an older server, and a field that nothing describes", () => {
    const nullable = [
      "answer",
      "keywords",
      "index_node_id",
      "index_node_hash",
      "updated_by",
      "indexing_at",
      "completed_at",
    ];
    for (const field of nullable)
      expect(
        sample.chunks.some((chunk) => chunk[field] === null),
        field,
      ).toBe(true);
    const absent = ["sign_content", "updated_at", "updated_by", "child_chunks", "attachments", "summary"];
    for (const chunk of documentNamed("Handbook of 2019").chunks) {
      for (const field of absent) expect(chunk).not.toHaveProperty(field);
    }
    expect(sample.chunks.filter((chunk) => "language_hint" in chunk).length).toBeGreaterThan(100);
    expect(sample.chunks.some(({ sign_content, content }) => sign_content === "" && content !== "")).toBe(true);
  });

  it("has times around 2025, in one document with fractions of a second", () => {
    for (const { row, chunks } of sample.documents) {
      for (const { created_at } of chunks) {
        expect(Math.abs(Number(created_at) - Date.UTC(2025, 0) / 1000)).toBeLessThan(366 * 86_400);
        expect(Number.isInteger(created_at)).toBe(row.name !== "Works agreements.pdf");
      }
    }
  });

  it.each([
    ["a newline", /\S\n\S/],
    ["CR alone", /\S\r\S/],
    ["CRLF", /\r\n/],
    ["U+2028", /\u2028/],
    ["quotes", /"[^"]+"/],
    ["commas", /,,/],
    ["an emoji of several code points", /👨‍👩‍👧‍👦/u],
    ["CJK", /[一-龥ぁ-ん]/],
    ["a character outside the basic plane", /𠮷/u],
    ["marks of direction", /\u200f.*\u202b.*\u202c/],
    ["a formula", /^=1\+1$/],
    ["a formula with +", /^\+cmd/],
    ["a formula with -", /^-2$/],
    ["a formula with @", /^@SUM/],
    ["a formula after a tab", /^\t=/],
    ["nothing", /^$/],
    ["100 KB", /^[\s\S]{102400}$/],
    ["Arabic", /\p{Script=Arabic}{3}/u],
    ["Hebrew", /\p{Script=Hebrew}{3}/u],
    ["Chinese prose", /传感器.*。/u],
  ])("has a chunk and a child chunk whose content holds %s", (_what, pattern) => {
    const rows = [...sample.children.values()].flat();
    expect(sample.chunks.some(({ content }) => pattern.test(String(content)))).toBe(true);
    expect(rows.some(({ content }) => pattern.test(String(content)))).toBe(true);
  });

  it("has every control character but NUL, and only well-formed text", () => {
    const text = sample.chunks.map(({ content }) => String(content)).join("");
    for (let code = 1; code < 32; code++) expect(text.includes(String.fromCharCode(code)), `U+${code}`).toBe(true);
    expect(text).not.toContain("\0");
    expect(JSON.stringify(text)).not.toMatch(/\\ud[89a-f]/);
  });

  it("is mostly English, and so are all manual edits", () => {
    const isEnglish = ({ content }: Row) => /^[\p{ASCII}]*$/u.test(String(content));
    const prose = ["Administrator", "User manual", "Answers", "Troubleshooting", "Employee handbook"];
    for (const { chunks } of prose.map(documentNamed)) {
      expect(chunks.filter(isEnglish).length / chunks.length).toBeCloseTo(0.6, 1);
      for (const chunk of chunks.filter(({ updated_by }) => updated_by !== null)) expect(chunk).toSatisfy(isEnglish);
    }
  });

  it("has everything that a re-index removes in English: edits, answers, and manual child chunks", () => {
    const manual = [
      ...sample.chunks.filter(({ updated_by }) => typeof updated_by === "string"),
      ...[...sample.children.values()].flat().filter(({ type }) => type === "customized"),
    ];
    expect(manual.length).toBeGreaterThan(100);
    const others = manual.filter(({ content, answer = "" }) => !/^[\p{ASCII}]*$/u.test(`${content} ${answer}`));
    expect(others.map(({ content }) => content)).toEqual([]);
  });

  it("varies: hardly two prose chunks alike", () => {
    const contents = documentNamed("Employee handbook").chunks.map(({ content }) => content);
    expect(new Set(contents).size / contents.length).toBeGreaterThan(0.99);
  });
});
