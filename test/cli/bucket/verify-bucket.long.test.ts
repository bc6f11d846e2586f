import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { isThere } from "../../../src/files/files.js";
import { hasS3, startMoto, type TestStore } from "../../servers/start-s3.js";
import { makeDumpsInBucket } from "./dumps-in-bucket.js";

describe.skipIf(!hasS3)("verify of a run in a bucket", () => {
  let store: TestStore;
  beforeAll(async () => {
    store = await startMoto();
  });
  afterAll(() => store.stop());

  test("finds all damage in the bucket", async () => {
    const { job, ids, kbdump, environment, copies } = await makeDumpsInBucket(store);
    const place = `${job}@${ids[0]}`;
    const [run] = (await environment.head()).runs;
    const change = async (name: string, edit: (text: string) => string) => {
      const bytes = (await environment.bucket.read(`${run?.folder}/${name}`))?.bytes ?? Buffer.alloc(0);
      await environment.bucket.put(`${run?.folder}/${name}`, Buffer.from(edit(bytes.toString())));
      return bytes;
    };
    const verify = async () => {
      const { code, stdout } = await kbdump(["verify", place, "--json"]);
      const { status, findings } = JSON.parse(stdout);
      return {
        code,
        status,
        findings: findings.map(({ file, message }: Record<string, string>) => `${file} ${message}`),
      };
    };
    expect(await verify()).toEqual({ code: 0, status: "sound", findings: [] });

    const chunks = await change("chunks.jsonl", (text) => text.replace("a", "b"));
    expect(await verify()).toMatchObject({ code: 4, status: "differences" });
    expect((await verify()).findings[0]).toMatch(/^chunks.jsonl .*SHA-256/);
    const asked = await kbdump(["sql", place, "FROM chunks"]);
    expect(asked).toMatchObject({ code: 1, stdout: "" });
    expect(asked.stderr).toContain(`${run?.folder}/chunks.jsonl is not what was uploaded`);
    await environment.bucket.remove([`${run?.folder}/chunks.jsonl`]);
    expect((await verify()).findings.join()).toContain("chunks.jsonl ");
    await environment.bucket.put(`${run?.folder}/chunks.jsonl`, chunks);
    await environment.bucket.put(`${run?.folder}/notes.txt`, Buffer.from("x"));
    expect(await verify()).toMatchObject({
      code: 4,
      findings: ["notes.txt is in the folder, but not in manifest.json"],
    });
    await environment.bucket.remove([`${run?.folder}/notes.txt`]);

    const manifest = await change("manifest.json", (text) => `${text} `);
    expect(await verify()).toEqual({
      code: 4,
      status: "differences",
      findings: ["manifest.json is not the one that head.json lists: it has another SHA-256"],
    });
    await environment.bucket.remove([`${run?.folder}/manifest.json`]);
    const gone = await kbdump(["verify", place]);
    expect(gone).toMatchObject({ code: 1, stdout: "" });
    expect(gone.stderr).toContain(
      `kbdump: ${job}/${run?.folder}/manifest.json is not there, although head.json lists the run`,
    );
    await environment.bucket.put(`${run?.folder}/manifest.json`, manifest);
    expect(await verify()).toEqual({ code: 0, status: "sound", findings: [] });
    expect(await copies()).toEqual([]);
  });

  test("compares it with the database of the bucket, and reports a missing one", async () => {
    const { job, kbdump, environment } = await makeDumpsInBucket(store);
    const compared = JSON.parse((await kbdump(["verify", job, "--duckdb", "--json"])).stdout);
    expect(compared).toMatchObject({ status: "sound", checked: { database: { path: `${job}/test.duckdb` } } });
    await environment.bucket.remove(["test.duckdb"]);
    expect(await kbdump(["verify", job, "--duckdb", "--quiet"])).toMatchObject({
      code: 2,
      stderr: `kbdump: There is no database to compare with:\n  ${job}/test.duckdb: there is no such file; --duckdb=PATH names another\n`,
    });
    const missing = await kbdump(["sql", job, "FROM chunks"]);
    expect(missing).toMatchObject({ code: 2 });
    expect(missing.stderr).toContain(`there is no ${job}/test.duckdb. Put duckdb into output.formats`);
    const page = join(environment.folder, "page.html");
    expect((await kbdump(["report", job, "--file", page])).code).toBe(0);
    expect(await isThere(page)).toBe(true);
  });
});
