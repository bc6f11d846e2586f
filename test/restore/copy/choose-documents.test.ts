import { expect, test } from "vitest";
import type { Dump } from "../../../src/dump/open-dump.js";
import { listingWarnings } from "../../../src/restore/copy/plan-copy.js";
import { chunk } from "../../compare/lost/lost-dumps.js";
import { inFull } from "../../rounds.js";
import { detailedDump } from "./detailed-dumps.js";
import { planOf } from "./plan-of.js";
import { startTarget } from "./start-target.js";

test.runIf(inFull)(
  "the form of most documents keeps name and key, of several the first; those that are chosen decide nothing",
  async () => {
    const dump = async (forms: Readonly<Record<string, string | null>>) => {
      const ids = Object.keys(forms);
      const ill = Object.fromEntries(ids.map((id) => [id, { doc_form: forms[id] ?? null }]));
      return detailedDump(
        ids.map((id) => chunk(id, `${id}1`, 1, "text")),
        [],
        { ill },
      );
    };
    const keysOf = async (from: Dump, documents: readonly string[] = []) => {
      const { plan } = await planOf(from, await startTarget(), { documents });
      return plan.datasets.map((each) => [each.key, ...each.documents.map(({ document_id }) => document_id)].join(" "));
    };
    const most = await dump({ a: "qa_model", b: "text_model", c: null, e: "qa_model", f: "text_model" });
    expect(await keysOf(most)).toEqual(["d/qa_model a e", "d b c f"]);
    expect(await keysOf(most, ["a", "e", "b"])).toEqual(["d/qa_model a e", "d b"]);
    expect(await keysOf(most, ["e"])).toEqual(["d/qa_model e"]);
    expect(await keysOf(await dump({ a: "qa_model", b: "text_model" }))).toEqual(["d a", "d/text_model b"]);
    expect(await keysOf(await dump({ a: "qa_model", b: "qa_model" }))).toEqual(["d a b"]);
  },
);

test("a shard causes a warning, because it lacks documents and settings that the other shards read", async () => {
  const shard = { plan: "p", list: { documents: 1, bytes: 1, sha256: "0".repeat(64) } };
  const warningsOf = async (index: number, count: number) =>
    listingWarnings(
      await detailedDump([chunk("a", "a1", 1, "x")], [], { manifest: { shard: { index, count, ...shard } } }),
    );
  expect(await warningsOf(2, 3)).toEqual([
    "the run is shard 2 of 3, and lacks the documents and settings that the others read; join the shards, and restore the joined run",
  ]);
  expect(await warningsOf(1, 1)).toEqual([]);
});
