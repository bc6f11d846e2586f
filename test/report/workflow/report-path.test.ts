import { mkdir, rename, symlink, writeFile } from "node:fs/promises";
import { join, relative } from "node:path";
import { expect, test } from "vitest";
import { UsageError } from "../../../src/errors.js";
import { checkPath, usualPath } from "../../../src/report/report-path.js";
import { testFolder } from "../../run/job-for.js";
import { useDump } from "../../verify/dumped.js";

const copyOfDump = useDump(["jsonl"]);

/** A run, and a link to it beside the runs. */
async function startPlace() {
  const { run, folder } = await copyOfDump();
  await symlink(run, join(folder, "latest"));
  return { run, folder };
}

test("the report of a run is beside the runs of its job, however the run is named", async () => {
  const { run, folder } = await startPlace();
  const place = relative(".", join(folder, "report.html"));
  expect(await usualPath(run)).toBe(place);
  expect(await usualPath(join(folder, "latest"))).toBe(place);
});

test("the report of a run outside of a job goes to the current folder", async () => {
  const { run } = await copyOfDump();
  const moved = join(await testFolder(), "moved");
  await rename(run, moved);
  expect(await usualPath(moved)).toBe("report.html");
});

test("refuses the folder of a run, also through a link or deeper, a missing folder, and a path that is not a file", async () => {
  const { run, folder } = await startPlace();
  await mkdir(join(run, "originals"));
  await writeFile(join(folder, "old.html"), "");
  await symlink(run, join(folder, "page.html"));
  await expect(checkPath(join(folder, "report.html"))).resolves.toBeUndefined();
  await expect(checkPath(join(folder, "old.html"))).resolves.toBeUndefined();
  const inRun =
    /it lies in the folder of a run, to which nothing is added; name another place, such as (?!\S*runs\/)\S*x\.html$/;
  for (const [path, message] of [
    [join(run, "x.html"), inRun],
    [join(folder, "latest", "x.html"), inRun],
    [join(run, "originals", "x.html"), inRun],
    [join(folder, "nothing", "x.html"), /its folder does not exist; make it first$/],
    [join(folder, "old.html", "x.html"), /its folder does not exist; make it first$/],
    [join(folder, "runs"), /it is a folder; name a file$/],
    [join(folder, "page.html"), /it is a folder; name a file$/],
    ["/dev/null", /it is a device; name a file$/],
  ] as const) {
    const error = await checkPath(path).catch((error: unknown) => error);
    expect(error, path).toBeInstanceOf(UsageError);
    expect(String(error)).toMatch(message);
    expect(String(error)).toContain(`The report cannot be written to ${path}: `);
  }
});
