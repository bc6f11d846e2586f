import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import { csvText } from "../../src/dump/formats/csv.js";
import { jsonlText } from "../../src/dump/formats/jsonl.js";
import { joinSegments, type SegmentFile } from "../../src/files/join-segments.js";
import { encodeLines } from "../../src/files/lines.js";
import { makeSegments } from "../../src/join/make-segments.js";
import { jsonText } from "../../src/rows/exact-json.js";
import { documentKey, type Row } from "../../src/rows/row.js";
import { nastyTables, shortNumberTables } from "../dump/formats/nasty-rows.js";
import { rounds } from "../rounds.js";
import { testFolder } from "../run/job-for.js";

const { signal } = new AbortController();

/** Rows that also contain a long number lose a member with this name, so no real row has both. */
const hasProto = (row: Row) => jsonText(row).includes("__proto__");
const nasty = [...(nastyTables.chunks ?? []).filter((row) => !hasProto(row)), ...(shortNumberTables.chunks ?? [])];

/** Rows of documents whose ids contain special characters, like their texts. */
const documents = fc.uniqueArray(
  fc.record({
    dataset_id: fc.constantFrom("d", '"', "\\", "é\n"),
    document_id: fc.string({ unit: "binary", maxLength: 4 }).map((text) => text.toWellFormed()),
    rows: fc.array(fc.constantFrom(...nasty), { minLength: 1, maxLength: 4 }),
  }),
  { maxLength: 6, selector: documentKey },
);

test("the segments of each document have exactly the text that a run writes, in JSONL and CSV", async () => {
  const folder = await testFolder();
  let round = 0;
  await fc.assert(
    fc.asyncProperty(documents, fc.boolean(), async (all, safe) => {
      const name = `r${round++}`;
      const path = join(folder, `${name}.chunks.jsonl`);
      const rowsOf = ({ dataset_id, document_id, rows }: (typeof all)[number]) =>
        rows.map((row) => ({ ...row, dataset_id, document_id }));
      const rows = all.flatMap(rowsOf);
      await writeFile(path, encodeLines(jsonlText.texts("chunks", rows)));
      const segments = new Map<string, SegmentFile[]>();
      const formats = [jsonlText, csvText(safe)];
      await makeSegments(path, "chunks", { folder, name, formats, signal }, (ids, segment) => {
        const key = documentKey(ids);
        segments.set(key, [...(segments.get(key) ?? []), segment]);
      });
      expect([...segments.keys()]).toEqual(all.map(documentKey));
      for (const one of all)
        for (const format of formats) {
          const own = (segments.get(documentKey(one)) ?? []).filter((segment) => segment.format === format.format);
          await joinSegments(join(folder, "joined"), "", own);
          const wanted = encodeLines(format.texts("chunks", rowsOf(one)));
          expect((await readFile(join(folder, "joined"))).equals(wanted)).toBe(true);
        }
    }),
    { numRuns: rounds(12, 200, "KBDUMP_PARTS") },
  );
});

test("rows of a document that are apart are several segments, and a line of no run is refused", async () => {
  const folder = await testFolder();
  const path = join(folder, "chunks.jsonl");
  const line = (id: string, more = "") => `{"dataset_id":"d","document_id":"${id}","id":"1"${more}}\n`;
  const segmentsOf = async () => {
    const found: unknown[] = [];
    const options = { folder, name: "x", formats: [jsonlText], signal };
    await makeSegments(path, "chunks", options, (ids, { start, bytes, lines, longestLine }) =>
      found.push({ key: documentKey(ids), start, bytes, lines, longestLine }),
    );
    return found;
  };
  await writeFile(path, [line("a"), line("b"), line("b", ',"content":"x"'), line("a")].join(""));
  expect(await segmentsOf()).toEqual([
    { key: '["d","a"]', start: 0, bytes: 46, lines: 1, longestLine: 45 },
    { key: '["d","b"]', start: 46, bytes: 106, lines: 2, longestLine: 59 },
    { key: '["d","a"]', start: 152, bytes: 46, lines: 1, longestLine: 45 },
  ]);
  await writeFile(path, `${line("a")}{"document_id":"a"}\n`);
  await expect(segmentsOf()).rejects.toThrow("does not begin with its dataset and document");
});
