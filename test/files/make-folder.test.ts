import { mkdir, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { problemText } from "../../src/file-error.js";
import { makeFolder } from "../../src/files/files.js";
import { testFolder } from "../run/job-for.js";
import { canMount, readOnlyDisk } from "../run/tiny-disk.js";

/** "made", or the text of the error. */
const failureOf = (path: string) => makeFolder(path).then(() => "made", problemText);

it("makes a folder and its parents, for the owner only, and accepts an existing one", async () => {
  const folder = await testFolder();
  for (const path of [join(folder, "a", "b", "c"), join(folder, "a", "b")]) expect(await failureOf(path)).toBe("made");
  for (const name of ["a", "a/b", "a/b/c"]) expect((await stat(join(folder, name))).mode & 0o777).toBe(0o700);
});

it.skipIf(process.platform !== "linux")(
  "fails where the system takes no folders, instead of trying for ever",
  async () => {
    for (const path of ["/proc/kbdump-test", "/proc/kbdump-test/a/b"])
      expect(await failureOf(path)).toBe(
        "/proc/kbdump-test cannot be made: the file system of /proc does not accept new folders",
      );
  },
);

it.skipIf(!canMount)("names a read-only file system, however deep the folder is", async () => {
  const disk = await readOnlyDisk(await testFolder());
  for (const path of [join(disk, "a"), join(disk, "a", "b", "c")])
    expect(await failureOf(path)).toBe(`the file system is read-only: ${join(disk, "a")}`);
  expect(await failureOf(disk)).toBe("made");
});

it("names a file that is in the way", async () => {
  const folder = await testFolder();
  await mkdir(join(folder, "a"));
  await writeFile(join(folder, "a", "file"), "");
  expect(await failureOf(join(folder, "a", "file"))).toBe(
    `something of another kind is there already: ${join(folder, "a", "file")}`,
  );
  expect(await failureOf(join(folder, "a", "file", "b"))).toBe(
    `a part of the path is not a folder: ${join(folder, "a", "file", "b")}`,
  );
});
