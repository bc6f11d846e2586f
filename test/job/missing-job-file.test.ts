import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { missingJobFile } from "../../src/job/load-job.js";
import { testFolder } from "../run/job-for.js";

async function messageFor(file: string, ...files: readonly string[]): Promise<string | undefined> {
  const folder = await testFolder();
  for (const name of files) {
    await mkdir(join(folder, name, ".."), { recursive: true });
    await writeFile(join(folder, name), "");
  }
  return (await missingJobFile(join(folder, file)))?.message.replaceAll(`${folder}/`, "");
}

test.each([
  ["nightly.yaml", ["other.yaml", "nightly.txt"], "job file nightly.yaml does not exist"],
  ["nightly.yaml", ["nightly.yml"], "job file nightly.yaml does not exist; did you mean nightly.yml?"],
  ["nightly", ["nightly.yaml"], "job file nightly does not exist; did you mean nightly.yaml?"],
  ["nigthly.yaml", ["a.json", "nightly.yaml"], "job file nigthly.yaml does not exist; did you mean nightly.yaml?"],
  ["nightly.yaml", ["jobs/nightly.yaml"], "job file nightly.yaml does not exist; did you mean jobs/nightly.yaml?"],
  ["nightly.yaml", ["nightly/job.yaml"], "job file nightly.yaml does not exist; did you mean nightly/job.yaml?"],
  [
    "nightly",
    ["nightly/a.yaml", "nightly/nightly.yaml"],
    "job file nightly is a folder; did you mean nightly/nightly.yaml?",
  ],
  ["nightly", ["nightly/a.yaml", "nightly/b.yaml"], "job file nightly is a folder"],
  ["nightly.yaml/x", ["nightly.yaml"], "job file nightly.yaml/x does not exist"],
  ["nightly.yaml", ["nightly.yaml"], undefined],
])("%s beside %j", async (file, files, message) => {
  expect(await messageFor(file, ...files)).toBe(message);
});

test("a name that looks like a key is not shown, and odd characters are escaped", async () => {
  expect((await missingJobFile("dataset-0123456789abcdefgh"))?.message).not.toContain("0123");
  expect((await missingJobFile("a\u001b[31m b"))?.message).toBe('job file "a\\u001b[31m b" does not exist');
});
