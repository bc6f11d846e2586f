import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { blocksOf } from "../documentation.js";
import { hasS3, startMoto } from "../servers/start-s3.js";
import { openExamplePlaces } from "./example-folder.js";
import { checks, type Page } from "./page.js";
import { Shell } from "./shell.js";

test.skipIf(!hasS3)("docs/s3.md: the commands read what a run published in a bucket", async ({ onTestFinished }) => {
  const places = await openExamplePlaces();
  onTestFinished(places.close);
  const store = await startMoto();
  onTestFinished(store.stop);
  await store.makeBucket("kb-dumps");
  const folder = await places.open();
  const { server } = places;
  const env = { ...store.env, KNOWLEDGE_API_KEY: server.key };
  const shell = new Shell(folder, { url: server.url, key: server.key, store: store.endpoint }, env);
  onTestFinished(() => shell.close());
  for (const _run of ["older", "newer"]) {
    const published = await shell.run("kbdump run nightly.yaml --out s3://kb-dumps/team\n");
    expect(published, published.stderr).toMatchObject({ code: 0 });
  }
  const page: Page = { folder, shell, printed: undefined };
  for (const block of blocksOf("docs/s3.md")) await checks[block.language]?.(block, page);
  expect(await readFile(join(folder, "nightly.html"), "utf8")).toContain("<html");
  const listed = await shell.run("kbdump list --out s3://kb-dumps/team --json\n");
  expect(JSON.parse(listed.stdout).jobs).toMatchObject([{ job: "nightly", folder: "s3://kb-dumps/team/nightly" }]);
});
