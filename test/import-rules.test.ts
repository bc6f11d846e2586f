import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { expect, test } from "vitest";
import { linesBelow } from "./documentation.js";
import { drawImports } from "./import-drawing.js";
import { common, importGraph, libraries } from "./import-graph.js";

const files = readdirSync("src", { recursive: true, encoding: "utf8" }).filter((file) => file.endsWith(".ts"));
const imports = /^import "([^"]+)";$|^(?:import|export)\b[^";=]*\bfrom "([^"]+)";$|\bimport\("([^"]+)"\)/gm;
const importsOf = (file: string) =>
  [...readFileSync(join("src", file), "utf8").matchAll(imports)].map(
    ([, bare, fixed, late]) => bare ?? fixed ?? late ?? "",
  );
const targetOf = (file: string, name: string) =>
  relative("src", join("src", dirname(file), name)).replace(/\.js$/, ".ts");
const targetsOf = (file: string) =>
  importsOf(file)
    .filter((name) => name.startsWith("."))
    .map((name) => targetOf(file, name));

/** The graph entry for a file: its top folder in src, or the file itself. */
function nodeOf(file: string): string {
  return file.split("/")[0] ?? file;
}

/** The imports of a file that the graph does not allow. */
function wrongImports(file: string): readonly string[] {
  if (common.includes(file)) return targetsOf(file).filter((target) => !common.includes(target));
  const allowed = [nodeOf(file), ...(importGraph[nodeOf(file)] ?? []), ...common];
  return targetsOf(file).filter((target) => !files.includes(target) || !allowed.includes(nodeOf(target)));
}

/** The libraries that a file must not import, because only other files may. */
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

/** The files with findings, each with its findings. */
const wrongFiles = (findWrong: (file: string) => readonly string[]) =>
  files.map((file) => [file, ...findWrong(file)]).filter(({ length }) => length > 1);

test("there are files to check", () => {
  expect(files.length).toBeGreaterThan(60);
  expect(importsOf("main.ts")).toContain("./cli/cli.js");
});

test("every import is an arrow of the graph; the package's own entry may import everything", () => {
  expect(wrongFiles((file) => (file === "index.ts" ? [] : wrongImports(file)))).toEqual([]);
});

test("every arrow of the graph is an import, so that it draws what there is", () => {
  const found = new Set(
    files.flatMap((file) => targetsOf(file).map((target) => `${nodeOf(file)} → ${nodeOf(target)}`)),
  );
  const drawn = Object.entries(importGraph).flatMap(([node, targets]) =>
    targets.map((target) => `${node} → ${target}`),
  );
  expect(drawn.filter((arrow) => !found.has(arrow))).toEqual([]);
});

test("the graph has no circle: each entry imports from those above it", () => {
  const order = Object.keys(importGraph);
  const back = Object.entries(importGraph).flatMap(([node, targets]) =>
    targets.filter((target) => order.indexOf(target) >= order.indexOf(node)).map((target) => `${node} → ${target}`),
  );
  expect(back).toEqual([]);
});

test("the embedded service shares no code with the client, and verify none with the writers", () => {
  expect(importGraph.demo).toEqual([]);
  const ofDumps = files.filter((file) => file.startsWith("verify/")).flatMap(targetsOf);
  expect([...new Set(ofDumps.filter((file) => file.startsWith("dump/")))].sort()).toEqual([
    "dump/manifest.ts",
    "dump/read-manifest.ts",
  ]);
});

test("only client/write sends a write, only restore uses it, and reads and writes use one exchange", () => {
  const users = (pattern: RegExp) => files.filter((file) => targetsOf(file).some((target) => pattern.test(target)));
  const folders = users(/^client\/write\//).map((file) => file.split("/").slice(0, -1).join("/"));
  expect([...new Set(folders)].sort()).toEqual(["client/write", "restore", "restore/copy"]);
  expect(users(/^client\/exchange\.ts$/)).toEqual(["client/open-client.ts", "client/write/writer.ts"]);
  expect(users(/^client\/receive\.ts$/)).toEqual(["client/exchange.ts"]);
  const sending = files.filter((file) =>
    /\.(request|dispatch)\(|\bfetch\(/.test(readFileSync(join("src", file), "utf8")),
  );
  const senders = [
    "client/exchange.ts",
    "notify/notifier.ts",
    "originals/download.ts",
    "store/bucket/request-handler.ts",
  ];
  expect(sending.sort()).toEqual(senders);
});

test("libraries are imported where their one job is done", () => {
  expect(wrongFiles(wrongLibraries)).toEqual([]);
});

test("only main.ts imports cli, but for the commands; and nothing imports a command by its name but other commands", () => {
  const users = (folder: string) =>
    files.filter(
      (file) => targetsOf(file).some((target) => target.startsWith(`${folder}/`)) && !file.startsWith(folder),
    );
  expect(users("cli").filter((file) => !file.startsWith("commands/"))).toEqual(["main.ts"]);
  expect(users("commands")).toEqual([]);
});

test("no file imports itself in a circle", () => {
  const done = new Set<string>();
  const visit = (file: string, path: readonly string[]): void => {
    if (path.includes(file)) expect.fail([...path, file].join(" → "));
    if (done.has(file)) return;
    for (const target of targetsOf(file)) visit(target, [...path, file]);
    done.add(file);
  };
  for (const file of files) visit(file, []);
  expect(done.size).toBe(files.length);
});

test("files of src stay below 400 lines, and folders at 25 files", () => {
  const long = files.filter((file) => readFileSync(join("src", file), "utf8").split("\n").length > 400);
  expect(long).toEqual([]);
  const sizes = new Map<string, number>();
  for (const file of files) sizes.set(dirname(file), (sizes.get(dirname(file)) ?? 0) + 1);
  expect([...sizes].filter(([, size]) => size > 28)).toEqual([]);
});

test("docs/architecture.md draws the graph", () => {
  const page = readFileSync("docs/architecture.md", "utf8");
  expect(/```mermaid\n([\s\S]*?)\n```/.exec(page)?.[1]).toBe(drawImports());
});

test("docs/architecture.md answers where to change what, each with places that are there", () => {
  const lines = linesBelow("docs/architecture.md", "Where would I change …?").filter((line) => line.startsWith("- "));
  expect(lines.length).toBeGreaterThanOrEqual(14);
  for (const line of lines) {
    const places = [...line.matchAll(/`(src\/[\w./-]+)`/g)].map(([, place = ""]) => place);
    expect(places, line).not.toEqual([]);
    expect(
      places.filter((place) => !existsSync(place)),
      line,
    ).toEqual([]);
  }
});

test("a manifest is parsed in one place, and a dump is opened in one; verify reads on its own", () => {
  const users = (pattern: RegExp) => files.filter((file) => pattern.test(readFileSync(join("src", file), "utf8")));
  expect(users(/\bcheck\(manifestSchema\b/)).toEqual(["dump/read-manifest.ts"]);
  expect(users(/"manifest\.json"/)).toEqual(["dump/manifest.ts"]);
  expect(users(/\b(openDump|new Dump)\(/).sort()).toEqual([
    "against/against-service.ts",
    "commands/sql/database.ts",
    "compare/runs-to-compare.ts",
    "database/prepare-database.ts",
    "dump/open-dump.ts",
    "index.ts",
    "join/prove-shards.ts",
    "report/render-report.ts",
    "restore/copy/copy-run.ts",
    "restore/lost/restore-lost.ts",
    "restore/target.ts",
    "serve/serve-dump.ts",
  ]);
  expect(users(/\bread(Json|Csv|Parquet)?_?(csv|parquet|json|ndjson_objects)\(/).sort()).toEqual([
    "dump/formats/csv.ts",
    "dump/formats/jsonl.ts",
    "dump/formats/parquet.ts",
    "verify/readers/sql-rows.ts",
  ]);
});
