import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { tables } from "../../src/database/tables.js";
import { historyViews, stateViews } from "../../src/database/views.js";
import { jobJsonSchema } from "../../src/job/write-json-schema.js";
import { metricsAfter } from "../../src/notify/run-metrics.js";
import { allKinds, columns } from "../../src/rows/columns.js";
import { documentation, pages, tableBelow } from "../documentation.js";
import { outcomeOf } from "../notify/outcome-of.js";

const sources = readdirSync("src", { recursive: true, encoding: "utf8" })
  .filter((name) => name.endsWith(".ts"))
  .map((name) => readFileSync(join("src", name), "utf8"))
  .join("\n");

const headingsOf = (page: string) =>
  [...readFileSync(page, "utf8").matchAll(/^#+ (.*)$/gm)].map(([, text = ""]) => text);

test("every message of docs/troubleshooting.md is one of the program", () => {
  const page = "docs/troubleshooting.md";
  const messages = headingsOf(page).flatMap((heading) => tableBelow(page, heading).map(([cell = ""]) => cell));
  const quoted = messages.flatMap((cell) => /^`(.*)`$/.exec(cell)?.[1] ?? []);
  expect(quoted.length).toBeGreaterThan(50);
  for (const message of quoted)
    for (const part of message.split("…").map((text) => text.trim()))
      expect(sources.includes(part), `no message has ${JSON.stringify(part)}`).toBe(true);
});

test("every option of the job file is in the table of docs/job-file.md, and no other", () => {
  const rows = tableBelow("docs/job-file.md", "Options").slice(1);
  const named = rows.flatMap(([cell = ""]) => [...cell.matchAll(/`([^`]+)`/g)].map(([, key = ""]) => key));
  const schema: Schema = JSON.parse(JSON.stringify(jobJsonSchema()));
  const real = new Set(optionsOf(schema).filter((key) => key !== "$schema"));
  expect(named.sort()).toEqual([...real].sort());
});

interface Schema {
  readonly anyOf?: readonly Schema[];
  readonly type?: string;
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
}

/** Explained in sections of their own; the table has one row for each. */
const whole = ["output.keep", "notify"];

/** Every key that takes a value of its own, with its path. */
function optionsOf(schema: Schema, path = ""): readonly string[] {
  const below = (key: string) => (path === "" ? key : `${path}.${key}`);
  return (schema.anyOf ?? [schema]).flatMap(({ type, items, properties }) => {
    if (type === "null") return [];
    if (properties && !whole.includes(path))
      return Object.entries(properties).flatMap(([key, value]) => optionsOf(value, below(key)));
    return [path, ...(items?.properties ? optionsOf(items, `${path}[]`) : [])];
  });
}

test("the columns are those that are written", () => {
  for (const kind of allKinds)
    expect(documentation).toContain(`| ${kind} | ${columns[kind].map(({ name }) => name).join(", ")} |`);
});

test("every metric is named, with its type", () => {
  for (const { name, type } of metricsAfter(outcomeOf(), ""))
    expect(documentation).toMatch(new RegExp(`^\\|.*\`${name}\`.*\\| ${type}`, "m"));
});

test("every table, view and macro of the database is named", () => {
  const page = "docs/history-and-sql.md";
  const cells = ["Tables", "Views"]
    .flatMap((heading) => tableBelow(page, heading).map(([cell = ""]) => cell))
    .join(" ");
  for (const name of Object.keys({ ...tables, ...stateViews, ...historyViews })) expect(cells).toContain(`\`${name}\``);
  for (const name of ["chunks_at", "child_chunks_at"]) expect(documentation).toContain(`\`${name}(run_id)\``);
});

test("every file and folder that the pages name is there", () => {
  const names = documentation.match(/(?<=`)(?:src|test|jobs|docs)\/[\w./-]+(?=`)/g) ?? [];
  expect(names.length).toBeGreaterThan(40);
  for (const name of names) expect(existsSync(name), name).toBe(true);
});

test("docs/architecture.md has every folder of src", () => {
  const named = tableBelow("docs/architecture.md", "The folders")
    .slice(1)
    .flatMap(([cell = ""]) => cell.match(/[\w-]+/g) ?? []);
  const real = readdirSync("src", { withFileTypes: true }).filter((entry) => entry.isDirectory());
  expect(named.sort()).toEqual(real.map(({ name }) => name).sort());
});

test("the newest version of CHANGELOG.md is that of the package, and every section has a known name", () => {
  const { version } = JSON.parse(readFileSync("package.json", "utf8"));
  const [, newest, ...rest] = headingsOf("CHANGELOG.md");
  expect(newest).toMatch(new RegExp(`^${version} — (unreleased|\\d{4}-\\d\\d-\\d\\d)$`));
  for (const heading of rest)
    expect(heading).toMatch(/^(Added|Changed|Deprecated|Removed|Fixed|Security|\d+\.\d+\.\d+ — \d{4}-\d\d-\d\d)$/);
});

test("versions in the pages and in jobs/ are that of the package", () => {
  const { version } = JSON.parse(readFileSync("package.json", "utf8"));
  const files = ["jobs/container/Dockerfile", "jobs/kubernetes/cronjob.yaml", "jobs/systemd/kbdump.service"];
  const texts = [documentation, ...files.map((file) => readFileSync(file, "utf8"))].join("\n");
  const named = [...texts.matchAll(/kbdump[-:](\d+\.\d+\.\d+)/g)].map(([, found]) => found);
  expect(new Set(named)).toEqual(new Set([version]));
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
  expect(links.length).toBeGreaterThan(60);
  for (const { link, target, anchor } of links) {
    expect(existsSync(target), `${link} leads to ${target}`).toBe(true);
    if (anchor !== "") expect(headingsOf(target).map(anchorOf), link).toContain(anchor);
  }
});
