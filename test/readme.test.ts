import { existsSync, readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { startService } from "../src/demo/start-service.js";
import { exitCodes } from "../src/errors.js";
import { loadJob } from "../src/job/load-job.js";
import { allKinds, columns } from "../src/rows/columns.js";
import { runJob } from "../src/run/run-job.js";
import { documentation, pages } from "./documentation.js";
import { testFolder } from "./run/job-for.js";
import { query } from "./run/read-dump.js";

const readme = readFileSync("README.md", "utf8");
const blocks = (language: string) =>
  [...documentation.matchAll(new RegExp(`\`\`\`${language}\n([^]*?)\`\`\``, "g"))].map(([, text = ""]) => text);

test("the twenty queries work on the database of the demo job, and have something to say", {
  timeout: 120_000,
}, async () => {
  const [folder, service] = [await testFolder(), await startService()];
  onTestFinished(() => service.close());
  const file = join(folder, "demo.yaml");
  const yaml = readFileSync("jobs/demo.yaml", "utf8");
  await writeFile(file, yaml.replace("demo: true", `base_url: ${service.url}`));
  const job = await loadJob({ file }, { out: folder, format: ["duckdb"], childChunks: "auto" }, {});
  const options = { env: { KNOWLEDGE_API_KEY: service.key } };
  await runJob(job, options);
  const [path = ""] = /\/demo\/reindex\/[^"]+\?seconds=0/.exec(documentation) ?? [];
  const headers = { authorization: `Bearer ${service.key}` };
  expect((await fetch(new URL(path, service.url), { method: "POST", headers })).status).toBe(202);
  const { database } = await runJob(job, options);
  expect(blocks("sql")).toHaveLength(20);
  for (const sql of blocks("sql")) expect((await query(sql, database)).length, sql).toBeGreaterThan(0);
});

test("the columns are those that are written", () => {
  for (const kind of allKinds)
    expect(documentation).toContain(`| ${kind} | ${columns[kind].map(({ name }) => name).join(", ")} |`);
});

test("the real job is a job", async () => {
  const file = join(await testFolder(), "job.yaml");
  const [yaml = ""] = blocks("yaml");
  await writeFile(file, yaml);
  expect(yaml.trimEnd().split("\n")).toHaveLength(5);
  expect(await loadJob({ file }, {}, {})).toMatchObject({ name: "job", output: { formats: ["jsonl", "duckdb"] } });
});

test("the exit codes are those that are used", () => {
  for (const code of [exitCodes.complete, exitCodes.failed, exitCodes.usage, exitCodes.partial, exitCodes.busy]) {
    expect(readme).toMatch(new RegExp(`^\\| ${code} \\| `, "m"));
  }
});

test("every option of the job file is explained", async () => {
  const { jobJsonSchema } = await import("../src/job/write-json-schema.js");
  const text = JSON.stringify(jobJsonSchema());
  expect(text).toContain("base_url");
  for (const key of [
    "base_url",
    "demo",
    "api_key_env",
    "api_key_file",
    "concurrency",
    "timeout",
    "retries",
    "outage",
    "max_body",
    "ca_file",
    "allow_http",
    "documents",
    "batches",
    "status",
    "keyword",
    "child_chunks",
    "dir",
    "formats",
    "csv_safe",
    "keep_signatures",
    "memory",
    "max_rps",
    "consistency",
    "keep",
    "daily",
    "weekly",
    "monthly",
    "notify",
    "success",
    "failure",
  ]) {
    expect(text, key).toContain(`"${key}"`);
    expect(documentation, key).toContain(key);
  }
});

test("every piece of a job file that is shown is one that works", async () => {
  const file = join(await testFolder(), "job.yaml");
  const [job = "", ...pieces] = blocks("yaml").filter((yaml) => !yaml.includes("apiVersion"));
  expect(pieces.length).toBeGreaterThan(1);
  for (const piece of pieces) {
    const [key = ""] = piece.split("\n");
    await writeFile(file, job.replace(new RegExp(`^${key}.*\n`, "m"), "") + piece);
    await loadJob({ file }, {}, { NOTIFY_URL: "https://hc-ping.com/uuid" });
  }
});

test("every metric is named, with its type", async () => {
  const { metricsAfter } = await import("../src/notify/run-metrics.js");
  const { outcomeOf } = await import("./notify/outcome-of.js");
  for (const { name, type } of metricsAfter(outcomeOf(), "", undefined))
    expect(documentation).toMatch(new RegExp(`^\\|.*\`${name}\`.*\\| ${type}`, "m"));
});

test("README.md is short, and names every other page", () => {
  expect(readme.split("\n").length).toBeLessThanOrEqual(251);
  for (const page of pages.slice(1)) expect(readme).toContain(`](${page})`);
});

/** As GitHub names the place of a heading. */
function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N} _-]/gu, "")
    .replaceAll(" ", "-");
}

test("every link between the pages leads to a file, and to a heading that is there", () => {
  const links = pages.flatMap((page) =>
    [...readFileSync(page, "utf8").matchAll(/\]\((?!https?:)([^)#]*)#?([^)]*)\)/g)].map(
      ([link, path = "", anchor = ""]) => ({ link, target: path === "" ? page : join(dirname(page), path), anchor }),
    ),
  );
  expect(links.length).toBeGreaterThan(20);
  for (const { link, target, anchor } of links) {
    expect(existsSync(target), `${link} leads to ${target}`).toBe(true);
    if (anchor === "") continue;
    const headings = [...readFileSync(target, "utf8").matchAll(/^#+ (.*)$/gm)].map(([, text = ""]) => anchorOf(text));
    expect(headings, link).toContain(anchor);
  }
});
