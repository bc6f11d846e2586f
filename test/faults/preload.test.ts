import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { finished } from "../cli/run-kbdump.js";
import { testFolder } from "../run/job-for.js";
import { canInject, type FaultPlan, faultEnv } from "./fault-library.js";
import { readCalls } from "./file-calls.js";
import { isFrozen } from "./program.js";

const kinds = ["rename", "link", "symlink", "write", "fsync", "mkdir", "unlink", "rmdir"] as const;

/** Makes one call of each kind and a second write; also a write outside the folder, which must not be counted. */
const script = `
  const fs = require("fs");
  const [folder] = process.argv.slice(2);
  const said = (what) => { try { what(); } catch (error) { fs.writeSync(1, error.code + " " + error.syscall + "\\n"); } };
  fs.writeFileSync(folder + ".beside", "not counted");
  fs.mkdirSync(folder + "/new");
  const file = fs.openSync(folder + "/new/a", "w");
  said(() => fs.writeSync(file, "one"));
  said(() => fs.writeSync(file, "two"));
  said(() => fs.fsyncSync(file));
  fs.closeSync(file);
  said(() => fs.renameSync(folder + "/new/a", folder + "/b"));
  said(() => fs.linkSync(folder + "/b", folder + "/c"));
  said(() => fs.symlinkSync("c", folder + "/d"));
  said(() => fs.unlinkSync(folder + "/d"));
  said(() => fs.rmdirSync(folder + "/new"));
  fs.writeSync(1, "done\\n");
`;

async function startScript(plan: Pick<FaultPlan, "action" | "at" | "mode">): Promise<[ChildProcess, string]> {
  const folder = await testFolder();
  const below = join(folder, "out");
  const [log, file] = [join(folder, "calls.log"), join(folder, "script.cjs")];
  await mkdir(below);
  await writeFile(file, script);
  const env = { PATH: process.env.PATH, ...faultEnv({ folder: below, kinds, log, ...plan }) };
  const child = spawn(process.execPath, [file, below], { env, stdio: ["ignore", "pipe", "pipe"] });
  onTestFinished(() => void child.kill("SIGKILL"));
  return [child, log];
}

test.runIf(canInject)("the library counts the calls below a folder, in order, and lets them be", async () => {
  const [child, log] = await startScript({ action: "count" });
  expect(await finished(child)).toEqual({ code: 0, stdout: "done\n", stderr: "" });
  const met = (await readCalls(log)).map(({ kind }) => kind);
  expect(met).toEqual(["mkdir", "write", "write", "fsync", "rename", "link", "symlink", "unlink", "rmdir"]);
});

test.runIf(canInject)("it fails one call, or that and all later ones of its kind", async () => {
  const [once] = await startScript({ action: "eio", at: 2, mode: "once" });
  expect((await finished(once)).stdout).toBe("EIO write\ndone\n");
  const [from] = await startScript({ action: "enospc", at: 2, mode: "from" });
  expect((await finished(from)).stdout).toBe("ENOSPC write\nENOSPC write\ndone\n");
});

test.runIf(canInject)("it stops before a call or after it, and the program continues when it is woken", async () => {
  for (const action of ["stop", "stop-after"] as const) {
    const [child, log] = await startScript({ action, at: 5 });
    const ended = finished(child);
    expect(await isFrozen({ child, pid: child.pid ?? 0 })).toBe(true);
    expect((await readCalls(log)).at(-1)).toMatchObject({ number: 1, kind: "rename" });
    child.kill("SIGCONT");
    expect(await ended).toEqual({ code: 0, stdout: "done\n", stderr: "" });
  }
});

test.runIf(canInject)("it kills", async () => {
  const [child] = await startScript({ action: "kill", at: 3 });
  expect(await once(child, "close")).toEqual([null, "SIGKILL"]);
});
