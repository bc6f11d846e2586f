import { readFile, writeFile } from "node:fs/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { inFull } from "../../rounds.js";
import { hasS3, secretKey, startMoto, type TestStore } from "../../servers/start-s3.js";
import { keysBelow, newFolder, openAt, sha256Of } from "./bucket-helpers.js";

describe.skipIf(!hasS3)("a bucket", () => {
  let store: TestStore;
  beforeAll(async () => {
    store = await startMoto();
    await store.makeBucket("kb-dumps");
  });
  afterAll(() => store.stop());

  test.runIf(inFull)("returns the stored bytes, and nothing for a missing key", async () => {
    const bucket = await openAt(store, "s3://kb-dumps/objects");
    expect(bucket.url).toBe("s3://kb-dumps/objects");
    expect(await bucket.read("head.json")).toBeUndefined();
    const written = await bucket.put("head.json", Buffer.from("one"));
    const found = await bucket.read("head.json");
    expect(found).toEqual({ bytes: Buffer.from("one"), ...(written as object), age: expect.any(Number) });
    expect(found?.age).toBeLessThan(5_000);
    await bucket.put("empty", Buffer.alloc(0));
    expect((await bucket.read("empty"))?.bytes.length).toBe(0);
  });

  test("keeps the condition of a write", async () => {
    const bucket = await openAt(store, "s3://kb-dumps/conditions");
    expect(await bucket.put("a", Buffer.from("none"), { etag: '"0"' })).toBe("refused");
    const first = await bucket.put("a", Buffer.from("one"), "absent");
    expect(await bucket.put("a", Buffer.from("two"), "absent")).toBe("refused");
    expect(await bucket.put("a", Buffer.from("two"), { etag: '"0"' })).toBe("refused");
    expect((await bucket.read("a"))?.bytes.toString()).toBe("one");
    expect(first).not.toBe("refused");
    if (first !== "refused") expect(await bucket.put("a", Buffer.from("two"), first)).not.toBe("refused");
    expect((await bucket.read("a"))?.bytes.toString()).toBe("two");
  });

  test("lists and removes the keys below its own prefix only", async () => {
    const bucket = await openAt(store, "s3://kb-dumps/list");
    const neighbour = await openAt(store, "s3://kb-dumps/list2");
    await neighbour.put("runs/x", Buffer.from("x"));
    for (const key of ["runs/b/2", "runs/a/1 +é", "other"]) await bucket.put(key, Buffer.from(key));
    expect(await keysBelow(bucket, "runs/")).toEqual(["runs/a/1 +é", "runs/b/2"]);
    await bucket.remove(["runs/a/1 +é", "runs/b/2", "never there"]);
    expect(await keysBelow(bucket, "")).toEqual(["other"]);
    expect(await keysBelow(neighbour, "")).toEqual(["runs/x"]);
    const whole = await openAt(store, "s3://kb-dumps");
    expect(await keysBelow(whole, "list2/")).toEqual(["list2/runs/x"]);
    const folders: string[] = [];
    for await (const name of whole.folders("")) folders.push(name);
    expect(folders.filter((name) => name.startsWith("list"))).toEqual(["list", "list2"]);
  });

  test("carries a small file there and back, and refuses one with other bytes", async () => {
    const [bucket, folder] = [await openAt(store, "s3://kb-dumps/files"), await newFolder()];
    await writeFile(`${folder}/a`, "content");
    const facts = { bytes: 7, sha256: sha256Of("content") };
    const seen: number[] = [];
    expect(await bucket.putFile("a", `${folder}/a`, { ...facts, onBytes: (bytes) => seen.push(bytes) })).toHaveProperty(
      "etag",
    );
    expect(seen).toEqual([7]);
    await bucket.fetchFile("a", `${folder}/back`, facts);
    expect(await readFile(`${folder}/back`, "utf8")).toBe("content");
    const wrong = { ...facts, sha256: sha256Of("another") };
    await expect(bucket.putFile("b", `${folder}/a`, wrong)).rejects.toThrow("is not what was written there");
    expect(await bucket.read("b")).toBeUndefined();
    await expect(bucket.fetchFile("a", `${folder}/wrong`, wrong)).rejects.toThrow("is not what was uploaded");
    await expect(bucket.fetchFile("a", `${folder}/wrong`, { ...facts, bytes: 6 })).rejects.toThrow(
      "it has 7 bytes, not 6",
    );
    await expect(readFile(`${folder}/wrong`)).rejects.toThrow("ENOENT");
    await expect(bucket.fetchFile("none", `${folder}/none`, facts)).rejects.toThrow(
      "s3://kb-dumps/files/none: it is not there",
    );
  });

  test("names the problem of the bucket, and never the secret", async () => {
    const bucket = await openAt(store, "s3://nobody-made-this");
    const failed = bucket.read("head.json");
    await expect(failed).rejects.toThrow(
      "cannot read s3://nobody-made-this/head.json: there is no such bucket. Make it, or correct its name",
    );
    await expect(failed).rejects.not.toThrow(secretKey);
  });
});
