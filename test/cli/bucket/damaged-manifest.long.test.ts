import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { hasS3, startMoto, type TestStore } from "../../servers/start-s3.js";
import { makeDumpsInBucket } from "./dumps-in-bucket.js";

const count = "SELECT count(*) AS chunks FROM chunks";

describe.skipIf(!hasS3)("a job in a bucket", () => {
  let store: TestStore;
  beforeAll(async () => {
    store = await startMoto();
  });
  afterAll(() => store.stop());

  test.each(["gone", "damaged"])("where the manifest of a run is %s, the other runs can be read", async (how) => {
    const dumps = await makeDumpsInBucket(store);
    const { job, ids, kbdump, environment } = dumps;
    const folder = (await environment.head()).runs[0]?.folder;
    if (how === "gone") await environment.bucket.remove([`${folder}/manifest.json`]);
    else await environment.bucket.put(`${folder}/manifest.json`, Buffer.from("{}"));
    const listed = await kbdump(["list", job]);
    expect(listed.code).toBe(0);
    expect(listed.stdout).toContain(ids[1]);
    expect(listed.stdout).toContain(`${ids[0]}: it has no manifest.json`);
    expect(listed.stderr).toContain(`${job}/${folder}/manifest.json`);
    expect(await kbdump(["sql", `${job}@${ids[1]}`, count, "--quiet"])).toMatchObject({ code: 0, stderr: "" });
    const refused = await kbdump(["sql", `${job}@${ids[0]}`, count, "--quiet"]);
    expect(refused).toMatchObject({ code: 1, stdout: "" });
    expect(refused.stderr.replaceAll("\n ", "")).toContain(
      how === "gone"
        ? `cannot read ${job}/${folder}/manifest.json: it is not there`
        : `${job}/${folder}/manifest.json is not what was uploaded`,
    );
  });
});
