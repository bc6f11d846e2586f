import { expect, test } from "vitest";
import { startService } from "../../src/demo/start-service.js";
import { blocksOf } from "../documentation.js";
import { startWritable } from "../servers/writable/start-writable.js";
import { writableSample } from "../servers/writable/writable-knowledge.js";
import { openExamplePlaces } from "./example-folder.js";
import { checks, type Page } from "./page.js";
import { Shell } from "./shell.js";

test("docs/copy.md: a document is copied from one service to another", async ({ onTestFinished }) => {
  const places = await openExamplePlaces();
  onTestFinished(places.close);
  const source = await startService({ demo: writableSample(() => new Date()) });
  onTestFinished(source.close);
  const target = await startWritable([]);
  onTestFinished(target.close);
  const shell = new Shell(await places.open(), { url: source.url, key: source.key, target }, {});
  onTestFinished(() => shell.close());
  const page: Page = { folder: "", shell, printed: undefined };
  for (const block of blocksOf("docs/copy.md")) await checks[block.language]?.(block, page);
  const { stdout = "" } = page.printed ?? {};
  expect(stdout).toMatch(/^plan: /m);
  expect(stdout).toMatch(/; proved\n/);
  expect(stdout).toMatch(/^as in the run: 1 restored document, /m);
});
