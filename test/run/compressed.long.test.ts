import { createHash } from "node:crypto";
import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { fingerprint } from "../../src/files/join-segments.js";
import { readTextPieces } from "../../src/files/lines.js";
import { runJob } from "../../src/run/run-job.js";
import { runHere } from "../cli/run-here.js";
import { startPublishedPlace } from "./database/published-job.js";

const compressions = ["gzip", "zstd"] as const;

const formats = ["jsonl", "csv", "parquet", "duckdb"];
const kinds = ["chunks", "child_chunks"];

test.each(compressions)(
  "with %s, the manifest lists the files, and their texts as a plain run writes them",
  async (compress) => {
    const { job, server, run } = await startPublishedPlace(formats, { compress });
    const { folder, manifest, status } = await run();
    expect([status, manifest.options.output.compress]).toEqual(["complete", compress]);
    const plainJob = { ...job, name: "plain", output: { ...job.output, compress: "none" as const } };
    const plain = await runJob(plainJob, { env: { KNOWLEDGE_API_KEY: server.key } });
    const ending = compress === "gzip" ? "gz" : "zst";
    const named = plain.manifest.files.map(({ path }) => (path.endsWith(".parquet") ? path : `${path}.${ending}`));
    expect(manifest.files.map(({ path }) => path)).toEqual(named);
    for (const file of manifest.files) {
      const path = join(folder, file.path);
      expect({ ...(await fingerprint(path)), mode: (await stat(path)).mode & 0o777 }).toEqual({
        bytes: file.bytes,
        sha256: file.sha256,
        mode: 0o600,
      });
      if (!file.uncompressed) continue;
      const text = await whole(readTextPieces(path));
      expect({ bytes: text.length, sha256: createHash("sha256").update(text).digest("hex") }).toEqual(
        file.uncompressed,
      );
      const plainName = file.path.replace(`.${ending}`, "");
      if (kinds.includes(file.path.split(".")[0] ?? "")) {
        const { bytes, sha256 } = plain.manifest.files.find(({ path }) => path === plainName) ?? {};
        expect({ bytes, sha256 }, plainName).toEqual(file.uncompressed);
      }
    }
    expect((await runHere(["verify", folder])).code).toBe(0);
  },
);

test.each(compressions)("two runs with %s write the same bytes, which take no second room", async (compress) => {
  const { run } = await startPublishedPlace(["jsonl", "csv"], { compress });
  const [first, second] = [await run(), await run()];
  const sameKinds = ({ manifest }: typeof first) =>
    manifest.files.filter(({ path }) => /^(child_)?chunks\./.test(path));
  expect(sameKinds(second)).toEqual(sameKinds(first));
  expect(sameKinds(second)).toHaveLength(4);
  for (const { path } of sameKinds(second))
    expect((await stat(join(second.folder, path))).ino).toBe((await stat(join(first.folder, path))).ino);
  const { code, stdout } = await runHere(["diff", first.folder, second.folder]);
  expect(code, stdout).toBe(0);
});

test("a run that uses an uncompressed dump continues with a compressed one", async () => {
  const { job, run, server } = await startPublishedPlace(["jsonl", "duckdb"]);
  await run();
  const compressed = { ...job, output: { ...job.output, compress: "gzip" as const } };
  const next = await runJob(compressed, { env: { KNOWLEDGE_API_KEY: server.key } });
  expect(next).toMatchObject({ status: "complete", problems: [] });
  expect((await readFile(join(next.folder, "chunks.jsonl.gz"))).readUInt16BE()).toBe(0x1f8b);
});

async function whole(pieces: AsyncIterable<Buffer>): Promise<Buffer> {
  const all: Buffer[] = [];
  for await (const piece of pieces) all.push(piece);
  return Buffer.concat(all);
}
