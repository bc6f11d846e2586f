import { createReadStream } from "node:fs";
import {
  BusyError,
  exitCodes,
  InterruptedError,
  type Problem,
  RetryError,
  SkipError,
  StopError,
  UnprintedError,
  UsageError,
} from "../errors.js";
import { fileErrorText } from "../file-error.js";
import { blankControls } from "../safe-text.js";
import { causeFirst } from "../words.js";
import { commonOptions, type Environment } from "./command.js";
import { wrapToWidth } from "./display-width.js";
import type { ErrorResult, LogLine } from "./log-schema.js";
import { readLine } from "./parse-command-line.js";
import type { Output } from "./progress-view.js";
import { jsonLine, messageText } from "./text.js";

/**
 * Prints the result of a command. Rejects with StopError if stdout fails, for example on a full disk; `achieved` then says what
 * was done anyway: `the run is published in …`. A reader that stops early, like `| head`, is not an error.
 */
export async function printResult(
  { stdout }: Pick<Environment, "stdout">,
  text: string,
  achieved?: string,
): Promise<void> {
  await isTaken(stdout, `${text}\n`, achieved);
}

/** How many characters to collect before writing them, because every write costs time. */
const block = 65_536;

/** Prints a result in pieces, so that memory stays small. */
export async function printPieces(
  { stdout }: Pick<Environment, "stdout">,
  pieces: AsyncIterable<string>,
): Promise<void> {
  let text = "";
  for await (const piece of pieces) {
    text += piece;
    if (text.length < block) continue;
    if (!(await isTaken(stdout, text))) return;
    text = "";
  }
  await isTaken(stdout, text);
}

/** Yields values as JSON, separated by commas. `start`: a text before each. */
export async function* jsonItems(
  values: AsyncIterable<unknown> | Iterable<unknown>,
  start = "",
): AsyncGenerator<string> {
  let separator = start;
  for await (const value of values) {
    yield `${separator}${jsonLine(value)}`;
    separator = `,${start}`;
  }
}

/** Prints the bytes of a file. */
export async function printFile({ stdout }: Pick<Environment, "stdout">, path: string): Promise<void> {
  for await (const bytes of createReadStream(path)) if (!(await isTaken(stdout, bytes))) return;
}

/** Writes to stdout. Returns false if the reader has gone. */
function isTaken(stdout: Output, text: string | Uint8Array, achieved?: string): Promise<boolean> {
  return new Promise((resolve, reject) => {
    stdout.write(text, (error) => {
      if (!error) resolve(true);
      else if ("code" in error && error.code === "EPIPE") resolve(false);
      else reject(unwritten(error, achieved));
    });
  });
}

/** The error for a stdout that cannot be written. */
export function unwritten(error: Error, achieved?: string): StopError {
  const what = `the result could not be written to stdout: ${describeError(error).message}`;
  if (achieved !== undefined) return new UnprintedError(`${achieved}, but ${what}`, { cause: error });
  return new StopError(what, { cause: error });
}

/**
 * Prints an error: on stderr as text, or as a JSON line with `--log-format json`; with `--json` also on stdout, as the command's
 * only JSON object. Returns the exit code.
 */
export function printError(
  error: unknown,
  { json, logFormat }: OutputFlags,
  { stdout, stderr }: { readonly stdout: Output; readonly stderr: Output },
): number {
  const { exitCode, status, problems, unexpected, ...described } = describeError(error);
  const message = causeFirst(described.message);
  const stack = (unexpected && error instanceof Error ? error.stack : undefined) ?? null;
  const failed = { exit_code: exitCode, problems };
  printMessage(message, logFormat, stderr, { ...failed, stack });
  if (stack !== null && logFormat === "text")
    stderr.write(`This is a bug in kbdump.\n${stack.split("\n").map(blankControls).join("\n")}\n`);
  if (json) stdout.write(`${jsonLine({ status, error: message, ...failed } satisfies ErrorResult)}\n`);
  return exitCode;
}

/** Prints why a command with a result does not exit with 0, even with `--quiet`. */
export function printReason(
  message: string,
  { logFormat }: Pick<OutputFlags, "logFormat">,
  { stderr }: { readonly stderr: Output },
): void {
  printMessage(message, logFormat, stderr);
}

/** Prints an error as text, or as a JSON line with `facts`. */
function printMessage(message: string, format: OutputFlags["logFormat"], stderr: Output, facts: object = {}): void {
  const line: LogLine = { time: new Date().toISOString(), level: "error", message, ...facts };
  stderr.write(`${format === "json" ? jsonLine(line) : messageLines(`kbdump: ${message}`, stderr)}\n`);
}

/** The lines of a message, without control characters, because it may quote anything; wrapped on a terminal. */
function messageLines(message: string, { isTTY, columns }: Output): string {
  const width = isTTY ? columns || 80 : Number.POSITIVE_INFINITY;
  const lines = message.split("\n").map((line) => messageText(line, Number.POSITIVE_INFINITY));
  return lines.flatMap((line) => wrapToWidth(line, width, `${/^ */.exec(line)}  `)).join("\n");
}

/** An error as shown to the user, and its exit code. */
interface ErrorReport {
  readonly message: string;
  readonly exitCode: number;
  readonly status: ErrorResult["status"];
  /** All problems with the command line or the job file. The message includes them too. */
  readonly problems: readonly Problem[];
  /** Whether the error is a bug in kbdump: then its stack is printed too. */
  readonly unexpected: boolean;
}

/** Describes any error in plain words. Errors of the file system and of DuckDB come from the user's environment and are not bugs. */
export function describeError(error: unknown): ErrorReport {
  const failed = { exitCode: exitCodes.failed, status: "failed", problems: [], unexpected: false } as const;
  const expected = (message: string, more: Partial<ErrorReport> = {}): ErrorReport => ({ message, ...failed, ...more });
  if (error instanceof UsageError)
    return expected(error.message, { exitCode: exitCodes.usage, problems: error.problems });
  if (error instanceof BusyError) return expected(error.message, { exitCode: exitCodes.busy, status: "busy" });
  if (error instanceof InterruptedError)
    return expected(error.message, { exitCode: error.exitCode, status: "interrupted" });
  if (error instanceof UnprintedError)
    return expected(error.message, { exitCode: exitCodes.partial, status: "partial" });
  if (error instanceof StopError || error instanceof SkipError || error instanceof RetryError)
    return expected(error.message);
  if (!(error instanceof Error)) return expected(String(error), { unexpected: true });
  const reason = fileErrorText(error) ?? missingDuckDb(error);
  if (reason) return expected(reason);
  if ("syscall" in error) return expected(plainText(error));
  if (/^(IO Error|Out of Memory Error|Could not set lock)/.test(error.message))
    return expected(`DuckDB: ${error.message}`);
  return expected(error.message, { unexpected: true });
}

/** Removes the error code and system call from `ENOENT: no such file or directory, open '/x'`. */
function plainText({ message }: Error): string {
  return message
    .replace(/^E[A-Z]+: /, "")
    .replace(/, \w+(?: ('.*'))?$/, (_, path?: string) => (path ? `: ${path}` : ""));
}

/** Explains that DuckDB cannot be loaded; undefined for other errors. npm installs its binary as an optional package for each system. */
function missingDuckDb(error: Error): string | undefined {
  const code = "code" in error ? error.code : undefined;
  const machine = `${process.platform}-${process.arch}`;
  if (code === "MODULE_NOT_FOUND" && error.message.includes("@duckdb/node-bindings"))
    return `DuckDB is not installed for this machine (${machine}). Run npm install again in the folder where you installed kbdump, on this machine and without --omit=optional`;
  if (code === "ERR_DLOPEN_FAILED" && error.message.includes("duckdb"))
    return `DuckDB does not run on this machine (${machine}): ${error.message}. Write only the formats jsonl and csv here, or use another system`;
  const isUnknown = error.message.startsWith("Error loading duckdb native binding: unsupported");
  return isUnknown
    ? `there is no DuckDB for this machine (${machine}). Write only the formats jsonl and csv here`
    : undefined;
}

/** The output format that a command line asks for, even if the line is invalid. */
interface OutputFlags {
  readonly json: boolean;
  readonly logFormat: "text" | "json";
}

/** Reads `--json` and `--log-format` in every spelling, as the commands do. The last one counts. */
export function outputFlags(args: readonly string[]): OutputFlags {
  const { flags } = readLine(args, { json: commonOptions.json, "log-format": commonOptions["log-format"] });
  const last = (name: string) => flags.findLast((flag) => flag.name === name);
  const json = last("json");
  return {
    json: json !== undefined && json.value !== "false",
    logFormat: last("log-format")?.value === "json" ? "json" : "text",
  };
}
