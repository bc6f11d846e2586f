import { basename, relative } from "node:path";

/**
 * The words that start this program once more from the folder `from`: `kbdump` where it is installed, `node dist/main.js` in a
 * checkout. `script` is the path that Node was given.
 */
export function programText(script: string | undefined, from: string): string {
  if (script === undefined || basename(script) !== "main.js") return "kbdump";
  const near = relative(from, script);
  const path = near.startsWith("..") ? script : near;
  return /^[\w./@%+=:,-]+$/.test(path) ? `node ${path}` : `node '${path.replaceAll("'", "'\\''")}'`;
}
