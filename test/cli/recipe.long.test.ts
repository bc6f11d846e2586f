import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, mkdir, readFile, writeFile } from "node:fs/promises";
import { delimiter, join, resolve } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { blocksOf } from "../documentation.js";
import { testFolder } from "../run/job-for.js";
import type { Rows } from "../run/read-dump.js";
import { type Finished, finished, startKbdump } from "./run-kbdump.js";

const page = "docs/restore.md";

/** The blocks of the recipe: the command for the first terminal, all commands for the second, and the end of the output. */
function recipe(): { readonly serve: string; readonly commands: string; readonly ends: string } {
  const shellBlocks = blocksOf(page).filter(({ language }) => language === "sh");
  const [serve = "", ...commands] = shellBlocks.map(({ text }) => text);
  const [shown] = blocksOf(page).filter(({ language }) => language === "text");
  return { serve, commands: commands.join("\n"), ends: shown?.text ?? "" };
}

/** The sample document on which the recipe works: small, and without earlier edits. */
const worked = "72eeb179-b9ed-4b5c-8fc0-ef7a606536c0";

/** A folder with the job, made faster for the test, and a `kbdump` wrapper that records its exit codes. */
async function newcomersFolder(): Promise<{ folder: string; path: string; noted: () => Promise<string> }> {
  const folder = await testFolder();
  await mkdir(join(folder, "jobs"));
  let job = await readFile("jobs/backup.yaml", "utf8");
  for (const [costly, cheap] of [
    ["documents: all", `documents: [${worked}]`],
    ["formats: [jsonl, csv, parquet, duckdb]", "formats: [jsonl, duckdb]"],
  ] as const) {
    expect(job).toContain(costly);
    job = job.replace(costly, cheap);
  }
  await writeFile(join(folder, "jobs", "backup.yaml"), job);
  await mkdir(join(folder, "bin"));
  const program = join(folder, "bin", "kbdump");
  const run = `"${process.execPath}" "${resolve("dist/main.js")}" "$@"`;
  await writeFile(program, `#!/bin/sh\n${run}\ncode=$?\necho "$1 $code" >> "${folder}/noted"\nexit $code\n`);
  await chmod(program, 0o700);
  const path = [join(folder, "bin"), process.env.PATH].join(delimiter);
  return { folder, path, noted: () => readFile(join(folder, "noted"), "utf8") };
}

/** Starts the command of the first terminal on a free port and returns the port. */
async function serveDemo(command: string): Promise<string> {
  const [program, ...args] = command.trim().split(" ");
  expect(program).toBe("kbdump");
  const child = startKbdump(args.map((arg, at) => (args[at - 1] === "--port" ? "0" : arg)));
  onTestFinished(async () => {
    child.kill("SIGTERM");
    await once(child, "close");
  });
  const [text] = child.stdout ? await once(child.stdout, "data") : [];
  return /127\.0\.0\.1:(\d+)\/v1/.exec(String(text))?.[1] ?? "";
}

function shell(script: string, cwd: string, path: string): Promise<Finished> {
  const env = { PATH: path, HOME: process.env.HOME };
  return finished(spawn("sh", ["-c", script], { cwd, env, stdio: ["ignore", "pipe", "pipe"] }));
}

async function textFrom(url: string, init: RequestInit): Promise<string> {
  const response = await fetch(url, init);
  expect(response.status).toBe(200);
  return response.text();
}

/**
 * Reads the chunks of the recipe's document from the service. `childrenOf` returns the texts and types of the child chunks of the
 * chunk with this content.
 */
async function held(port: string) {
  const at = `http://127.0.0.1:${port}/v1/datasets/be707760-4d1d-4f33-b3ad-f9bace31e975/documents/${worked}/segments`;
  const init = { headers: { authorization: "Bearer demo-key" } };
  const rowsOf = async (url: string): Promise<Rows> => JSON.parse(await textFrom(`${url}?limit=100`, init)).data;
  const chunks = await rowsOf(at);
  const childrenOf = async (content: string) => {
    const parent = chunks.find((row) => row.content === content);
    return (await rowsOf(`${at}/${parent?.id}/child_chunks`)).map((child) => [child.content, child.type]);
  };
  return { chunks, childrenOf };
}

test("the recipe of docs/restore.md finds, restores and proves what a re-index removed", async () => {
  const { serve, commands, ends } = recipe();
  const { folder, path, noted } = await newcomersFolder();
  const port = await serveDemo(serve);
  expect(commands).toContain("/demo/reindex/$document");
  const script = commands.replaceAll(":8080/", `:${port}/`).replace("/demo/reindex/$document", "$&?seconds=1");
  const { code, stdout, stderr } = await shell(script, folder, path);

  const steps = ["run 0", "status 0", "run 0", "diff 4", "restore 0", "restore 0", "restore 0"];
  expect((await noted()).trimEnd().split("\n"), stderr).toEqual(steps);
  expect(code).toBe(0);
  const printed = [
    "complete: 1 document, 54 chunks, 55 child chunks\n",
    "\ncompleted: 1 document in ",
    "complete: 1 document, 52 chunks, 52 child chunks\n",
    "\nLost, with manual edits:\n",
    "\n      - The last page is number 9.\n",
    "\nplan: 7 rows to write: 2 chunks edited, 2 chunks added, 1 chunk disabled, 1 child chunk replaced, 1 child chunk added\n",
    `\n${ends}7 write requests to `,
    "\nnothing to restore: all 7 manual edits are there\n",
  ];
  let at = 0;
  for (const text of printed) {
    expect(stdout.slice(at), text).toContain(text);
    at = stdout.indexOf(text, at) + text.length - 1;
  }

  const { chunks, childrenOf } = await held(port);
  const contents = chunks.map((row) => row.content);
  expect(contents).toHaveLength(54);
  expect([contents[8], contents[12]]).toEqual(["The last page is number 9.", "Commas, and semicolons, too."]);
  expect(contents.slice(52)).toEqual(["Ask Ms Ito for the key.", "The office closes at six."]);
  expect(chunks[52]?.keywords).toEqual(["key"]);
  const disabled = "semicolons; tabs\tand | pipes";
  expect(chunks.filter(({ enabled }) => !enabled).map((row) => row.content)).toEqual([disabled]);
  const edited = ["Quoted from the first word to the last.", "customized"];
  expect(await childrenOf('"quoted from end to end"')).toEqual([edited]);
  const quotes = "it's 'single' `back` and „German“ «French» 「日本語」 quotes";
  expect(await childrenOf(quotes)).toEqual([
    [quotes, "automatic"],
    ["Quotes of five languages.", "customized"],
  ]);
}, 180_000);
