import { join } from "node:path";
import { expect, test } from "vitest";
import { shardOf } from "../../src/crawl/shards.js";
import { verifyRun } from "../../src/verify/verify-run.js";
import { inFull } from "../rounds.js";
import { readJsonl } from "../run/read-dump.js";
import { allOf } from "../run/shards/sharding.js";
import { makeDocument } from "../servers/store.js";
import { startJoining } from "./joining.js";

test.runIf(inFull)(
  "lists that differ are named, a document that its own shard did not list has failed, and what was read is as it was then",
  async () => {
    const { store, run, joinJob } = await startJoining(8, { output: { formats: ["jsonl"] } });
    const [dataset] = store.datasets.values();
    if (!dataset) throw new Error("there is no dataset");
    await run();
    const own = (id: string) => shardOf(dataset.id, id, 2);
    const drawn = Array.from({ length: 30 }, (_, at) => makeDocument({ chunks: 2, seed: 900 + at }));
    const [early, late] = [drawn.find(({ id }) => own(id) === 2), drawn.find(({ id }) => own(id) === 1)];
    if (!early || !late) throw new Error("no document falls to a shard");
    dataset.documents.set(early.id, early); // shard 1 lists it; deleted before shard 2 lists
    const first = await run({ shard: { index: 1, count: 2 } });
    dataset.documents.delete(early.id);
    dataset.documents.set(late.id, late); // only shard 2 lists it, although it belongs to shard 1
    for (const { documents } of store.datasets.values())
      for (const { chunks } of documents.values()) for (const chunk of chunks) chunk.hit_count = 4711;
    const second = await run({ shard: { index: 2, count: 2 } });
    const warned: string[] = [];
    const joined = await joinJob({ log: (level, text) => level === "warn" && warned.push(text) });

    expect(joined).toMatchObject({ status: "partial", problems: [], manifest: { status: "partial" } });
    const sentences = [
      `the lists of documents of the shards differ, in dataset ${dataset.id}; only some list document ${early.id}, ${late.id}: kbdump plan --documents-out and kbdump run --documents-from give all shards one list`,
    ];
    expect(joined.manifest.warnings).toEqual(expect.arrayContaining(sentences));
    expect(warned.slice(0, 1)).toEqual(sentences);
    const failed = joined.manifest.documents.filter(({ status }) => status === "failed");
    expect(failed.map(({ document_id, error }) => [document_id, error?.replace(/ --out \S+/, "")]).sort()).toEqual(
      [
        [
          early.id,
          "shard 2 of 2, which reads it, did not list it, and shard 1 did; make that shard again and join again: kbdump run test.yaml --shard 2/2",
        ],
        [
          late.id,
          "shard 1 of 2, which reads it, did not list it, and shard 2 did; make that shard again and join again: kbdump run test.yaml --shard 1/2",
        ],
      ].sort(),
    );
    expect(joined.mend.map((command) => command.replace(/ --out \S+/, ""))).toEqual([
      "kbdump run test.yaml --shard 1/2",
      "kbdump run test.yaml --shard 2/2",
    ]);
    const rows = [...first.manifest.documents, ...second.manifest.documents];
    const others = joined.manifest.documents.filter(({ status }) => status !== "failed");
    expect(others.length).toBe(rows.length);
    for (const row of others) expect(rows).toContainEqual(row);
    const chunks = (await readJsonl(joined.folder, "chunks")).map((row) => JSON.stringify(row));
    const segments = [...(await readJsonl(first.folder, "chunks")), ...(await readJsonl(second.folder, "chunks"))];
    expect(chunks.sort()).toEqual(segments.map((row) => JSON.stringify(row)).sort());
    expect(await verifyRun(joined.folder)).toMatchObject({ status: "sound", findings: [] });

    await run({ shard: { index: 1, count: 2 } });
    await run({ shard: { index: 2, count: 2 } });
    expect(await joinJob()).toMatchObject({
      status: "complete",
      mend: [],
      manifest: { discovered: { new: [], vanished: [early.id] } },
    });
  },
);

test.runIf(inFull)(
  "a document that failed or moved in its shard is so in the joined dump, which names the command to read it again",
  async () => {
    const { store, run, joinJob, behaviour, dir, folder } = await startJoining();
    const ids = [...store.datasets.values()].flatMap(({ id, documents }) =>
      [...documents.keys()].map((document) => ({ id, document })),
    );
    const [one] = ids;
    if (!one) throw new Error("there is no document");
    const body = { code: "x", message: "no", status: 400 };
    behaviour.documentError = new Map([[one.document, { status: 400, body }]]);
    for (const shard of allOf(3)) await run({ shard });
    const { status, manifest, mend } = await joinJob();
    expect([status, manifest.status]).toEqual(["partial", "partial"]);
    expect(manifest.documents.filter((row) => row.status !== "complete").map((row) => row.document_id)).toEqual([
      one.document,
    ]);
    expect(manifest.warnings.filter((text) => text.includes(one.document))).toHaveLength(1);
    const index = shardOf(one.id, one.document, 3);
    expect(mend).toEqual([`kbdump run test.yaml --shard ${index}/3 --out ${dir} --retry-failed`]);
    const elsewhere = await joinJob({ out: join(folder, "elsewhere"), program: "npx kbdump" });
    expect(elsewhere.mend).toEqual([`npx ${mend[0]}`]); // the shard stays in the original output folder
  },
);
