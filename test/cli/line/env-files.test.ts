import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { withEnvFiles } from "../../../src/cli/line/env-files.js";
import { testFolder } from "../../run/job-for.js";

test("the environment wins over the files, and a later file over an earlier one", async () => {
  const folder = await testFolder();
  const [first, second] = [join(folder, "first.env"), join(folder, "second.env")];
  await writeFile(first, "A=1\nexport B='x y' # blank\nC=1\n");
  await writeFile(second, "B=2\nD=\n");
  expect(await withEnvFiles({ C: "set", E: "" }, [first, second])).toEqual({ A: "1", B: "2", C: "set", D: "", E: "" });
  expect(await withEnvFiles({}, [second, first])).toMatchObject({ B: "x y" });
});

test.each([
  ["nothing.env", "there is no such file"],
  [".", "it is a folder"],
])("%s: a wrong command line", async (file, reason) => {
  await expect(withEnvFiles({}, [file])).rejects.toMatchObject({
    name: "UsageError",
    message: `cannot read the environment file "${file}": ${reason}`,
  });
});
