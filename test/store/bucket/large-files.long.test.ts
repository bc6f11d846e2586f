import { randomBytes } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { hasS3, startMoto, type TestStore } from "../../servers/start-s3.js";
import { keysBelow, newFolder, openAt, sha256Of } from "./bucket-helpers.js";

describe.skipIf(!hasS3)("a large file", () => {
  let store: TestStore;
  beforeAll(async () => {
    store = await startMoto();
    await store.makeBucket("kb-dumps");
  });
  afterAll(() => store.stop());

  test("are uploaded and downloaded in parts, with the condition for the whole, and leave no upload behind", async () => {
    const [bucket, folder] = [await openAt(store, "s3://kb-dumps/large"), await newFolder()];
    const bytes = randomBytes(40 * 1024 * 1024 + 1);
    await writeFile(`${folder}/a`, bytes);
    const facts = { bytes: bytes.length, sha256: sha256Of(bytes) };
    let sent = 0;
    const put = (condition: "absent" | { etag: string }) =>
      bucket.putFile("db", `${folder}/a`, { ...facts, condition, onBytes: (some) => (sent += some) });
    const written = await put("absent");
    expect(sent).toBe(bytes.length);
    await bucket.fetchFile("db", `${folder}/back`, facts);
    expect(bytes.equals(await readFile(`${folder}/back`))).toBe(true);
    expect(await put("absent")).toBe("refused");
    expect(await put({ etag: '"0"' })).toBe("refused");
    expect(written).not.toBe("refused");
    const wrong = bucket.putFile("other", `${folder}/a`, { ...facts, sha256: sha256Of("x") });
    await expect(wrong).rejects.toThrow("It was not uploaded");
    const ended = bucket.putFile("ended", `${folder}/a`, { ...facts, signal: AbortSignal.abort(new Error("enough")) });
    await expect(ended).rejects.toThrow("enough");
    expect(await keysBelow(bucket, "")).toEqual(["db"]);
    for await (const upload of bucket.uploads("")) expect.fail(JSON.stringify(upload));
  });
});
