import { mkdir, readdir, readFile, utimes, writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { bucketNames, withBucketNames } from "../../../src/cli/bucket-names.js";
import { restoreFolderOf } from "../../../src/dump/run-id.js";
import { StopError, UsageError } from "../../../src/errors.js";
import { openCopies } from "../../../src/store/bucket/copies.js";
import { thisOwner } from "../../../src/store/folder/lock-owner.js";
import { testFolder } from "../../run/job-for.js";

const env = { KBDUMP_COPIES: "/var/my copies (1)/kb" };
const names = bucketNames(env);
const id = "0a1b2c3d-0a1b-0a1b-0a1b-0a1b2c3d4e5f";
const copies = `/var/my copies (1)/kb/.copies-${id}/s3`;
const run = "20261120T020000123Z";

test("paths of copies are shown as the addresses of their originals, and no other text changes", () => {
  expect(names(`${copies}/dumps/team/nightly/runs/${run} is not sound:\n  x`)).toBe(
    `s3://dumps/team/nightly/runs/${run} is not sound:\n  x`,
  );
  expect(names(`{"folder":"${copies}/dumps/nightly","a":1}`)).toBe('{"folder":"s3://dumps/nightly","a":1}');
  const restores = restoreFolderOf(`${copies}/dumps/nightly/runs/${run}`);
  for (const text of ["/var/my copies (1)/kb is full", "output/nightly", `${restores}/journal.jsonl`])
    expect(names(text)).toBe(text);
});

test("restores of a run in a bucket are outside of the copies, which are removed", () => {
  expect(restoreFolderOf(`${copies}/dumps/nightly/runs/${run}`)).toBe(
    `/var/my copies (1)/kb/s3/dumps/nightly/runs/${run}.restore`,
  );
  expect(restoreFolderOf(`output/nightly/runs/${run}`)).toBe(`output/nightly/runs/${run}.restore`);
});

test("an error is named in all of its parts", () => {
  const problems = [{ path: `${copies}/dumps/nightly`, message: "no run" }];
  expect(withBucketNames(new UsageError("No such run:", problems), names)).toMatchObject({
    message: "No such run:\n  s3://dumps/nightly: no run",
    problems: [{ path: "s3://dumps/nightly", message: "no run" }],
  });
  const failed = Object.assign(new Error("EACCES"), { code: "EACCES", path: `${copies}/dumps/nightly/nightly.duckdb` });
  expect(withBucketNames(failed, names)).toMatchObject({ path: "s3://dumps/nightly/nightly.duckdb" });
  expect(withBucketNames(new StopError("a"), names)).toBeInstanceOf(StopError);
});

test("copies are removed at the end of their scope, those of a dead process with the next ones; restores stay", async () => {
  const root = await testFolder();
  const gone = join(root, `.copies-${id}`);
  await mkdir(join(root, "s3", "dumps"), { recursive: true });
  {
    await using first = openCopies({ KBDUMP_COPIES: root });
    const folder = await first.folderOf("s3://dumps/x/y/nightly");
    const [own = ""] = (await readdir(root)).filter((name) => name.startsWith(".copies-"));
    expect(folder).toBe(join(root, own, "s3", "dumps", "x", "y", "nightly"));
    await mkdir(gone);
    const owner = JSON.parse(await readFile(join(root, own, "owner.json"), "utf8"));
    await writeFile(join(gone, "owner.json"), JSON.stringify({ ...owner, born: "1" }));
    await using second = openCopies({ KBDUMP_COPIES: root });
    await second.folderOf("s3://dumps/nightly");
    expect((await readdir(root)).filter((name) => name.startsWith(".copies-"))).toHaveLength(2); // both processes are alive
    expect(await readdir(root)).not.toContain(`.copies-${id}`);
  }
  expect(await readdir(root)).toEqual(["s3"]);
});

test.each(["", "owner.json"])(
  "copies of a process that cannot be known from here go after a week: %s",
  async (name) => {
    const root = await testFolder();
    const other = join(root, `.copies-${id}`);
    await mkdir(other);
    const owner = { ...(await thisOwner(new Date())), host: "elsewhere" };
    if (name) await writeFile(join(other, name), JSON.stringify(owner));
    for (const [days, stays] of [
      [6, true],
      [8, false],
    ] as const) {
      const time = new Date(Date.now() - days * 86_400_000);
      await utimes(join(other, name), time, time);
      await using some = openCopies({ KBDUMP_COPIES: root });
      await some.folderOf("s3://dumps/nightly");
      expect((await readdir(root)).includes(`.copies-${id}`)).toBe(stays);
    }
  },
);

test("the environment names the folder of the copies", async () => {
  const root = await testFolder();
  const folderIn = async (variables: NodeJS.ProcessEnv) => {
    await using some = openCopies(variables);
    return (await some.folderOf("s3://dumps/nightly")).replace(/\.copies-[^/]+/, "COPIES");
  };
  const [a, b, c] = ["a", "b", "c"].map((name) => join(root, name));
  expect(await folderIn({ KBDUMP_COPIES: a, XDG_STATE_HOME: b })).toBe(`${a}/COPIES/s3/dumps/nightly`);
  expect(await folderIn({ XDG_STATE_HOME: b, HOME: c })).toBe(`${b}/kbdump/COPIES/s3/dumps/nightly`);
  expect(await folderIn({ HOME: c, XDG_STATE_HOME: "" })).toBe(`${c}/.local/state/kbdump/COPIES/s3/dumps/nightly`);
  await expect(openCopies({}, () => undefined).folderOf("s3://dumps/nightly")).rejects.toThrow(
    "This user has no home folder to keep copies of buckets in: set KBDUMP_COPIES",
  );
  expect(bucketNames({}, () => undefined)(copies)).toBe(copies);
  const usual = `${homedir()}/.local/state/kbdump/.copies-${id}/s3/dumps/nightly`;
  expect(bucketNames({})(usual)).toBe("s3://dumps/nightly");
});
