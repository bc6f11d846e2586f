import { Parser } from "yargs/helpers";

/** How a command line wants to be answered, as far as it can be told of one that may be wrong. */
export interface OutputFlags {
  readonly json: boolean;
  readonly logFormat: "text" | "json";
}

/** Reads `--json` and `--log-format` as the commands do, in every spelling; of several, the last. */
export function outputFlags(args: readonly string[]): OutputFlags {
  const { json, logFormat } = Parser([...args], { boolean: ["json"], string: ["log-format"] });
  const last = (value: unknown) => (Array.isArray(value) ? value.at(-1) : value);
  return { json: last(json) === true, logFormat: last(logFormat) === "json" ? "json" : "text" };
}
