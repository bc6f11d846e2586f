import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";

/** The path of the first of these programs that a folder of the PATH has; undefined where there is none. */
export function findProgram(names: readonly string[], env: NodeJS.ProcessEnv = process.env): string | undefined {
  const folders = (env.PATH ?? "").split(delimiter).filter((folder) => folder !== "");
  return names.flatMap((name) => folders.map((folder) => join(folder, name))).find(isExecutable);
}

/** Whether a path is that of a program. */
export function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
