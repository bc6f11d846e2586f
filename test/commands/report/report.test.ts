import { appendFile, readdir, readFile, stat, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect, test } from "vitest";
import { runHere } from "../../cli/run-here.js";
import { finished, runKbdump, startKbdump } from "../../cli/run-kbdump.js";
import { inFull } from "../../rounds.js";
import { canMount, readOnlyDisk, tinyDisk } from "../../run/tiny-disk.js";
import { dump, smallStore, useDump } from "../../verify/dumped.js";

const copyOfDump = useDump(["jsonl", "duckdb"]);

/** Three runs of the job `test`: a partial one and two complete ones, with a re-index between the last two. */
async function startRuns() {
  const { base, folder } = await copyOfDump();
  const [partial = ""] = await readdir(join(folder, "runs"));
  const store = smallStore();
  await dump(base, store, { output: { formats: ["jsonl"] } });
  for (const document of store.documents) for (const chunk of document.chunks) chunk.id = crypto.randomUUID();
  await dump(base, store, { output: { formats: ["jsonl"] } });
  const [, older = "", newer = ""] = (await readdir(join(folder, "runs"))).sort();
  return { folder, dir: join(base, "out"), partial, older, newer };
}

test("writes the page beside the runs, readable only by its owner, and says how to open it", async () => {
  const { run, folder } = await copyOfDump();
  const path = join(folder, "report.html");
  await writeFile(path, "an older report");
  const { code, stdout, stderr } = await runKbdump(["report", run]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  expect(stdout).toMatch(
    /^partial: 1 document of 3 not complete, 17 chunks, 15 child chunks\nsound: every file was read again\n\n {2}\S+report\.html {2}[\d.]+ kB\n\nOpen it in a browser: file:/,
  );
  expect(stdout).toContain(`${pathToFileURL(path)}\n`);
  const page = await readFile(path, "utf8");
  expect(page).toMatch(/^<!doctype html>\n.*<\/html>\n$/s);
  expect((await stat(path)).mode & 0o777).toBe(0o600);
  expect((await readdir(folder)).sort()).toEqual([".work", "metrics.prom", "report.html", "runs", "test.duckdb"]);
  expect((await runHere(["verify", run])).code).toBe(0);
});

test("--file names the file, or prints the page; --json says the same for programs", async () => {
  const { run, folder } = await copyOfDump();
  const path = join(folder, "figures.html");
  const { code, stdout } = await runHere(["report", run, "--file", path, "--json", "--no-verify"]);
  const page = await readFile(path, "utf8");
  expect([code, JSON.parse(stdout)]).toMatchObject([
    0,
    {
      path,
      bytes: Buffer.byteLength(page),
      status: "partial",
      verified: null,
      findings: null,
      against: null,
      lost: null,
    },
  ]);
  expect(JSON.parse(stdout)).toMatchObject({ documents: 3, incomplete_documents: 1, chunks: 17, child_chunks: 15 });
  expect(await runHere(["report", run, "--file", "-", "--no-verify"])).toEqual({ code: 0, stdout: page, stderr: "" });
});

test.runIf(inFull)(
  "--against: a job stands for its newest complete run before this one; the wrong order causes a warning",
  async () => {
    const { folder, dir, partial, older, newer } = await startRuns();
    const report = async (...args: readonly string[]) => {
      const { code, stdout, stderr } = await runHere(["report", ...args, "--out", dir, "--json", "--no-verify"]);
      expect(code, stderr).toBe(0);
      const { run, against, lost, warnings } = JSON.parse(stdout);
      return { run: run.run_id, against: against.run_id, lost, warnings, stderr };
    };
    const [first, again] = [
      await report("test", "--against", "test"),
      await report(join(folder, "latest"), "--against", "test"),
    ];
    expect(first).toMatchObject({ run: newer, against: older, lost: 15 }); // the child chunks are lost
    expect(first.stderr).toContain(
      `reporting ${join(folder, "runs", newer)}, compared with ${join(folder, "runs", older)}\n`,
    );
    expect(again).toMatchObject({ run: newer, against: older });
    const turned = await report(`test@${older}`, "--against", join(folder, "runs", newer));
    expect(turned).toMatchObject({ run: older, against: newer });
    expect(turned.warnings.join()).toContain("is the newer run");
    expect(turned.stderr).toContain("is the newer run");
    const none = await runHere(["report", `test@${partial}`, "--against", "test", "--out", dir]);
    expect(none).toMatchObject({ code: 2, stdout: "" });
    expect(none.stderr).toContain(`test: no complete run before ${partial}; name a newer one`);
  },
);

test.runIf(inFull)("includes the findings of verify, and still writes the page", async () => {
  const { run } = await copyOfDump();
  await writeFile(join(run, "more"), "");
  const { code, stdout } = await runHere(["report", run, "--file", join(run, "..", "page.html")]);
  expect(code).toBe(0);
  expect(stdout).toContain("\nnot sound: verify has 1 finding\n");
});

test.runIf(inFull)(
  "1 for rows that do not match the run, with a command for details, and the old page stays",
  async () => {
    const { run, folder } = await copyOfDump();
    const path = join(folder, "report.html");
    await writeFile(path, "an older report");
    await appendFile(join(run, "chunks.jsonl"), "{}\n");
    const { code, stdout, stderr } = await runHere(["report", run]);
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(stderr).toMatch(
      /is not sound, so there is no report:\n {2}chunks\.jsonl: has \d+ bytes instead of \d+\nkbdump verify /,
    );
    expect(await readFile(path, "utf8")).toBe("an older report");
  },
);

test("2 for a missing run, older run, database or folder", async () => {
  const { run, folder } = await copyOfDump();
  for (const [args, message] of [
    [["report", folder], "test: no complete run, so there is no latest. "],
    [["report", run, "--against", run], "it is the run itself; name an older one\n"],
    [["report", run, "--db", join(folder, "no.duckdb")], "no.duckdb: there is no such file\n"],
    [
      ["report", run, "--file", join(run, "report.html")],
      "it lies in the folder of a run, to which nothing is added; ",
    ],
    [["report", run, "--file", join(folder, "no", "x.html")], "its folder does not exist; make it first\n"],
    [["report", run, "--file", "/dev/null"], "it is a device; name a file\n"],
  ] as const) {
    const { code, stderr } = await runHere(args);
    expect(code, args.join(" ")).toBe(2);
    expect(stderr).toContain(message);
  }
  expect(await readdir(folder)).not.toContain("report.html");
});

test.runIf(canMount)("1 for a full and for a read-only disk, and nothing is left of the page", async () => {
  const { run, folder } = await copyOfDump();
  const { path: full } = await tinyDisk(folder, 4);
  const closed = await readOnlyDisk(folder);
  for (const [disk, reason] of [
    [full, "the disk is full"],
    [closed, "the file system is read-only"],
  ] as const) {
    const path = join(disk, "report.html");
    const { code, stdout, stderr } = await runHere(["report", run, "--file", path, "--no-verify"]);
    expect({ code, stdout }, reason).toEqual({ code: 1, stdout: "" });
    expect(stderr).toContain(`kbdump: the report could not be written to ${path}: ${reason}`);
    expect(await readdir(disk)).toEqual([]);
  }
});

test.runIf(inFull)(
  "SIGTERM in the middle ends it with 143; the old page stays, and nothing is left beside it",
  async () => {
    const { run, folder } = await copyOfDump();
    const path = join(folder, "report.html");
    await writeFile(path, "an older report");
    const child = startKbdump(["report", `test@${basename(run)}`, "--out", join(folder, "..")]);
    const ended = finished(child);
    child.stderr?.once("data", () => child.kill("SIGTERM")); // its first line names the run
    const { code, stdout, stderr } = await ended;
    expect({ code, stdout }, stderr).toEqual({ code: 143, stdout: "" });
    expect(stderr).toBe(`reporting ${run}\nkbdump: interrupted by SIGTERM\n`);
    expect(await readFile(path, "utf8")).toBe("an older report");
    expect((await readdir(folder)).sort()).toEqual([".work", "metrics.prom", "report.html", "runs", "test.duckdb"]);
  },
);
