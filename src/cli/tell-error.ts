import type { ErrorResult } from "../results/error.js";
import type { LogLine } from "../results/log.js";
import { blankControls } from "../safe-text.js";
import { jsonLine } from "../terminal/text.js";
import type { Output } from "../terminal/view.js";
import { describeError } from "./describe-error.js";
import type { OutputFlags } from "./output-flags.js";

/**
 * Reports an error: on stderr in words, or as a line of JSON with `--log-format json`, and with `--json` on stdout as the
 * one JSON object that the command then ends with. Gives the exit code.
 */
export function tellError(
  error: unknown,
  { json, logFormat }: OutputFlags,
  { stdout, stderr }: { readonly stdout: Output; readonly stderr: Output },
): number {
  const { message, exitCode, status, problems, unexpected } = describeError(error);
  const stack = (unexpected && error instanceof Error ? error.stack : undefined) ?? null;
  const failed = { exit_code: exitCode, problems };
  if (logFormat === "json") writeLine(stderr, { time: timeNow(), level: "error", message, ...failed, stack });
  else {
    stderr.write(`kbdump: ${plainLines(message)}\n`);
    if (stack !== null) stderr.write(`This is a fault of kbdump.\n${plainLines(stack)}\n`);
  }
  if (json) stdout.write(`${jsonLine({ status, error: message, ...failed } satisfies ErrorResult)}\n`);
  return exitCode;
}

/** Gives the reason, with `--quiet` as well, why a command that has a result does not end with 0. */
export function tellReason(
  message: string,
  { logFormat }: Pick<OutputFlags, "logFormat">,
  { stderr }: { readonly stderr: Output },
): void {
  if (logFormat === "json") writeLine(stderr, { time: timeNow(), level: "error", message });
  else stderr.write(`kbdump: ${plainLines(message)}\n`);
}

/** Lines of a message, which may quote anything, without control characters. */
function plainLines(message: string): string {
  return message.split("\n").map(blankControls).join("\n");
}

function writeLine(stderr: Output, line: LogLine): void {
  stderr.write(`${jsonLine(line)}\n`);
}

function timeNow(): string {
  return new Date().toISOString();
}
