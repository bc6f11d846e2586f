import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { StopError } from "../../../src/errors.js";
import { isThere } from "../../../src/files/files.js";
import { DamagedFileError } from "../../../src/parallel/exchange/exchange.js";
import { type ExchangeWorld, factsOf, readInto } from "./exchanges.js";

const texts = { "1.chunks.jsonl": "one\ntwo\n", "1.child_chunks.jsonl": "" };
const never = "00000000-0000-4000-8000-000000000000";

/** The rules that hold whatever the output of a job is. `many`: rounds of two workers that hand over at once. */
export function testExchange(open: () => Promise<ExchangeWorld>, many: number): void {
  test("a worker reads what the coordinator wrote beside the results, and undefined before it did", async () => {
    const { own, worker } = await open();
    const exchange = await worker();
    expect(await exchange.read("plan.json")).toBeUndefined();
    await own.write("plan.json", '{"first":1}');
    expect(await exchange.read("plan.json")).toBe('{"first":1}');
    await own.write("plan.json", "{}");
    expect(await exchange.read("plan.json")).toBe("{}");
    expect(await own.results()).toEqual([]);
  });

  test("a document that was handed over is a result, and its files are taken byte by byte", async () => {
    const { own, worker, target } = await open();
    const { attempt, files } = await readInto(await worker(), "1", texts);
    expect(await own.results()).toEqual([]);
    expect(await own.result("1")).toBeUndefined();
    expect(await attempt.submit(files, '{"token":1}')).toBe("first");
    await attempt.drop();
    expect(await own.results()).toEqual(["1"]);
    expect(await own.result("1")).toBe('{"token":1}');
    for (const file of files) {
      await writeFile(target, "left by a coordinator that was killed");
      await own.take("1", attempt.token, file, target);
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
      expect(await own.result(`${round}`)).toBe(winner?.attempt.token);
      for (const file of winner?.files ?? []) await own.take(`${round}`, winner?.attempt.token ?? "", file, target);
      for (const { attempt } of read) await attempt.drop();
    }
    expect((await own.results()).length).toBe(many);
  });

  test("handing over again, because the first answer was lost, is no second result", async () => {
    const { own, worker } = await open();
    const { attempt, files } = await readInto(await worker(), "1", texts);
    expect(await attempt.submit(files, "same")).toBe("first");
    expect(await attempt.submit(files, "same")).toBe("first");
    expect(await own.result("1")).toBe("same");
  });

  test("a file that does not have the bytes that were written to it is not handed over", async () => {
    const { own, worker } = await open();
    const { attempt, files } = await readInto(await worker(), "1", texts);
    await writeFile(join(attempt.folder, "1.chunks.jsonl"), "one\n");
    await expect(attempt.submit(files, "{}")).rejects.toThrow("1.chunks.jsonl");
    await expect(attempt.submit(files, "{}")).rejects.toThrow(StopError);
    expect(await own.results()).toEqual([]);
  });

  test("an attempt that gives up says why, and another one may hand over the document", async () => {
    const { own, worker } = await open();
    const exchange = await worker();
    const { attempt: failed } = await readInto(exchange, "1", texts);
    await failed.giveUp("the service answered 500\nagain and again");
    await failed.drop();
    expect(await isThere(failed.folder)).toBe(false);
    expect(await own.tried()).toEqual([{ name: "1", token: failed.token }]);
    expect(await own.reason({ name: "1", token: failed.token })).toBe("the service answered 500\nagain and again");
    expect(await own.reason({ name: "1", token: never })).toBeUndefined();
    const { attempt, files } = await readInto(exchange, "1", texts);
    expect(await attempt.submit(files, "{}")).toBe("first");
  });

  test("a damaged file is found when it is taken; forgotten, the document can be read again", async () => {
    const { own, worker, damage, target } = await open();
    const exchange = await worker();
    const { attempt, files } = await readInto(exchange, "1", { "1.a": "right", "1.b": "whole" });
    await attempt.submit(files, "{}");
    await damage("1", attempt.token, "1.a", "wrong");
    await damage("1", attempt.token, "1.b", "whole and more");
    for (const file of [...files, { file: "1.c", ...factsOf("") }]) {
      const taking = own.take("1", attempt.token, file, target);
      await expect(taking).rejects.toThrow(DamagedFileError);
      await expect(taking).rejects.toThrow(file.file);
      expect(await isThere(target)).toBe(false);
    }
    await Promise.all([own.forget("1"), own.forget("1"), own.forget("2")]);
    expect(await own.results()).toEqual([]);
    const second = await readInto(exchange, "1", texts);
    expect(await second.attempt.submit(second.files, "again")).toBe("first");
    expect(await own.result("1")).toBe("again");
  });

  test("a worker that wakes after the end changes nothing, and learns that the run is over", async () => {
    const { own, worker } = await open();
    await own.write("plan.json", "{}");
    const exchange = await worker();
    const { attempt: first, files } = await readInto(exchange, "1", texts);
    const { attempt: second } = await readInto(exchange, "2", texts);
    await own.remove();
    expect(await exchange.read("plan.json")).toBeUndefined();
    expect(await exchange.begin("3")).toBeUndefined();
    expect(await first.submit(files, "{}")).toBe("late");
    await second.giveUp("woke late");
    for (const attempt of [first, second]) await attempt.drop();
    expect([await own.results(), await own.tried()]).toEqual([[], []]);
  });

  test("the coordinator of a run that was killed finds everything as it was", async () => {
    const { own, worker, restart, target } = await open();
    await own.write("plan.json", "{}");
    const { attempt, files } = await readInto(await worker(), "1", texts);
    const { attempt: underWay } = await readInto(await worker(), "2", texts);
    await attempt.submit(files, "{}");
    const again = await restart();
    expect(await again.read("plan.json")).toBe("{}");
    expect(await again.results()).toEqual(["1"]);
    for (const file of files) await again.take("1", attempt.token, file, target);
    expect(await underWay.submit(files, "{}")).toBe("first");
    expect([...(await again.results())].sort()).toEqual(["1", "2"]);
  });

  test("names that would lead elsewhere are refused", async () => {
    const { own, worker, target } = await open();
    const exchange = await worker();
    const { attempt } = await readInto(exchange, "1", texts);
    await writeFile(join(attempt.folder, "..", "outside"), "").catch(() => {});
    for (const name of ["..", ".", "", "../1", "a/b", ".hidden", "a\0b", "a\n"]) {
      const file = { file: name, ...factsOf("") };
      const acts: readonly (() => Promise<unknown>)[] = [
        () => exchange.begin(name),
        () => exchange.read(name),
        () => own.write(name, ""),
        () => own.result(name),
        () => own.forget(name),
        () => own.reason({ name, token: never }),
        () => own.reason({ name: "1", token: name }),
        () => own.take(name, never, file, target),
        () => own.take("1", never, file, target),
        () => attempt.submit([file], "{}"),
      ];
      for (const act of acts) await expect(act()).rejects.toThrow(StopError);
    }
  });
}
