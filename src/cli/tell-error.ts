import { jsonLine } from "../terminal/text.js";
import type { Output } from "../terminal/view.js";
import { describeError } from "./describe-error.js";
import type { OutputFlags } from "./output-flags.js";

/**
 * Says what went wrong: on stderr in words, or as a line of JSON with `--log-format json`, and with `--json` on stdout as the
 * one JSON object that the command then ends with. Gives the exit code.
 */
export function tellError(
  error: unknown,
  { json, logFormat }: OutputFlags,
  { stdout, stderr }: { readonly stdout: Output; readonly stderr: Output },
): number {
  const { message, exitCode, unexpected } = describeError(error);
  const stack = unexpected && error instanceof Error ? error.stack : undefined;
  if (logFormat === "json") {
    const entry = { time: new Date().toISOString(), level: "error", message, exit_code: exitCode };
    stderr.write(`${jsonLine(stack === undefined ? entry : { ...entry, stack })}\n`);
  } else {
    stderr.write(`kbdump: ${message}\n`);
    if (stack !== undefined) stderr.write(`This is a fault of kbdump.\n${stack}\n`);
  }
  if (json) stdout.write(`${jsonLine({ status: "failed", exit_code: exitCode, error: message })}\n`);
  return exitCode;
}

/** Says on stderr, with `--quiet` as well, why a command that has a result does not end with exit 0. */
export function tellReason(
  message: string,
  { logFormat }: Pick<OutputFlags, "logFormat">,
  { stderr }: { readonly stderr: Output },
): void {
  const text =
    logFormat === "json" ? jsonLine({ time: new Date().toISOString(), level: "error", message }) : `kbdump: ${message}`;
  stderr.write(`${text}\n`);
}
