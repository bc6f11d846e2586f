import { execFileSync } from "node:child_process";
import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { compareWithService } from "../../src/against/against-service.js";
import { startService } from "../../src/demo/start-service.js";
import { copyRun } from "../../src/restore/copy/copy-run.js";
import { restoreLost } from "../../src/restore/lost/restore-lost.js";
import { runJob } from "../../src/run/run-job.js";
import { runHere } from "../cli/run-here.js";
import { journalText } from "../journal/journal-text.js";
import { inFull } from "../rounds.js";
import { jobFor } from "../run/job-for.js";
import { openFatedWire } from "../servers/fated-wire.js";
import { copying } from "./copy/copying.js";
import { expectRefusal, hardLinkTo, isLink, linkTo, type Plant, pathOf, places, targets } from "./planted.js";
import { datasetId, documentId, KnowledgeBase } from "./random/knowledge-base.js";
import { restoring } from "./restoring.js";

const key = "restore-key";
const pathTo = (place: string) => pathOf(run, place, wire.url);
const base = new KnowledgeBase({ form: "text_model", chunks: 3 });
let folder: string;
let service: Awaited<ReturnType<typeof startService>>;
let wire: Awaited<ReturnType<typeof openFatedWire>>;
/** A run with a chunk that the service lost afterwards. */
let run: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "kbdump-test-"));
  service = await startService({ demo: base.demo, key });
  wire = await openFatedWire(service.url, []);
  const job = await jobFor(folder, {
    service: { base_url: wire.url },
    datasets: [{ id: datasetId, documents: [documentId] }],
    output: { dir: join(folder, "out"), formats: ["jsonl", "duckdb"] },
    details: true,
  });
  await runJob(job, { env: { KNOWLEDGE_API_KEY: key } });
  await base.work({ do: "add" });
  run = (await runJob(job, { env: { KNOWLEDGE_API_KEY: key } })).folder;
  base.demo.store.reindex(documentId, { seconds: 0 });
});
afterAll(async () => {
  await wire.close();
  await service.close();
  await rm(folder, { recursive: true, force: true });
});

const progress = { step: "", expected: 0, done: 0, dump: undefined };

/** Every command and function that reads a journal. */
const ways = {
  "restore --apply": () => restoreLost(restoring(run, key)),
  "copy --apply": () => copyRun(copying(run, { url: wire.url, key })),
  copy: () => copyRun(copying(run, { url: wire.url, key }, { apply: false })),
  "verify --against": () => compareWithService({ ...copying(run, { url: wire.url, key }), progress }),
};

test.runIf(inFull).each(Object.entries(ways))(
  "%s refuses every link beside the run, wherever it leads",
  async (_, restore) => {
    for (const place of places)
      for (const target of targets)
        await expectRefusal({ path: pathTo(place), reason: isLink, plant: linkTo(target), restore, wire });
  },
);

const journalOf = (way: string) => pathTo(way.startsWith("restore") ? "journal.jsonl" : "to/host/journal.jsonl");
const time = "2026-03-01T02:00:00.123Z";
const notSent = { kind: "sent", number: 1, time };
const begun = { kind: "begun", run_id: "1", base_url: "", undo: "", time };
const linesOf = (...lines: readonly object[]) => journalText(...lines).split(/(?<=\n)/);
const fileOf =
  (text: string): Plant =>
  (path) =>
    writeFile(path, text);
const isOther = "is not a kbdump journal, or is damaged";

const journals: readonly (readonly [Plant, string])[] = [
  [(path) => mkdir(path), "is a folder, not a file; remove it or move it away"],
  [async (path) => execFileSync("mkfifo", [path]), "is a named pipe, not a file"],
  [fileOf("\0".repeat(200)), isOther],
  [fileOf(linesOf(begun, notSent).reverse().join("")), isOther],
  [fileOf(journalText(notSent, begun)), isOther],
  [
    fileOf(linesOf(begun, notSent, notSent).toSpliced(1, 1).join("")),
    "is damaged in line 2: its checksum is wrong, or lines before it are missing",
  ],
  [fileOf("milk, bread"), isOther],
  [hardLinkTo("milk, bread"), isOther],
];

test.runIf(inFull).each(Object.entries(ways))("%s refuses a file that is not a journal", async (way, restore) => {
  for (const [plant, reason] of journals) await expectRefusal({ path: journalOf(way), reason, plant, restore, wire });
});

test.each(Object.entries(ways).slice(0, 2))("%s adds no line to a file with other names", async (way, restore) => {
  const reason = "has other hard links";
  await expectRefusal({ path: journalOf(way), reason, plant: hardLinkTo('{"kind":"beg'), restore, wire });
});

test("the program exits with 1, and says what to remove", async () => {
  const path = pathTo("journal.jsonl");
  await mkdir(dirname(path));
  await symlink(join(folder, "mine"), path);
  for (const [command, ...flags] of [["restore"], ["copy", "--to", wire.url]] as const) {
    const { code, stderr } = await runHere([command, run, ...flags, "--apply", "--yes"], {
      KNOWLEDGE_RESTORE_KEY: key,
    });
    expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining(`kbdump: ${path} ${isLink}`) });
  }
  await rm(dirname(path), { recursive: true });
});

test.runIf(inFull)("a run is restored that a link leads to, and an empty journal counts as none", async () => {
  const [latest, out] = [join(folder, "out", "test", "latest"), join(folder, "linked")];
  await symlink(join(folder, "out"), out);
  await mkdir(`${run}.restore`);
  await writeFile(pathTo("journal.jsonl"), "");
  const given = [latest, join(out, "test", "latest")];
  for (const linked of given)
    expect(await restoreLost(restoring(linked, key))).toMatchObject({
      run: { folder: run },
      applied: expect.anything(),
    });
  expect(base.chunks).toHaveLength(4);
  expect((await copyRun(copying(latest, { url: wire.url, key }))).status).toBe("proved");
  expect((await restoreLost(restoring(latest, key))).status).toBe("nothing to restore");
});
