import fc from "fast-check";
import { expect, test } from "vitest";
import { pairForProof } from "../../../src/compare/proof/proof-pairs.js";
import { type Connection, withSpill } from "../../../src/duckdb/open-duckdb.js";
import { sqlText } from "../../../src/duckdb/sql.js";
import { inFull, rounds } from "../../rounds.js";
import { allOf } from "./paired.js";

const nothing =
  "NULL::VARCHAR AS answer, NULL::VARCHAR[] AS keywords, true AS enabled, 'completed' AS status, NULL::VARCHAR AS summary";
const times = "NULL::TIMESTAMPTZ AS created_at, NULL::TIMESTAMPTZ AS updated_at, NULL::TIMESTAMPTZ AS disabled_at";
const people =
  "NULL::VARCHAR AS created_by, NULL::VARCHAR AS updated_by, NULL::VARCHAR AS disabled_by, NULL::VARCHAR AS attachments";

/** Makes the tables of one side. `texts`: SQL that selects `row` and `content` of each chunk. */
async function loadSide(connection: Connection, side: "old" | "live", texts: string): Promise<void> {
  await connection.run(`CREATE OR REPLACE TABLE ${side}_chunks AS SELECT row, 'd' AS dataset_id, '${side}' AS document_id,
      content || '${side.slice(0, 1)}' || row AS id, row AS position, content, ${nothing}, ${times}, ${people} FROM (${texts});
    CREATE OR REPLACE TABLE ${side}_child_chunks AS SELECT 0 AS row, '' AS dataset_id, '' AS document_id, '' AS segment_id,
      '' AS id, 0 AS position, '' AS content, '' AS type, ${times} WHERE false`);
}

const document = (document_id: string) => ({ dataset_id: "d", document_id });
const documents = [{ old: document("old"), live: document("live") }];

const withConnection = <T>(work: (connection: Connection) => Promise<T>) =>
  withSpill(":memory:", { memory: "500MB", signal: new AbortController().signal }, work);

/**
 * Pairs two documents whose chunk texts are these letters; returns the pairs that differ as `old live`, with a star for
 * moved chunks.
 */
async function differing(connection: Connection, old: string, live: string): Promise<readonly string[]> {
  const rows = (texts: string) =>
    `SELECT unnest(range(${texts.length})) AS row, unnest(${texts === "" ? "[]::VARCHAR[]" : `[${[...texts].map(sqlText).join(", ")}]`}) AS content`;
  await loadSide(connection, "old", rows(old));
  await loadSide(connection, "live", rows(live));
  const { chunks } = (await pairForProof(connection, documents, { by: "text" }))(0);
  const pairs = await allOf(chunks);
  return pairs.map(({ old, live, isMoved }) => `${old?.id ?? "-"} ${live?.id ?? "-"}${isMoved ? " *" : ""}`);
}

const paired = (old: string, live: string) => withConnection((connection) => differing(connection, old, live));

test("a missing or additional row moves no other row", async () => {
  expect(await paired("abcdef", "abdef")).toEqual(["co2 -"]);
  expect(await paired("abc", "abXc")).toEqual(["- Xl2"]);
  expect(await paired("abc", "abbc")).toEqual(["- bl2"]);
});

test("another text at the same place is the copy of the row there", async () => {
  expect(await paired("abc", "aXc")).toEqual(["bo1 Xl1"]);
  expect(await paired("abc", "aXYc")).toEqual(["bo1 Xl1", "- Yl2"]);
});

test("a row in another place is one moved row", async () => {
  expect(await paired("abcde", "acdbe")).toEqual(["bo1 bl3 *"]);
  expect(await paired("abcde", "adbce")).toEqual(["do3 dl1 *"]);
});

test("any two lists: every row that is not equal and in order occurs once", async () => {
  const lists = fc.array(fc.constantFrom("a", "b", "c", "d"), { maxLength: 12 }).map((rows) => rows.join(""));
  await withConnection((connection) =>
    fc.assert(
      fc.asyncProperty(lists, lists, async (old, live) => {
        const found = await differing(connection, old, live);
        if (old === live) expect(found).toEqual([]);
        const [olds, lives] = [0, 1].map((at) =>
          found.map((each) => each.split(" ")[at] ?? "").filter((id) => id !== "-"),
        );
        expect([new Set(olds).size, new Set(lives).size]).toEqual([olds?.length, lives?.length]);
        const left = (texts: string, side: string, taken: readonly string[] = []) =>
          [...texts].filter((text, at) => !taken.includes(`${text}${side}${at}`)).join("");
        expect(left(old, "o", olds)).toBe(left(live, "l", lives));
      }),
      { numRuns: rounds(30, 100) },
    ),
  );
});

test.runIf(inFull)("lists of 100,000 rows with nothing, little or everything in common are paired", () =>
  withConnection(async (connection) => {
    const rows = "SELECT range AS row, 'row ' || range AS content FROM range(100000)";
    const count = async (live: string) => {
      await loadSide(connection, "old", rows);
      await loadSide(connection, "live", live);
      const { chunks } = (await pairForProof(connection, documents, { by: "text" }))(0);
      const counts = { moved: 0, missing: 0 };
      for await (const { live, isMoved } of chunks) {
        if (isMoved) counts.moved++;
        if (live === null) counts.missing++;
      }
      return counts;
    };
    expect(await count(`FROM (${rows}) WHERE row % 1000 <> 7`)).toEqual({ moved: 0, missing: 100 });
    expect(await count(`SELECT 99999 - row AS row, content FROM (${rows})`)).toEqual({ moved: 99_999, missing: 0 });
    expect(await count(`SELECT row, 'other ' || content AS content FROM (${rows})`)).toEqual({
      moved: 0,
      missing: 0,
    });
  }),
);
