import { spawn, spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { printError, printResult } from "../../src/cli/output.js";
import { BusyError, StopError } from "../../src/errors.js";
import { inFull } from "../rounds.js";
import { jobFile, testFolder } from "../run/job-for.js";
import { startRealisticServer } from "../servers/realistic-server.js";
import { makeDocument, Store } from "../servers/store.js";
import { finished, runKbdump } from "./run-kbdump.js";

const program = fileURLToPath(new URL("../../dist/main.js", import.meta.url));

function say(error: unknown, flags: { json: boolean; logFormat: "text" | "json" }) {
  const said = { stdout: "", stderr: "" };
  const into = (name: keyof typeof said) => ({
    write: (text: string) => {
      said[name] += text;
    },
  });
  const exitCode = printError(error, flags, { stdout: into("stdout"), stderr: into("stderr") });
  return { exitCode, ...said };
}

test("an error is a line on stderr, and with --json one object on stdout", () => {
  const error = new StopError("it broke\u0085");
  expect(say(error, { json: false, logFormat: "text" })).toEqual({
    exitCode: 1,
    stdout: "",
    stderr: "kbdump: it broke \n",
  });
  const { stdout, stderr } = say(new BusyError("busy\u0085"), { json: true, logFormat: "json" });
  expect(stdout).toBe('{"status":"busy","error":"busy\\u0085","exit_code":5,"problems":[]}\n');
  expect(JSON.parse(stderr)).toEqual({
    time: expect.stringMatching(/^\d{4}-.*Z$/),
    level: "error",
    message: "busy\u0085",
    exit_code: 5,
    problems: [],
    stack: null,
  });
});

test("the cause comes first and the URL last, and on a terminal no word is broken", () => {
  const url = `https://kb.example.com/v1/datasets/${"be707760-4d1d-4f33-b3ad-f9bace31e975"}/documents/1e63378f-0ff6-41a4-8f48-687d51b4e63d`;
  const error = new StopError(
    `document "Handbook" cannot be read: GET ${url}: 500 internal_server_error No model answered (7 tries)`,
  );
  const lines = (columns: number) => {
    let written = "";
    const write = (text: string) => {
      written += text;
    };
    const stderr = { isTTY: true, columns, write };
    printError(error, { json: false, logFormat: "text" }, { stdout: stderr, stderr });
    return written.trimEnd().split("\n");
  };
  expect(lines(40)).toEqual([
    'kbdump: document "Handbook" cannot be',
    "  read: 500 internal_server_error No",
    "  model answered (7 tries) (GET",
    `  ${url})`,
  ]);
  expect(lines(80)).toEqual([
    'kbdump: document "Handbook" cannot be read: 500 internal_server_error No model',
    "  answered (7 tries) (GET",
    `  ${url})`,
  ]);
});

test("an internal error includes its stack, in one line of JSON if requested", () => {
  const error = new TypeError("x is not a function");
  expect(say(error, { json: false, logFormat: "text" }).stderr).toMatch(
    /^kbdump: x is .*\nThis is a bug in kbdump\.\n/,
  );
  const { stderr } = say(error, { json: false, logFormat: "json" });
  expect(stderr.trimEnd().split("\n")).toHaveLength(1);
  expect(JSON.parse(stderr).stack).toContain("errors.test");
});

test.runIf(inFull).each([
  ["a wrong job file", ["run", "nothing.yaml", "--json=true", "--log-format=json"], 2],
  ["a wrong command line", ["run", "--nothing", "--json", "--log-format", "json"], 2],
])("%s ends with a line of JSON on stderr and one on stdout", async (_name, args, code) => {
  const { code: got, stdout, stderr } = await runKbdump(args);
  expect(got).toBe(code);
  const { message, problems } = JSON.parse(stderr);
  expect(JSON.parse(stdout)).toEqual({ status: "failed", exit_code: code, error: message, problems });
});

test("printing resolves when the text is written or the reader is gone; on other errors, it says what was achieved", async () => {
  const printing = (error: Error | null, achieved?: string) => {
    const stdout = { write: (_text: string, written?: (error?: Error | null) => void) => written?.(error) };
    return printResult({ stdout }, "text", achieved);
  };
  const withCode = (code: string) => Object.assign(new Error(code), { code });
  await printing(null);
  await printing(withCode("EPIPE"));
  await expect(printing(withCode("ENOSPC"))).rejects.toThrow(
    "the result could not be written to stdout: the disk is full",
  );
  await expect(printing(withCode("EIO"), "all is well")).rejects.toThrow(
    /^all is well, but the result .*: the disk reports/,
  );
});

test.runIf(inFull)("a file that grows beyond the limit of the system: exit 1, and how to raise it", async () => {
  const folder = await testFolder();
  const shell = `ulimit -f 100 && exec "${process.execPath}" "${program}" run "${resolve("jobs/demo.yaml")}" --format jsonl --quiet`;
  const { code, stderr } = await finished(spawn("sh", ["-c", shell], { cwd: folder, env: { PATH: process.env.PATH } }));
  expect(code).toBe(1);
  expect(stderr).toMatch(/^kbdump: a file is larger than the system allows; raise the limit \(ulimit -f\) .*\n$/);
});

test.runIf(existsSync("/dev/full"))("a full stdout: exit 3, as the run is published, and no stack", async () => {
  const store = new Store();
  const dataset = store.addDataset(makeDocument({ chunks: 3 }));
  const server = await startRealisticServer(store);
  onTestFinished(() => server.close());
  const folder = await testFolder();
  const job = await jobFile(folder, {
    service: { base_url: server.url },
    datasets: [{ id: dataset.id, documents: [...dataset.documents.keys()] }],
    output: { formats: ["jsonl"] },
  });
  const shell = `exec "${process.execPath}" "${program}" run "${job}" > /dev/full`;
  const child = spawn("sh", ["-c", shell], { env: { PATH: process.env.PATH, KNOWLEDGE_API_KEY: server.key } });
  const { code, stderr } = await finished(child);
  const [run = ""] = await readdir(join(folder, "out", "test", "runs"));
  expect([code, stderr]).toEqual([
    3,
    `kbdump: the run is published in ${join(folder, "out", "test", "runs", run)}, but the result could not be written to stdout: the disk is full\n`,
  ]);
  const help = spawnSync("sh", ["-c", `"${process.execPath}" "${program}" --help > /dev/full`], { encoding: "utf8" });
  expect([help.status, help.stderr]).toEqual([
    1,
    "kbdump: the result could not be written to stdout: the disk is full\n",
  ]);
});

test.runIf(inFull)(
  "on an old Node, the program names the version that it needs, before it fails on a missing feature",
  async () => {
    const { engines } = JSON.parse(await readFile("package.json", "utf8"));
    const pretend = (version: string) => {
      const versions = `{ value: { ...process.versions, node: "${version}" } }`;
      return `data:text/javascript,Object.defineProperty(process, "versions", ${versions})`;
    };
    const run = (version: string) =>
      finished(spawn(process.execPath, ["--import", pretend(version), program, "run", "--help"], { stdio: "pipe" }));
    expect(engines.node).toBe(">=22.19.0");
    for (const version of ["18.0.0", "20.20.2", "22.18.0"]) {
      const { code, stdout, stderr } = await run(version);
      const cause = `Node.js ${version} is too old: kbdump needs 22.19 or later`;
      expect({ code, stdout, stderr }).toEqual({
        code: 1,
        stdout: "",
        stderr: `kbdump: ${cause}; install it from https://nodejs.org\n`,
      });
    }
    for (const version of ["22.19.0", "24.0.0", "26.1.0"]) expect((await run(version)).code, version).toBe(0);
  },
);
