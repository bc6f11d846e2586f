import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { StopError } from "../../../src/errors.js";
import { isThere } from "../../../src/files/files.js";
import { beginAttempt } from "../../../src/parallel/exchange.js";
import { type ExchangeEnvironment, factsOf, readInto, take } from "./exchanges.js";

const texts = { "1.chunks.jsonl": "one\ntwo\n", "1.child_chunks.jsonl": "" };

/** The tests that an exchange must pass, in a folder as in a bucket. `many`: in how many rounds two workers submit at the same time. */
export function testExchange(open: () => Promise<ExchangeEnvironment>, many: number): void {
  test("a worker reads what the coordinator wrote beside the results, and undefined before", async () => {
    const { own, worker } = await open();
    const exchange = await worker();
    expect(await exchange.read("other.json")).toBeUndefined();
    await own.write("plan.json", '{"first":1}');
    expect(await exchange.read("plan.json")).toBe('{"first":1}');
    await own.write("plan.json", "{}");
    expect(await exchange.read("plan.json")).toBe("{}");
    expect(await own.names("results")).toEqual([]);
  });

  test("a document that was handed over is a result, and its files are taken byte by byte", async () => {
    const { own, worker, target } = await open();
    const { attempt, files } = await readInto(await worker(), "1", texts);
    expect(await own.names("results")).toEqual([]);
    expect(await own.read("results/1.json")).toBeUndefined();
    expect(await attempt.submit(files, '{"token":1}')).toBe("first");
    await attempt.drop();
    expect(await own.names("results")).toEqual(["1.json"]);
    expect(await own.read("results/1.json")).toBe('{"token":1}');
    for (const file of files) {
      expect(await take(own, attempt, file, target)).toBe(true);
      expect(factsOf(await readFile(target, "utf8"))).toEqual({ bytes: file.bytes, sha256: file.sha256 });
    }
  });

  test("of two workers that hand over the same document at once, one is first and one is late, every time", async () => {
    const { own, worker, target } = await open();
    const [one, two] = [await worker(), await worker()];
    for (let round = 1; round <= many; round++) {
      const read = [
        await readInto(one, `${round}`, { "1.a": "one" }),
        await readInto(two, `${round}`, { "1.a": "two" }),
      ];
      const outcomes = await Promise.all(read.map(({ attempt, files }) => attempt.submit(files, attempt.token)));
      expect([...outcomes].sort()).toEqual(["first", "late"]);
      const winner = read[outcomes.indexOf("first")];
      expect(await own.read(`results/${round}.json`)).toBe(winner?.attempt.token);
      for (const file of winner?.files ?? [])
        expect(winner && (await take(own, winner.attempt, file, target, `${round}`))).toBe(true);
      for (const { attempt } of read) await attempt.drop();
    }
    expect((await own.names("results")).length).toBe(many);
  });

  test("handing over again, because the first answer was lost, is no second result", async () => {
    const { own, worker } = await open();
    const { attempt, files } = await readInto(await worker(), "1", texts);
    expect(await attempt.submit(files, "same")).toBe("first");
    expect(await attempt.submit(files, "same")).toBe("first");
    expect(await own.read("results/1.json")).toBe("same");
  });

  test("a file that does not have the bytes that were written to it is not handed over", async () => {
    const { own, worker } = await open();
    const { attempt, files } = await readInto(await worker(), "1", texts);
    await writeFile(join(attempt.folder, "1.chunks.jsonl"), "one\n");
    await expect(attempt.submit(files, "{}")).rejects.toThrow("1.chunks.jsonl");
    await expect(attempt.submit(files, "{}")).rejects.toThrow(StopError);
    expect(await own.names("results")).toEqual([]);
  });

  test("a damaged file is found when it is taken", async () => {
    const { own, worker, damage, target } = await open();
    const exchange = await worker();
    const { attempt, files } = await readInto(exchange, "1", { "1.a": "right", "1.b": "whole" });
    await attempt.submit(files, "{}");
    await damage("1", attempt.token, "1.a", "wrong");
    await damage("1", attempt.token, "1.b", "whole and more");
    for (const file of [...files, { file: "1.c", ...factsOf("") }]) {
      expect(await take(own, attempt, file, target), file.file).toBe(false);
      expect(await isThere(target)).toBe(false);
    }
  });

  test("a worker that wakes after the end changes nothing, and learns that the run is over", async () => {
    const { own, worker } = await open();
    await own.write("plan.json", "{}");
    const exchange = await worker();
    const { attempt: first, files } = await readInto(exchange, "1", texts);
    await own.remove();
    expect(await exchange.read("plan.json")).toBeUndefined();
    expect(await beginAttempt(exchange, "3")).toBeUndefined();
    expect(await first.submit(files, "{}")).toBe("late");
    await first.drop();
    expect(await own.names("results")).toEqual([]);
  });

  test("the coordinator of a run that was killed finds everything as it was", async () => {
    const { own, worker, restart, target } = await open();
    await own.write("plan.json", "{}");
    const { attempt, files } = await readInto(await worker(), "1", texts);
    const { attempt: underWay } = await readInto(await worker(), "2", texts);
    await attempt.submit(files, "{}");
    const again = await restart();
    expect(await again.read("plan.json")).toBe("{}");
    expect(await again.names("results")).toEqual(["1.json"]);
    for (const file of files) expect(await take(again, attempt, file, target)).toBe(true);
    expect(await underWay.submit(files, "{}")).toBe("first");
    expect([...(await again.names("results"))].sort()).toEqual(["1.json", "2.json"]);
  });
}
