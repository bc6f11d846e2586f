import { appendFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { copyOf, dumped, noteCopy, serve, sketches, treeOf } from "../../against/compared-service.js";
import { runHere } from "../../cli/run-here.js";
import { deadUrl } from "../../client/serve.js";
import { documentId, uuid } from "../../demo/small-knowledge.js";
import { inFull } from "../../rounds.js";

const edited = sketches.map((sketch, at) => (at === 1 ? { ...sketch, content: "TWO" } : sketch));

async function verify(run: string, { url, key }: { url: string; key: string }, ...more: readonly string[]) {
  return runHere(["verify", run, "--against", url, ...more], { KNOWLEDGE_API_KEY: key });
}

test("0 if the service has the same documents as the run", async () => {
  const service = await serve(treeOf());
  const { host } = new URL(service.url);
  expect(await verify(await dumped(), service)).toEqual({
    code: 0,
    stderr: "",
    stdout: `sound: 14 files, 3 chunks, 2 child chunks\nas in the run: 1 document, 3 chunks, 2 child chunks at ${host}\n`,
  });
});

test.runIf(inFull)("--sample compares a part of the documents, and says so", async () => {
  const service = await serve(treeOf());
  const { code, stdout } = await verify(await dumped(), service, "--sample", "5%");
  expect(code).toBe(0);
  expect(stdout).toContain("1 document of 1, drawn at random, was compared");
});

test.each(["5", "0%", "101%", "x%"])("--sample %s: exit 2", async (sample) => {
  const { code, stderr } = await runHere([
    "verify",
    "run",
    "--against",
    "https://kb.example.com/v1",
    "--sample",
    sample,
  ]);
  expect([code, stderr]).toEqual([
    2,
    expect.stringContaining(`--sample: got "${sample}", expected a percentage above 0, such as 5%`),
  ]);
});

test.runIf(inFull)("4 with a line for each difference", async () => {
  const service = await serve(treeOf(edited, { archived: true }));
  const run = await dumped();
  const { host } = new URL(service.url);
  const { code, stdout, stderr } = await verify(run, service);
  expect({ code, stderr }).toEqual({ code: 4, stderr: "" });
  expect(stdout.split("\n").slice(1, -1)).toEqual([
    `2 differences to the run: 1 document, 3 chunks, 2 child chunks at ${host}`,
    "",
    "Differences:",
    `  ${documentId}`,
    "    its state (archived) is true at the service, and false in the run",
    `    chunk at 2 ${uuid(102)}`,
    "      it differs in text",
  ]);
  const json = await verify(run, service, "--json");
  expect(json.code).toBe(4);
  expect(JSON.parse(json.stdout)).toMatchObject({
    ...{ status: "differences", findings: [], finding_count: 0 },
    against: {
      ...{ base_url: service.url, copies: false, documents: 1, chunks: 3, child_chunks: 2, notes: [] },
      differences: [
        { level: "document", document_id: documentId, id: documentId, position: null },
        { level: "chunk", document_id: documentId, id: uuid(102), position: 2, reason: "it differs in text" },
      ],
    },
  });
});

test.runIf(inFull)("with the journal of a restore, its copies are compared", async () => {
  const run = await dumped();
  const sound = await serve(copyOf(treeOf()));
  await noteCopy(run, sound.url);
  expect(await verify(run, sound)).toMatchObject({
    code: 0,
    stdout: expect.stringContaining("as in the run: 1 restored document, 3 chunks, 2 child chunks at"),
  });
  const broken = await serve(copyOf(treeOf(sketches.slice(0, 2))));
  await noteCopy(run, broken.url);
  expect(await verify(run, broken)).toMatchObject({
    code: 4,
    stdout: expect.stringContaining(`\n  ${documentId}\n    chunk at 3 ${uuid(103)}\n      it is not in the copy\n`),
  });
});

test.runIf(inFull)("a document that the service does not have is a difference", async () => {
  const service = await serve([]);
  const { code, stdout } = await verify(await dumped(), service);
  expect(code).toBe(4);
  expect(stdout).toContain(`\n  ${documentId}\n    the service does not have it\n`);
});

test.runIf(inFull)("a dump that is not sound is not compared", async () => {
  const run = await dumped();
  await appendFile(join(run, "chunks.jsonl"), "\n");
  const { code, stdout, stderr } = await verify(run, { url: await deadUrl(), key: "k" }, "--json");
  expect(code).toBe(4);
  expect(stderr).toContain("the dump is not sound, and was not compared with the service");
  expect(JSON.parse(stdout)).toMatchObject({ status: "differences", against: null });
});

test.runIf(inFull)("1 if a document cannot be read completely, or if nothing is left to compare", async () => {
  const run = await dumped();
  const service = await serve(treeOf([...sketches, { content: "four", id: uuid(101) }]));
  const unread = await verify(run, service);
  expect(unread.code).toBe(1);
  expect(unread.stderr).toContain(documentId);
  const copies = await serve(copyOf(treeOf()));
  await noteCopy(run, copies.url, false);
  const nothing = await verify(run, copies);
  expect(nothing).toMatchObject({ code: 1, stdout: "" });
  expect(nothing.stderr).toContain("nothing to compare with the service\n  1 document of the run: not compared");
});

test("2 with every flag that is wrong or lonely, for a document of another run, and without a key", async () => {
  const lonely = ["--key-env=K", "--allow-http", "--concurrency=1", "--max-rps=1", `--document=${uuid(9)}`];
  const { code, stderr } = await runHere(["verify", "run", ...lonely]);
  expect(code).toBe(2);
  const why = "only together with --against";
  for (const flag of lonely) expect(stderr).toContain(`${flag.split("=")[0]}: ${why}`);
  const wrong = await runHere([
    "verify",
    "run",
    "--against=http://kb.example.com/v1",
    "--concurrency=0",
    "--document=a",
  ]);
  expect(wrong.code).toBe(2);
  for (const flag of ["--against", "--concurrency", "--document"]) expect(wrong.stderr).toContain(`  ${flag}: `);
  const run = await dumped();
  const service = await serve(treeOf());
  const unknown = await verify(run, service, "--document", uuid(9));
  expect(unknown).toMatchObject({ code: 2, stdout: "" });
  expect(unknown.stderr).toContain(`--document: the run has no document ${uuid(9)}`);
  const keyless = await runHere(["verify", run, "--against", service.url]);
  expect(keyless).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("the variable KNOWLEDGE_API_KEY is not set"),
  });
});
