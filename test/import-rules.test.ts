import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { expect, test } from "vitest";

/** Data flows down this list; a file imports from its own folder and from those above it. */
const order = [
  "errors.ts",
  "file-error.ts",
  "disk-error.ts",
  "tool.ts",
  "job",
  "client",
  "crawl",
  "rows",
  "match",
  "sinks",
  "dump",
  "database",
  "notify",
  "keep",
  "verify",
  "indexing",
  "run",
  "serve",
  "diff",
  "plan",
  "terminal",
  "cli",
  "main.ts",
];

/** Each library does its one job in one place. */
const libraries: Readonly<Record<string, RegExp>> = {
  undici: /^client\/(http|failed-request)\.ts$/,
  "p-limit": /^client\/paced\.ts$/,
  "lossless-json": /^client\/parse-json\.ts$/,
  yaml: /^job\//,
  valibot: /^job\//,
  "@valibot/to-json-schema": /^job\/write-json-schema\.ts$/,
  leven: /^job\//,
  diff: /^diff\/diff-text\.ts$/,
  "csv-stringify": /^sinks\/csv\.ts$/,
  "@duckdb/node-api": /^database\//,
  yargs: /^cli\//,
};

const files = readdirSync("src", { recursive: true, encoding: "utf8" }).filter((file) => file.endsWith(".ts"));
const imports = /^(?:import|export)\b[^";=]*"([^"]+)";$|\bimport\("([^"]+)"\)/gm;
const importsOf = (file: string) =>
  [...readFileSync(join("src", file), "utf8").matchAll(imports)].map(([, fixed, late]) => fixed ?? late ?? "");
const folderOf = (file: string) => file.split("/")[0] ?? "";
const targetOf = (file: string, name: string) =>
  relative("src", join("src", dirname(file), name)).replace(/\.js$/, ".ts");

test("there are files to check", () => {
  expect(files.length).toBeGreaterThan(60);
  expect(importsOf("main.ts")).toContain("./cli/cli.js");
});

/** What a file imports although it must not. */
function wrongImports(file: string): readonly string[] {
  const folder = folderOf(file);
  const above = order.slice(0, order.indexOf(folder) + 1);
  const targets = importsOf(file)
    .filter((name) => name.startsWith("."))
    .map((name) => targetOf(file, name));
  return targets.filter((target) => {
    if (!files.includes(target)) return true;
    if (folder === "demo") return folderOf(target) !== "demo";
    if (folderOf(target) === "demo")
      return folder !== "serve" && !["run/with-client.ts", "cli/serve.ts"].includes(file);
    return !above.includes(folderOf(target));
  });
}

/** Libraries that a file imports although their one job is done elsewhere. */
function wrongLibraries(file: string): readonly string[] {
  const names = importsOf(file).filter((name) => !name.startsWith(".") && !name.startsWith("node:"));
  const packages = names.map((name) =>
    name
      .split("/")
      .slice(0, name.startsWith("@") ? 2 : 1)
      .join("/"),
  );
  return packages.filter((name) => !libraries[name]?.test(file));
}

test("no file imports anything from further down, and the embedded service shares no code", () => {
  const wrong = files.filter((file) => file !== "index.ts").map((file) => [file, ...wrongImports(file)]);
  expect(wrong.filter(({ length }) => length > 1)).toEqual([]);
});

test("libraries are imported where their one job is done", () => {
  expect(files.map((file) => [file, ...wrongLibraries(file)]).filter(({ length }) => length > 1)).toEqual([]);
});

test("no file imports itself in a circle", () => {
  const done = new Set<string>();
  const visit = (file: string, path: readonly string[]): void => {
    if (path.includes(file)) expect.fail([...path, file].join(" → "));
    if (done.has(file)) return;
    for (const name of importsOf(file)) if (name.startsWith(".")) visit(targetOf(file, name), [...path, file]);
    done.add(file);
  };
  for (const file of files) visit(file, []);
  expect(done.size).toBe(files.length);
});

test("files of src stay below 200 lines", () => {
  const long = files.filter((file) => readFileSync(join("src", file), "utf8").split("\n").length > 200);
  expect(long).toEqual([]);
});
