import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import { RangeReader } from "../../src/files/lines.js";
import { plainFolder } from "../dump/formats/folder.js";

async function bytesOf(reader: RangeReader, range: Parameters<RangeReader["pieces"]>[0]): Promise<Buffer> {
  const pieces: Buffer[] = [];
  for await (const piece of reader.pieces(range)) pieces.push(Buffer.from(piece));
  return Buffer.concat(pieces);
}

test("returns the bytes of the ranges in any order, also across read buffers", async () => {
  const folder = await plainFolder();
  const contents = [200_000, 70_000, 10].map((size, at) =>
    Buffer.from(Array.from({ length: size }, (_, n) => n * 7 + at)),
  );
  const paths = contents.map((_, at) => join(folder, String(at)));
  for (const [at, path] of paths.entries()) await writeFile(path, contents[at] ?? "");
  const range = fc.integer({ min: 0, max: 2 }).chain((file) => {
    const size = contents[file]?.length ?? 0;
    const places = fc.tuple(fc.integer({ min: 0, max: size }), fc.integer({ min: 0, max: size }));
    return places.map(([one, other]) => ({ file, start: Math.min(one, other), bytes: Math.abs(one - other) }));
  });
  await fc.assert(
    fc.asyncProperty(fc.array(range, { maxLength: 12 }), async (ranges) => {
      const reader = new RangeReader();
      for (const { file, start, bytes } of ranges) {
        const found = await bytesOf(reader, { path: paths[file] ?? "", start, bytes });
        expect(found.equals(contents[file]?.subarray(start, start + bytes) ?? Buffer.alloc(0))).toBe(true);
      }
      await reader.close();
    }),
    { numRuns: 60 },
  );
});

test("reads more files than can stay open; a file that ends too early is an error", async () => {
  const folder = await plainFolder();
  const paths = Array.from({ length: 300 }, (_, at) => join(folder, String(at)));
  for (const path of paths) await writeFile(path, `${path}\n`.repeat(3));
  const reader = new RangeReader();
  for (const line of [0, 1, 2])
    for (const path of paths) {
      const bytes = path.length + 1;
      expect((await bytesOf(reader, { path, start: line * bytes, bytes })).toString()).toBe(`${path}\n`);
    }
  const [path = ""] = paths;
  await expect(bytesOf(reader, { path, start: 0, bytes: 1_000 })).rejects.toThrow(/ends \d+ bytes too early/);
  await reader.close();
});
