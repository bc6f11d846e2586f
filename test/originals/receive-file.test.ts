import { link, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { RetryError, SkipError } from "../../src/errors.js";
import { receiveFile } from "../../src/originals/save-one-file.js";
import { testFolder } from "../run/job-for.js";

async function* piecesOf(...parts: readonly (string | Error)[]): AsyncGenerator<Uint8Array> {
  for (const part of parts) {
    if (part instanceof Error) throw part;
    yield Buffer.from(part);
  }
}

test("a file is written piece by piece, readable only by its owner, and never into a file with a second name", async () => {
  const folder = await testFolder();
  const [path, published] = [join(folder, "file"), join(folder, "published")];
  await writeFile(path, "published before");
  await link(path, published);
  const received = await receiveFile({ announced: 6, pieces: piecesOf("one", "two") }, path, 6);
  expect(received).toMatchObject({ bytes: 6, announced: 6, brokeOff: null, failure: null });
  expect(await readFile(path, "utf8")).toBe("onetwo");
  expect((await stat(path)).mode & 0o777).toBe(0o600);
  expect(await readFile(published, "utf8")).toBe("published before");
});

test("an interrupted file is kept as far as it came; one above the limit is refused; a disk error stays an error", async () => {
  const path = join(await testFolder(), "file");
  const failure = new RetryError("the connection was closed");
  expect(await receiveFile({ announced: 9, pieces: piecesOf("one", failure) }, path, 9)).toMatchObject({
    bytes: 3,
    brokeOff: "the connection was closed",
    failure,
  });
  expect(await readFile(path, "utf8")).toBe("one");
  await expect(receiveFile({ announced: null, pieces: piecesOf("one", "two") }, path, 5)).rejects.toThrow(SkipError);
  const nowhere = join(path, "below a file");
  await expect(receiveFile({ announced: null, pieces: piecesOf("x") }, nowhere, 9)).rejects.toThrow("ENOTDIR");
});
