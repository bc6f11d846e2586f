import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { tables } from "../../src/database/tables.js";
import { historyViews, stateViews } from "../../src/database/views.js";
import { jobJsonSchema } from "../../src/job/write-json-schema.js";
import { lineSchema } from "../../src/journal/journal-schema.js";
import { metricsAfter } from "../../src/notify/run-metrics.js";
import { documentation, namesBelow, pages, tableBelow } from "../documentation.js";
import { outcomeOf } from "../notify/outcome-of.js";

const sources = readdirSync("src", { recursive: true, encoding: "utf8" })
  .filter((name) => name.endsWith(".ts"))
  .map((name) => readFileSync(join("src", name), "utf8"))
  .join("\n");

const headingsOf = (page: string) =>
  [...readFileSync(page, "utf8").matchAll(/^#+ (.*)$/gm)].map(([, text = ""]) => text);

test("every message of docs/messages.md is one of the program", () => {
  const page = "docs/messages.md";
  const quoted = [...readFileSync(page, "utf8").matchAll(/^- `([^`]*)`: /gm)].map(([, message = ""]) => message);
  expect(quoted.length).toBeGreaterThan(50);
  for (const message of quoted)
    for (const part of message.split("…").map((text) => text.trim()))
      expect(sources.includes(part), `no message has ${JSON.stringify(part)}`).toBe(true);
});

test("every option of the job file is in the list of docs/job-file.md, and no other", () => {
  const named = [...namesBelow("docs/job-file.md", "Options")];
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

/** Options with their own section; the table has one row for each. */
const whole = ["output.keep", "notify"];

/** The path of every key that takes a value. */
function optionsOf(schema: Schema, path = ""): readonly string[] {
  const below = (key: string) => (path === "" ? key : `${path}.${key}`);
  return (schema.anyOf ?? [schema]).flatMap(({ type, items, properties }) => {
    if (type === "null") return [];
    if (properties && !whole.includes(path))
      return Object.entries(properties).flatMap(([key, value]) => optionsOf(value, below(key)));
    return [path, ...(items?.properties ? optionsOf(items, `${path}[]`) : [])];
  });
}

test("every kind of line of a journal is in the table of docs/output.md, with its members", () => {
  const rows = tableBelow("docs/output.md", "The journal").slice(1);
  const namesIn = (cell = "") => [...cell.matchAll(/`([^`]+)`/g)].map(([, name = ""]) => name);
  const documented = rows.map(([kind, , members]) => [...namesIn(kind), ...namesIn(members)]);
  const real = lineSchema.options.map(({ entries: { kind, ...others } }) => {
    const members = Object.keys(others).filter((name) => name !== "time");
    return [kind.literal, ...members];
  });
  expect(documented).toEqual(real);
});

test("every metric is named, with its type", () => {
  for (const { name, type } of metricsAfter(outcomeOf(), ""))
    expect(documentation).toMatch(new RegExp(`^\\|.*\`${name}\`.*\\| ${type}`, "m"));
});

test("every table, view and macro of the database is named", () => {
  const page = "docs/analyse.md";
  const cells = ["Tables", "Views"]
    .flatMap((heading) => tableBelow(page, heading).map(([cell = ""]) => cell))
    .join(" ");
  for (const name of Object.keys({ ...tables, ...stateViews, ...historyViews })) expect(cells).toContain(`\`${name}\``);
  for (const name of ["chunks_at", "child_chunks_at"]) expect(documentation).toContain(`\`${name}(run_id)\``);
});

test("every file and folder named in the pages exists", () => {
  const names = documentation.match(/(?<=`)(?:src|test|jobs|docs)\/[\w./-]+(?=`)/g) ?? [];
  expect(names.length).toBeGreaterThan(40);
  for (const name of names) expect(existsSync(name), name).toBe(true);
});

test("docs/architecture.md has every folder of src", () => {
  const named = [...namesBelow("docs/architecture.md", "The folders of src")];
  const real = readdirSync("src", { withFileTypes: true }).filter((entry) => entry.isDirectory());
  expect(named.sort()).toEqual(real.map(({ name }) => name).sort());
});

test("the newest version of CHANGELOG.md is that of the package, and every version has a number and a date", () => {
  const { version } = JSON.parse(readFileSync("package.json", "utf8"));
  const versions = [...readFileSync("CHANGELOG.md", "utf8").matchAll(/^## (.*)$/gm)].map(([, heading = ""]) => heading);
  for (const heading of versions) expect(heading).toMatch(/^\d+\.\d+\.\d+ — (unreleased|\d{4}-\d\d-\d\d)$/);
  expect(versions[0]).toMatch(new RegExp(`^${version} `));
});

test("versions in the pages and in jobs/ are that of the package", () => {
  const { version } = JSON.parse(readFileSync("package.json", "utf8"));
  const files = ["jobs/container/Dockerfile", "jobs/kubernetes/cronjob.yaml", "jobs/systemd/kbdump.service"];
  const texts = [documentation, ...files.map((file) => readFileSync(file, "utf8"))].join("\n");
  const named = [...texts.matchAll(/kbdump[-:](\d+\.\d+\.\d+)/g)].map(([, found]) => found);
  expect(new Set(named)).toEqual(new Set([version]));
});

/** The anchor that GitHub makes for a heading. */
function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N} _-]/gu, "")
    .replaceAll(" ", "-");
}

test("every link between the pages leads to an existing file and heading", () => {
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
