import { createHash } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { verifyRun } from "../../src/verify/verify-run.js";
import { plainFolder } from "../dump/formats/folder.js";
import { editManifest } from "./forge.js";
import { soundTables } from "./sound-tables.js";
import { writeDump } from "./write-dump.js";

const findingsOf = async (run: string) =>
  (await verifyRun(run)).findings.map(({ file, message }) => `${file}: ${message}`);

/** A dump without rows of document_info. */
const withoutInfo = async (manifest: object = {}) =>
  writeDump(await plainFolder(), { ...soundTables, document_info: [] }, { manifest });

const lost = ["a", "b"].map(
  (id) => `document_info.jsonl: document ${id} of dataset d is missing, although its dataset was listed`,
);

test("every row of a dataset that was listed is missing", async () => {
  const listing = { dataset_id: "d", name: null, documents: 2, since: null };
  const discovered = (state: string) => ({ since: null, new: [], vanished: [], datasets: [{ ...listing, state }] });
  expect(await findingsOf(await withoutInfo({ discovered: discovered("listed") }))).toEqual(lost);
  expect(await findingsOf(await withoutInfo({ discovered: discovered("failed") }))).toEqual([]);
  expect(await findingsOf(await withoutInfo())).toEqual([]);
});

test("every row of a dataset that the list of a shard has is missing; a list that is none", async () => {
  const run = await withoutInfo();
  const findingsWith = async (list: string) => {
    const sha256 = createHash("sha256").update(list).digest("hex");
    await writeFile(join(run, "list.json"), list);
    await editManifest(run, (manifest) => {
      manifest.shard = { index: 1, count: 1, plan: "p", list: { documents: 2, bytes: list.length, sha256 } };
    });
    return findingsOf(run);
  };
  const dataset = (state: string) => ({ dataset_id: "d", name: null, state, documents: ["a", "b"] });
  expect(await findingsWith(JSON.stringify({ datasets: [dataset("listed")] }))).toEqual(lost);
  expect(await findingsWith(JSON.stringify({ datasets: [dataset("named")] }))).toEqual([]);
  expect(await findingsWith("{}")).toEqual(["list.json: is not a list of documents"]);
});
