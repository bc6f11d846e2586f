import { findProgram, isExecutable } from "../../servers/find-program.js";

const names = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];

/** The path of an installed Chromium: the one that `CHROMIUM` names, else the first on the PATH; undefined where there is none. */
export function findChromium(env: NodeJS.ProcessEnv = process.env): string | undefined {
  if (env.CHROMIUM) return isExecutable(env.CHROMIUM) ? env.CHROMIUM : undefined;
  return findProgram(names, env);
}
