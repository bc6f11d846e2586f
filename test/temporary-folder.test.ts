import { spawnSync } from "node:child_process";
import { readdir } from "node:fs/promises";
import { expect, test } from "vitest";
import { testFolder } from "./run/job-for.js";

const library = new URL("../dist/temporary-folder.js", import.meta.url).href;

test.each([
  [
    "the end of its scope",
    "console.log(existsSync(path)); await folder[Symbol.asyncDispose](); console.log(existsSync(path))",
  ],
  [
    "the end of the process, as after a second Ctrl-C",
    "console.log(existsSync(path)); console.log(false); process.exit()",
  ],
])("a temporary folder is removed at %s", async (_end, then) => {
  const place = await testFolder();
  const script = `import { existsSync, writeFileSync } from "node:fs";
    import { makeTemporaryFolder } from ${JSON.stringify(library)};
    const folder = await makeTemporaryFolder("test");
    const { path } = folder;
    writeFileSync(path + "/spill", "a text of the service");
    ${then}`;
  const { stdout, stderr } = spawnSync(process.execPath, ["--input-type=module", "-e", script], {
    env: { ...process.env, TMPDIR: place },
    encoding: "utf8",
  });
  expect({ stdout, stderr }).toEqual({ stdout: "true\nfalse\n", stderr: "" });
  expect(await readdir(place)).toEqual([]);
});
