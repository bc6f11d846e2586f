import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";

/** A module or declaration and everything that it imports, directly or indirectly. */
function modulesFrom(file: string, found = new Set<string>()): ReadonlySet<string> {
  if (found.has(file)) return found;
  found.add(file);
  for (const [, target = ""] of readFileSync(file, "utf8").matchAll(/\b(?:from |import\(|import )"(\.[^"]+)\.js"/g))
    modulesFrom(join(dirname(file), target + file.slice(file.indexOf("."))), found);
  return found;
}

test("the package omits folders of modules, but none that the library imports", () => {
  const { files }: { files: string[] } = JSON.parse(readFileSync("package.json", "utf8"));
  const leftOut = files.flatMap((pattern) => /^!dist\/(\w+)$/.exec(pattern)?.[1] ?? []);
  expect(leftOut).toContain("cli");
  const modules = [...modulesFrom("src/index.ts")];
  expect(modules).toContain("src/run/run-job.ts");
  expect(modules.filter((file) => leftOut.some((folder) => file.startsWith(`src/${folder}/`)))).toEqual([]);
});

test("the types of the library need no package that npm does not install with it", () => {
  const { peerDependencies }: { peerDependencies: object } = JSON.parse(readFileSync("package.json", "utf8"));
  const named = [...modulesFrom("dist/index.d.ts")].filter((file) =>
    Object.keys(peerDependencies).some((name) => readFileSync(file, "utf8").includes(`"${name}"`)),
  );
  expect(named).toEqual([]);
});

test("the repository has the output folder, but not its contents", () => {
  const git = (...args: string[]) => spawnSync("git", args, { encoding: "utf8" });
  expect(readFileSync("output/.gitignore", "utf8")).toBe("*\n!.gitignore\n");
  expect(git("check-ignore", "output/demo/latest").status).toBe(0);
  expect(git("check-ignore", "output/.gitignore").status).toBe(1);
});
