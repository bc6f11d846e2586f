import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { AttachmentPlan } from "../../../src/restore/copy/copy-plan.js";
import { openTestWriter } from "../../client/write/open-test-writer.js";
import { inFull } from "../../rounds.js";
import { testFolder } from "../../run/job-for.js";
import { rowsFrom, startCopy, uuid } from "./start-copy.js";

const nothing = { failed: [], reason: null };
const [one, two] = [uuid(901), uuid(902)];

/** Attachments with files, as in a plan. */
async function filesOf(...ids: readonly string[]): Promise<readonly AttachmentPlan[]> {
  const folder = await testFolder();
  return Promise.all(
    ids.map(async (id) => {
      const path = join(folder, `${id}.txt`);
      await writeFile(path, `file ${id}`);
      return { id, file: { path, name: `${id}.txt`, mime_type: "text/plain", bytes: 41, sha256: "" } };
    }),
  );
}

type Copy = Awaited<ReturnType<typeof startCopy>>;

/** The attachment names of each chunk, without file extensions. */
const attached = (copy: Copy) =>
  copy.chunks().map(({ attachments = [] }) => attachments.map(({ name }) => String(name).replace(".txt", "")));

/** The kinds of the writes so far, from the journal. */
const kinds = (copy: Copy) => copy.noted.flatMap((line) => (line.kind === "intent" ? [line.write] : []));

test("attachments are uploaded once, and bound before their chunk is disabled", async () => {
  const copy = await startCopy();
  const attachments = await filesOf(one, two);
  const rows = rowsFrom([
    { attachment_ids: [one, two], enabled: false, keywords: ["k"] },
    { attachment_ids: [one] },
    { attachment_ids: [uuid(999)] },
  ]);
  expect(await copy.run(rows, { attachments })).toEqual(nothing);
  expect(attached(copy)).toEqual([[one, two], [one], []]);
  expect(copy.chunks().map(({ enabled, keywords }) => [enabled, keywords])).toEqual([
    [false, ["k"]],
    [true, []],
    [true, []],
  ]);
  expect(kinds(copy)).toEqual([
    ...["add chunks", "upload file", "upload file", "update chunk", "disable chunk", "update chunk"],
  ]);
  const [binding] = copy.writes().flatMap(({ body }) => (body?.segment ? [body.segment] : []));
  const ids = copy.chunks()[0]?.attachments?.map(({ id }) => id);
  expect(binding).toEqual({ content: "chunk 1", keywords: ["k"], attachment_ids: ids });
  expect(copy.progress.chunksDone).toBe(3);

  const writes = copy.sent().length;
  expect(await copy.run(rows, { attachments })).toEqual(nothing);
  expect(copy.sent()).toHaveLength(writes);
});

test("a file that the service has already is bound under its id", async () => {
  const copy = await startCopy();
  const [{ file } = {}] = await filesOf(one);
  if (!file) throw new Error("there is no file");
  const uploaded = await openTestWriter(copy.url, { key: copy.key }).uploadFile(file).send();
  const id = uploaded.kind === "done" ? uploaded.value.id : "";
  expect(await copy.run(rowsFrom([{ attachment_ids: [id] }]), { attachments: [{ id, file: null }] })).toEqual(nothing);
  expect(attached(copy)).toEqual([[one]]);
});

test("an attachment that the service refuses is named with its words, and the chunk stays", async () => {
  const copy = await startCopy();
  const attachments = [{ id: one, file: null }];
  const { failed, reason } = await copy.run(rowsFrom([{ attachment_ids: [one], enabled: false }]), { attachments });
  expect(reason).toBeNull();
  expect(failed).toMatchObject([
    {
      level: "chunk",
      id: uuid(101),
      reason: expect.stringMatching(/^not all of its attachments were copied: .* 400 /),
    },
  ]);
  expect(copy.chunks().map(({ content, enabled }) => [content, enabled])).toEqual([["chunk 1", false]]);
  expect(copy.progress.chunksDone).toBe(0);
});

test("a file that cannot be read is named for each chunk, and the others are bound", async () => {
  const copy = await startCopy();
  const [there] = await filesOf(one);
  const path = "/nowhere/two.txt";
  const gone = { id: two, file: { path, name: "two.txt", mime_type: null, bytes: 1, sha256: "" } };
  const rows = rowsFrom([{ attachment_ids: [two, one] }, { attachment_ids: [two] }]);
  const { failed } = await copy.run(rows, { attachments: there ? [there, gone] : [] });
  expect(failed.map(({ id, reason }) => [id, reason.includes(path)])).toEqual([
    [uuid(101), true],
    [uuid(102), true],
  ]);
  expect(attached(copy)).toEqual([[one], []]);
});

test.runIf(inFull)("a process that ends at any write can be continued, and every attachment is bound", async () => {
  const attachments = await filesOf(one);
  const rows = rowsFrom([{ attachment_ids: [one], enabled: false }, { attachment_ids: [one] }]);
  for (const fault of ["lost", "cut"] as const) {
    for (let last = 1; ; last++) {
      const stop = new AbortController();
      const copy = await startCopy({
        faultOf: (_, write) => {
          if (write !== last) return undefined;
          stop.abort(new Error("killed"));
          return fault;
        },
      });
      const { signal } = stop;
      const killed = await copy.run(rows, { attachments }, { signal }).catch((error: Error) => error.message);
      expect(await copy.run(rows, { attachments })).toEqual(nothing);
      expect(attached(copy)).toEqual([[one], [one]]);
      expect(copy.chunks().map(({ enabled }) => enabled)).toEqual([false, true]);
      if (killed !== "killed") break;
    }
  }
});

test.runIf(inFull)(
  "missing attachments of a disabled chunk are bound later, and it is disabled again as soon as possible",
  async () => {
    let isRefusing = true;
    const copy = await startCopy({
      faultOf: ({ body }) =>
        isRefusing && /attachment_ids":\["/.test(body) ? { status: 400, message: "No" } : undefined,
    });
    const attachments = await filesOf(one);
    const rows = rowsFrom([{ attachment_ids: [one], enabled: false }]);
    expect((await copy.run(rows, { attachments })).failed).toHaveLength(1);
    isRefusing = false;
    await copy.clock.sleep(700_000);
    expect(await copy.run(rows, { attachments })).toEqual(nothing);
    expect([attached(copy), copy.chunks().map(({ enabled }) => enabled)]).toEqual([[[one]], [false]]);
    expect(copy.clock.now() - Date.parse("2026-03-01T12:00:00Z")).toBeGreaterThan(1_300_000);
  },
);
