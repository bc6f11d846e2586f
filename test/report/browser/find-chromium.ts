import { findProgram, isExecutable } from "../../servers/find-program.js";

const names = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];

/** The path of an installed Chromium: `CHROMIUM`, or else the first one on the PATH; undefined if there is none. */
export function findChromium(env: NodeJS.ProcessEnv = process.env): string | undefined {
  if (env.CHROMIUM) return isExecutable(env.CHROMIUM) ? env.CHROMIUM : undefined;
  return findProgram(names, env);
}
