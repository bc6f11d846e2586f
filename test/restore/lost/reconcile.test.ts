import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { openTestClient } from "../../client/open-test-client.js";
import { inFull } from "../../rounds.js";
import type { Fault, Seen } from "./flaky-service.js";
import {
  documentId,
  outcomesOf,
  restoring,
  restoringChild,
  startTarget,
  type Target,
  target,
  uuid,
} from "./small-target.js";

const added = (number: number, content = `added ${number}`) =>
  restoring(number, { target: null, texts: { content, answer: null, keywords: null } });
const child = restoring(1, { texts: null, children: [restoringChild(1, "by hand")] });

/** The journal of a process that was killed as soon as it sent its first write; it never received the answer. */
async function killedAfter(fault: Fault, restore = added(1), sketch = {}) {
  const ended = new AbortController();
  const faultOf = (_: Seen, write: number) => {
    if (write === 1) ended.abort(new Error("killed"));
    return write === 1 ? fault : undefined;
  };
  const place = await startTarget([sketch], {}, { faultOf });
  await expect(place.apply([restore], { signal: ended.signal })).rejects.toThrow("killed");
  return place;
}

describe("an earlier restore that did not end", () => {
  test.each([
    ["an added chunk", added(1)],
    ["an updated chunk", restoring(1)],
    ["a disabled chunk", restoring(1, { texts: null, disable: true })],
    ["an added child chunk", child],
  ])("%s is found where it was done, at once, and is counted as written", async (_, restore) => {
    const place = await killedAfter("lost", restore);
    expect((await place.open()).open).toHaveLength(1);
    await place.reconcile();
    expect((await place.open()).open).toEqual([]);
    expect((await place.open()).written).toHaveLength(1);
    expect([place.writes().length, place.clock.waits]).toEqual([1, []]);
    expect(await place.prove()).toEqual([]);
  });

  test.runIf(inFull)(
    "an add is not waited for longer than the lock time, even if the clock was ahead when it was sent",
    async () => {
      const place = await killedAfter("cut", added(1));
      await place.clock.sleep(-86_400_000);
      const begun = place.clock.now();
      await place.reconcile();
      expect(place.clock.now() - begun).toBe(660_000);
    },
  );

  test.runIf(inFull).each([
    ["an update", restoring(1), 10_000],
    ["an add, which a lock of the service may hold back,", added(1), 610_000],
    ["an add of a child", child, 610_000],
  ])(
    "%s that is done later is waited for, but no longer than it may take since it was sent",
    async (_, restore, left) => {
      const place = await killedAfter({ late: 3 }, restore);
      await place.reconcile();
      expect((await place.open()).written).toHaveLength(1);
      expect(await place.prove()).toEqual([]);
      const cut = await killedAfter("cut", restore);
      await cut.clock.sleep(50_000);
      const begun = cut.clock.now();
      const said: string[] = [];
      await cut.reconcile({ log: (_level, text) => said.push(text) });
      expect(cut.clock.now() - begun).toBe(left);
      const waiting = /^document .*: waiting until 2026-03-01T12:11:00\.000Z for an earlier write/;
      expect(said.slice(1)).toEqual(left > 60_000 ? [expect.stringMatching(waiting)] : []);
      const journal = await cut.open();
      expect([journal.open, journal.written]).toEqual([[], []]);
      expect(outcomesOf(await cut.apply([restore]))).toEqual([expect.stringMatching(/: written$/)]);
      expect([cut.texts(), await cut.prove()]).toEqual([place.texts(), []]);
    },
  );

  test("a write that was noted and never sent is not looked for", async () => {
    const place = await startTarget([{}]);
    const journal = await place.open();
    journal.beginWith("before/runs/1");
    const facts = { write: "add chunks", dataset_id: uuid(1), document_id: documentId, texts_sha256: "" } as const;
    await journal.intend(facts, { method: "POST", path: "/", sha256: "" });
    await journal.close();
    await place.reconcile();
    expect([(await place.open()).open, place.seen.length, place.clock.waits]).toEqual([[], 0, []]);
  });

  test("a document that is gone has nothing to look for", async () => {
    const place = await killedAfter("cut");
    await place.reconcile({ api: await refusingApi(404) });
    const { open, written } = await place.open();
    expect([open, written]).toEqual([[], []]);
  });

  test.runIf(inFull)(
    "a document that cannot be read keeps its write open, is not written, and the journal does not end",
    async () => {
      const place = await killedAfter("lost");
      const logged: string[] = [];
      await place.reconcile({ api: await refusingApi(400), log: (_, text) => logged.push(text) });
      expect(logged.at(-1)).toMatch(/^document .*: cannot determine the outcome of a write: GET .*400/);
      const applied = await place.apply([restoring(1)]);
      expect(applied.rows).toMatchObject([{ outcome: "failed", reason: expect.stringContaining("an earlier write") }]);
      expect(place.writes()).toHaveLength(1);
      await (await place.open()).end();
      expect(await readFile(join(place.folder, "journal.jsonl"), "utf8")).not.toContain('"end"');
    },
  );

  test.runIf(inFull)("a chunk that it left unindexed is repaired, wherever the repair was interrupted", async () => {
    for (const last of [1, 2]) {
      const ended = new AbortController();
      let failures = 1;
      const place = await startTarget(
        [{}],
        {},
        {
          embeddingFails: () => failures-- > 0,
          indexingSeconds: 0,
          faultOf: (_, write) => {
            if (write === last + 1) ended.abort(new Error("killed"));
            return write === last + 1 ? "cut" : undefined;
          },
        },
      );
      await expect(place.apply([added(1)], { signal: ended.signal })).rejects.toThrow("killed");
      expect(place.texts()).toEqual(["chunk 1", last === 1 ? "added 1" : "added 1 "]);
      await place.reconcile();
      expect(place.rows().chunks[1]).toMatchObject({ content: "added 1", enabled: true, status: "completed" });
      expect((await place.open()).unindexed).toEqual([]);
      expect(await place.prove()).toEqual([]);
    }
  });
});

describe("a chunk that the service could not index", () => {
  test.runIf(inFull).each([
    ["is gone", (store: Target["store"]) => store.reindex(documentId, { seconds: 0 })],
    ["has another text by now", (store: Target["store"]) => changeLast(store, "by somebody")],
  ])("and that %s is given up: the journal ends, and its text can be restored again", async (_, change) => {
    let fails = true;
    const place = await startTarget([{}], {}, { embeddingFails: () => fails, indexingSeconds: 0 });
    expect(outcomesOf(await place.apply([added(1)]))).toEqual(["chunk 501: failed"]);
    expect((await place.open()).unindexed).toHaveLength(1);
    change(place.store);
    fails = false;
    await place.reconcile();
    const journal = await place.open();
    expect([journal.unindexed, journal.written]).toEqual([[], []]);
    expect(outcomesOf(await place.apply([added(1)]))).toEqual(["chunk 501: written"]);
    expect(place.texts().filter((text) => text === "added 1")).toHaveLength(1);
    await (await place.open()).end();
    expect(await readFile(join(place.folder, "journal.jsonl"), "utf8")).toContain('"end"');
  });
});

/** Replaces the text of the last chunk, like another user. */
function changeLast(store: Target["store"], content: string): void {
  const document = store.read(documentId);
  const last = document.chunks.length - 1;
  const chunks = document.chunks.map((chunk, at) => (at < last ? chunk : { ...chunk, row: { ...chunk.row, content } }));
  store.write({ ...document, chunks });
}

/** The API of a service that refuses every request. */
async function refusingApi(status: number) {
  const { url, key } = await startTarget([], {}, { faultOf: () => ({ status, message: "No." }) });
  return openTestClient(url, { key });
}

describe("the signal", () => {
  test("ends between two writes: the rest is not sent, nothing is open", async () => {
    const ended = new AbortController();
    const faultOf = (seen: Seen) => {
      if (seen.path.endsWith(uuid(102))) ended.abort(new Error("interrupted"));
      return undefined;
    };
    const place = await startTarget([{}, {}, {}], {}, { faultOf });
    const run = place.apply([restoring(1), restoring(2), restoring(3)], { signal: ended.signal });
    await expect(run).rejects.toThrow("interrupted");
    expect(place.texts()).toEqual(["lost 1", "chunk 2", "chunk 3"]);
    expect((await place.open()).open).toEqual([]);
    expect(await place.prove()).toEqual([]);
  });

  test("a write under way is answered, and its outcome noted", async () => {
    const ended = new AbortController();
    const place = await startTarget(
      [{}, {}],
      {},
      {
        faultOf: (_, write) => {
          if (write === 1) ended.abort(new Error("interrupted"));
          return undefined;
        },
      },
    );
    await expect(place.apply([restoring(1), restoring(2)], { signal: ended.signal })).rejects.toThrow("interrupted");
    expect([place.texts(), (await place.open()).open]).toEqual([["lost 1", "chunk 2"], []]);
  });

  test("ends a wait for a chunk that accepts no change yet", async () => {
    const ended = new AbortController();
    const place = await startTarget([{ enabled: false }]);
    const restore = restoring(1, { target: target(1, { enabled: false }), disable: true });
    const sleep = async () => ended.abort(new Error("interrupted"));
    await expect(place.apply([restore], { sleep, signal: ended.signal })).rejects.toThrow("interrupted");
    expect((await place.open()).open).toEqual([]);
  });
});

test("the journal contains neither the key nor any text", async () => {
  const place = await startTarget([{ children: ["one"] }]);
  const secret = "a text that nobody else shall read";
  const texts = { content: secret, answer: null, keywords: ["keyword of it"] };
  await place.apply([restoring(1, { texts, children: [restoringChild(1, `child of ${secret}`)] }), added(2, secret)]);
  for (const name of await readdir(place.folder)) {
    const text = await readFile(join(place.folder, name), "utf8");
    expect(text.length).toBeGreaterThan(1_000);
    for (const part of [place.key, secret, "keyword of it"]) expect(text).not.toContain(part);
  }
});
