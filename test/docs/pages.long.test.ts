import { readFileSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { parse, stringify } from "yaml";
import { sampleDatasets } from "../demo/sample-datasets.js";
import { blocks, blocksOf, pages, placeOf } from "../documentation.js";
import { type ExamplePlaces, openExamplePlaces } from "./example-folder.js";
import { ids } from "./knowledge.js";
import { checks, type Page } from "./page.js";
import { Shell } from "./shell.js";

const questions = "docs/analyse.md";
/** Pages that set the address of the service and the key themselves. */
const bare = ["README.md", "docs/back-up.md", questions];
/** Documents of the demo job that the example queries do not need. */
const spare = ["38277434", "59c3b3b9", "72eeb179", "d904c614", "09988155", "aab965a4"];
/** Pages whose blocks are all covered by other tests. */
const elsewhere = [
  { page: "docs/copy.md", file: "test/docs/copy.long.test.ts", languages: ["sh"] },
  {
    page: "docs/restore.md",
    file: "test/cli/recipe.long.test.ts",
    languages: ["sh", "sh", "sh", "sh", "sh", "sh", "text"],
  },
  { page: "docs/s3.md", file: "test/docs/s3.long.test.ts", languages: ["yaml", "sh", "sh"] },
  { page: "docs/workers.md", file: "test/docs/workers.long.test.ts", languages: ["sh", "sh"] },
];

let places: ExamplePlaces;
beforeAll(async () => {
  places = await openExamplePlaces();
});
afterAll(() => places.close());

test("every code block is in a language that is checked", () => {
  expect(blocks.length).toBeGreaterThan(60);
  for (const block of blocks) expect(Object.keys(checks), placeOf(block)).toContain(block.language);
});

test.each(elsewhere)("$page is run by $file", ({ page, file, languages }) => {
  expect(readFileSync(file, "utf8")).toContain(page);
  expect(blocksOf(page).map(({ language }) => language)).toEqual(languages);
});

const isElsewhere = (page: string) => elsewhere.some((other) => other.page === page);
const checked = pages.filter((page) => !isElsewhere(page) && blocksOf(page).length > 0);

const limits = { timeout: 240_000, concurrent: true };
test.for(checked)("%s: every code block does what it shows", limits, async (name, { onTestFinished }) => {
  const { server } = places;
  const given = {
    KNOWLEDGE_API_KEY: server.key,
    KNOWLEDGE_BASE_URL: server.url,
    KNOWLEDGE_DATASET_ID: ids.dataset,
  };
  const folder = await places.open();
  const shell = new Shell(folder, server, bare.includes(name) ? {} : given);
  onTestFinished(() => shell.close());
  if (name === questions) await shortenDemo(folder);
  const page: Page = { folder, shell, printed: undefined };
  for (const block of blocksOf(name)) await checks[block.language]?.(block, page);
});

async function shortenDemo(folder: string): Promise<void> {
  const path = join(folder, "jobs", "demo.yaml");
  const job = parse(await readFile(path, "utf8"));
  for (const [at, { documents }] of sampleDatasets().entries())
    job.datasets[at].documents = documents.filter((id) => !spare.some((start) => id.startsWith(`${start}-`)));
  await writeFile(path, stringify({ ...job, consistency: "counts" }));
}
