import { expect, onTestFinished, test } from "vitest";
import { emptyCopyProgress } from "../../../src/restore/copy/copy-result.js";
import { copyRun } from "../../../src/restore/copy/copy-run.js";
import { exitCodeOf } from "../../../src/restore/result.js";
import { inFull } from "../../rounds.js";
import { openLossyWire } from "../../servers/lossy-wire.js";
import { backUp, key } from "./back-up.js";
import { copying } from "./copying.js";
import { readCopies } from "./random/copies.js";
import type { Scenario } from "./random/scenario.js";

const drawn: Scenario = {
  ...{ technique: "economy", tags: [], cap: 0, fates: [], breaks: [], frozenAt: null, planted: null, unindexed: 0 },
  documents: [
    {
      ...{ name: "one.txt", form: "text_model", state: "available", value: null },
      chunks: [{ content: "One.", answer: "", keywords: [], isEnabled: true, children: null }],
    },
  ],
};

test("the next process continues with a dataset whose creation got no answer", async () => {
  const { target, wire, folder } = await backUp(drawn);
  const broken = new AbortController();
  wire.decide = () => {
    broken.abort(new Error("broken off"));
    return "lose answer";
  };
  await expect(copyRun(copying(folder, { url: wire.url, key }, { signal: broken.signal }))).rejects.toThrow(
    "broken off",
  );
  wire.decide = () => "pass";
  const result = await copyRun(copying(folder, { url: wire.url, key }));
  expect(result).toMatchObject({ status: "proved", differences: [] });
  expect((await readCopies(target.url, key)).map(({ name }) => name)).toEqual(["Random"]);
});

test.runIf(inFull)("the same copy again writes nothing, and proves it once more", async () => {
  const { wire, folder, kinds } = await backUp(drawn);
  const options = copying(folder, { url: wire.url, key });
  await copyRun(options);
  const writes = kinds.length;
  expect(await copyRun(options)).toMatchObject({ status: "proved", applied: { documents: [{ outcome: "restored" }] } });
  expect(kinds.length).toBe(writes);
});

test.runIf(inFull)("the proof names a document that the copy did not make", async () => {
  const { target, wire, folder } = await backUp(drawn);
  const options = copying(folder, { url: wire.url, key });
  await copyRun(options);
  const [copy] = await readCopies(target.url, key);
  const made = await fetch(`${target.url}/datasets/${copy?.id}/document/create-by-text`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify({ name: "other.txt", text: "Somebody else's.", process_rule: { mode: "automatic" } }),
  });
  const { document } = Object(await made.json());
  const reason = `it has a document that this restore did not make: "other.txt" (${document.id})`;
  expect(await copyRun(options)).toMatchObject({ status: "different", differences: [{ level: "dataset", reason }] });
});

test("nothing is proved about a dataset whose documents are not all listed", async () => {
  const { wire, folder } = await backUp(drawn);
  const progress = emptyCopyProgress();
  const list = JSON.stringify({ data: [], total: 1, has_more: false, page: 1, limit: 100 });
  const flawed = await openLossyWire(wire.url, ({ path }) =>
    progress.step === "proving" && /\/documents\?/.test(path) ? { status: 200, body: list } : "pass",
  );
  onTestFinished(flawed.close);
  const result = await copyRun(copying(folder, { url: flawed.url, key }, { progress }));
  const reason = expect.stringMatching(/^its list of documents .*may lack some: /);
  expect(result).toMatchObject({ status: "different", differences: [{ level: "dataset", reason }] });
});

test.runIf(inFull)(
  "release 1.12.1, which makes a tag and cannot show it: partial, which is exit 3, and the proof finds nothing else",
  async () => {
    const { target, wire, folder } = await backUp({ ...drawn, tags: ["blue", "red"] });
    const release = await startRelease1121(wire.url);
    const result = await copyRun(copying(folder, { url: release.url, key }));
    expect(result).toMatchObject({
      status: "partial",
      differences: [],
      applied: { documents: [{ outcome: "restored" }] },
    });
    expect(result.applied?.problems).toEqual([
      expect.stringMatching(/^dataset "Random": the tag "blue": the service makes tags, but cannot show them/),
      expect.stringMatching(/^dataset "Random": the tag "red": the service makes tags, but cannot show them/),
    ]);
    expect(exitCodeOf(result)).toBe(3);
    release.update();
    expect(await copyRun(copying(folder, { url: release.url, key }))).toMatchObject({
      status: "proved",
      differences: [],
    });
    const [copy] = await readCopies(target.url, key);
    const tags = await fetch(`${target.url}/datasets/${copy?.id}/tags`, {
      headers: { authorization: `Bearer ${key}` },
    });
    expect(Object(await tags.json()).data).toHaveLength(2);
  },
);

/**
 * A service that behaves like release 1.12.1 until it is updated: creating a tag works but answers 400, and the tag list
 * then fails.
 */
async function startRelease1121(service: string) {
  let hasTag = false;
  let isUpdated = false;
  const message = "1 validation error for TagResponse\nbinding_count\n  Input should be a valid string";
  const { url, close } = await openLossyWire(service, ({ method, path }) => {
    if (isUpdated || !/\/datasets\/tags$/.test(path)) return "pass";
    hasTag ||= method === "POST";
    return hasTag ? { status: 400, body: JSON.stringify({ code: "invalid_param", message, status: 400 }) } : "pass";
  });
  onTestFinished(close);
  const update = () => {
    isUpdated = true;
  };
  return { url, update };
}

test.runIf(inFull)("after the answer no, nothing is written", async () => {
  const { wire, folder, kinds } = await backUp(drawn);
  const result = await copyRun(copying(folder, { url: wire.url, key }, { confirm: async () => ({ go: false }) }));
  expect(result).toMatchObject({ status: "planned", applied: null, journal: null });
  expect(kinds).toEqual([]);
});
