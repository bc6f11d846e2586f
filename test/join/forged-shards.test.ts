import { createHash } from "node:crypto";
import { cp, readFile, rename, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { StopError } from "../../src/errors.js";
import { inFull } from "../rounds.js";
import { editManifest, mend } from "../verify/forge.js";
import { startJoining } from "./joining.js";

type Forgery = (one: string, other: string) => Promise<unknown>;

async function linesOf(run: string, kind: string): Promise<readonly string[]> {
  return (await readFile(join(run, `${kind}.jsonl`), "utf8")).split("\n").slice(0, -1);
}

/** Changes the lines of a file and makes the manifest match: files, rows and counts. */
async function forge(run: string, kind: string, edit: (lines: readonly string[]) => readonly string[]): Promise<void> {
  const lines = edit(await linesOf(run, kind));
  await writeFile(join(run, `${kind}.jsonl`), lines.map((line) => `${line}\n`).join(""));
  await mend(run, `${kind}.jsonl`, lines.length);
  await editManifest(run, ({ counts }) => Object.assign(Object(counts), { [kind]: lines.length }));
}

/** Adds the rows of one shard to the other. */
const share =
  (kind: string): Forgery =>
  async (one, other) => {
    const [these, those] = [await linesOf(one, kind), await linesOf(other, kind)];
    const taker = those.length > 0 ? one : other;
    await forge(taker, kind, () => [...these, ...those]);
  };

/** Each forgery with the error that it must cause. */
const forgeries: readonly (readonly [reason: RegExp, Forgery])[] = [
  [
    /document_info\.jsonl: document \S+ of dataset \S+ is missing/,
    (one) => forge(one, "document_info", (rows) => rows.slice(1)),
  ],
  [
    /document_info\.jsonl: document \S+ of dataset \S+ occurs 2 times/,
    (one) => forge(one, "document_info", ([row = "", ...rows]) => [row, row, ...rows]),
  ],
  [/ chunks\.jsonl: chunk \S+ .*occurs 2 times, in /, (one) => forge(one, "chunks", repeatId)],
  [/child_chunks\.jsonl: .* has no parent in chunks\.jsonl/, (one) => forge(one, "child_chunks", takeParentAway)],
  [/document_info\.jsonl: .* is not in documents\.jsonl/, share("document_info")],
  [/document_details\.jsonl: .* is not in documents\.jsonl/, share("document_details")],
  [/ datasets\.jsonl: has a row of dataset \S+, which is not one of this shard/, share("datasets")],
  [/metadata_fields\.jsonl: has a row of dataset \S+, which is not one of this shard/, share("metadata_fields")],
  [/indexing_status\.jsonl: has a row of dataset \S+, which is not one of this shard/, share("indexing_status")],
  [/its documents are not those of list\.json that fall to shard 1 of 2, each once/, reorderDocuments],
  [/document_info\.jsonl: row 1/, (one) => forge(one, "document_info", (rows) => ["{", ...rows.slice(1)])],
  [/chunks\.jsonl: .*line feed/, endWithoutLineFeed],
  [/list\.json: is a symlink, which is not followed/, linkList],
  [/list\.json: is not a list of documents/, spoilList],
  [
    /manifest\.json: finished_at: got "2026-99-99T00:00:00Z", expected a UTC time/,
    (one) =>
      editManifest(one, (manifest) => {
        manifest.finished_at = "2026-99-99T00:00:00Z";
      }),
  ],
  [
    /manifest\.json: shard\.count: got 1000000000, expected at most 10000/,
    (one) => editManifest(one, ({ shard }) => Object.assign(Object(shard), { count: 1e9 })),
  ],
];

/** Gives the second row the id of the first. */
function repeatId([first = "", second = "", ...rows]: readonly string[]): readonly string[] {
  const { dataset_id, document_id, id } = JSON.parse(first);
  return [first, JSON.stringify({ ...JSON.parse(second), dataset_id, document_id, id }), ...rows];
}

function takeParentAway([first = "", ...rows]: readonly string[]): readonly string[] {
  return [JSON.stringify({ ...JSON.parse(first), segment_id: "gone" }), ...rows];
}

async function reorderDocuments(run: string): Promise<void> {
  await forge(run, "documents", (rows) => rows.toReversed());
  await editManifest(run, ({ documents }) => (documents as unknown[]).reverse());
}

async function endWithoutLineFeed(run: string): Promise<void> {
  const path = join(run, "chunks.jsonl");
  await writeFile(path, (await readFile(path, "utf8")).trimEnd());
  await mend(run, "chunks.jsonl");
}

async function linkList(run: string): Promise<void> {
  await rename(join(run, "list.json"), `${run}.list`);
  await symlink(`${run}.list`, join(run, "list.json"));
}

async function spoilList(run: string): Promise<void> {
  const sha256 = createHash("sha256").update("no JSON").digest("hex");
  await writeFile(join(run, "list.json"), "no JSON");
  await editManifest(run, ({ shard }) => Object.assign(Object(shard).list, { sha256, bytes: 7 }));
}

test.runIf(inFull)(
  "a shard is refused whose manifest agrees with its files, but not with the list of documents",
  async () => {
    const { runShards, joinJob, folder } = await startJoining();
    const shards = await runShards(2);
    for (const [at, [reason, change]] of forgeries.entries()) {
      const [one = "", other = ""] = shards.map((_, index) => join(folder, `forged-${at}-${index}`));
      for (const [index, to] of [one, other].entries()) await cp(shards[index]?.folder ?? "", to, { recursive: true });
      await change(one, other);
      const error = await joinJob({ out: join(folder, "joined") }, [one, other]).catch((refusal: unknown) => refusal);
      expect.soft(error, String(reason)).toBeInstanceOf(StopError);
      expect.soft(String(error)).toMatch(reason);
    }
    const sound = shards.map((shard) => shard.folder);
    expect((await joinJob({ out: join(folder, "joined") }, sound)).status).toBe("complete");
  },
);
