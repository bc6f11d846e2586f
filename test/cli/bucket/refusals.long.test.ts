import { chmod, mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { envFor, hasS3, secretKey, startMoto, type TestStore } from "../../servers/start-s3.js";
import { finished, startKbdump } from "../run-kbdump.js";
import { type DumpsInBucket, makeDumpsInBucket } from "./dumps-in-bucket.js";

const run = "20200101T000000000Z";

describe.skipIf(!hasS3)("a word that names nothing in a bucket", () => {
  let store: TestStore;
  let dumps: DumpsInBucket;
  beforeAll(async () => {
    store = await startMoto();
  });
  afterAll(() => store.stop());

  test("is refused, and the error lists what exists", async () => {
    dumps = await makeDumpsInBucket(store);
    const { job, ids, kbdump, environment } = dumps;
    await environment.bucket.put(`runs/${run}.1-0a1b2c3d/manifest.json`, Buffer.from("{}"));
    const bucket = job.split("/").slice(0, 3).join("/");
    const refusals: readonly (readonly [words: readonly string[], says: string])[] = [
      [
        ["list", `${environment.url}/nightly`],
        `${environment.url}/nightly: there is no head.json in it; jobs in ${environment.url}: test`,
      ],
      [
        ["sql", "nightly", "FROM a", "--out", environment.url],
        `there is no head.json in it; jobs in ${environment.url}: test`,
      ],
      [["verify", `${bucket}/other`], `there is no head.json in it; no job is in ${bucket}`],
      [["list", environment.url], `${environment.url}: there is no head.json in it; jobs in ${environment.url}: test`],
      [["verify", bucket], `${bucket}: expected a job in a bucket, s3://bucket/prefix/<job>`],
      [["verify", `${job}@${run}`], `no run ${run} in ${job}/runs; the newest there: ${ids[1]}, ${ids[0]}`],
      [["serve", `${job}/runs/${run}`], `no run ${run} in ${job}/runs`],
      [
        ["diff", `${job}/runs/${run}.1-0a1b2c3d`, job],
        `${job}/runs/${run}.1-0a1b2c3d: the head.json of ${job} does not list it, so it is not a dump: its run was not finished, or was removed; the newest runs: ${ids[1]}, ${ids[0]}`,
      ],
      [["report", `${job}/test.duckdb`], "it is a file; expected the folder of a run"],
      [["list", `${job}@${ids[0]}`], "expected a job: its name, its folder or its job file"],
      [["diff", `${job}@${ids[0]}`], `no complete run before ${ids[0]}; name a newer one`],
      [["list", "s3://X/a"], "is not a bucket address: expected s3://bucket/prefix"],
    ];
    for (const [words, says] of refusals) {
      const refused = await kbdump(words);
      expect(refused, words.join(" ")).toMatchObject({ code: 2, stdout: "" });
      expect(refused.stderr.replaceAll("\n ", "")).toContain(says);
      expect(refused.stderr).not.toContain(dumps.root);
    }
    const elsewhere = await kbdump(["list", "s3://nobody-made-this/team/test"]);
    expect(elsewhere.code).toBe(1);
    expect(elsewhere.stderr).toContain("there is no such bucket");
  });

  test("copies need a place that can be written", async () => {
    const { job, kbdump, environment } = dumps;
    const file = join(environment.folder, "file");
    await mkdir(environment.folder, { recursive: true });
    await writeFile(file, "");
    const blocked = await kbdump(["list", job], { KBDUMP_COPIES: join(file, "copies") });
    expect(blocked.code).toBe(1);
    expect(blocked.stderr).toContain(`copies of buckets cannot be kept in ${join(file, "copies")}: `);
    expect(blocked.stderr).toContain("let KBDUMP_COPIES name another folder");
    await chmod(file, 0o600);
  });

  test("missing or wrong credentials, or a missing store: each causes an error that shows no secret", async () => {
    const { job, env } = dumps;
    const kbdump = (more: NodeJS.ProcessEnv) => finished(startKbdump(["list", job], { ...env, ...more }));
    const none = await kbdump({
      ...{ AWS_ACCESS_KEY_ID: "", AWS_SECRET_ACCESS_KEY: "", AWS_EC2_METADATA_DISABLED: "true" },
      HOME: "/nonexistent",
    });
    expect(none).toMatchObject({ code: 2, stdout: "" });
    expect(none.stderr).toContain("no credentials were found. Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY");
    const gone = await kbdump(envFor("http://127.0.0.1:9"));
    expect(gone).toMatchObject({ code: 1, stdout: "" });
    expect(gone.stderr).toContain(`cannot read ${job}/head.json`);
    for (const endpoint of ["minio.example.com", "minio.example.com:9000", "ftp://minio.example.com"]) {
      const wrong = await kbdump(envFor(endpoint));
      expect(wrong).toMatchObject({ code: 2, stdout: "" });
      expect(wrong.stderr).toContain(
        "AWS_ENDPOINT_URL_S3 is not an address of a store: expected a URL such as https://",
      );
    }
    expect(none.stderr + gone.stderr).not.toContain(secretKey);
  });
});
