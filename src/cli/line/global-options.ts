import type { Options } from "../command.js";

/** Flags that the program itself answers, before any command. */
export const globalOptions = {
  help: { type: "boolean", alias: "h", describe: "show this help" },
  version: { type: "boolean", alias: ["V", "v"], describe: "print the version" },
} as const satisfies Options;
