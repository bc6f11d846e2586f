import { spawnSync } from "node:child_process";
import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";

const root = join(import.meta.dirname, "..");
const modified = (path: string) => statSync(join(root, path), { throwIfNoEntry: false })?.mtimeMs ?? 0;

/** Rebuilds an outdated `dist` before the tests, because command-line tests start the built program. */
export default function buildWhenOld(): void {
  const folders = readdirSync(join(root, "src"), { recursive: true, withFileTypes: true });
  // Folders count too: deleting a file updates the modification time of its folder.
  const sources = folders.map(({ parentPath, name }) => join(parentPath, name).slice(root.length));
  const newest = Math.max(...["src", "package.json", "rolldown.config.js", "tsconfig.json", ...sources].map(modified));
  if (modified("dist/job.schema.json") > newest) return; // the last file that a build writes
  const { status } = spawnSync("npm", ["run", "--silent", "build"], { cwd: root, stdio: "inherit" });
  if (status !== 0)
    process.stderr.write("The build failed: tests that start the program may run an older or partial one.\n");
}
