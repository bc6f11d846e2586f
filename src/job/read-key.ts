import { spawn } from "node:child_process";
import { readFile, stat } from "node:fs/promises";
import { typedKey } from "../client/refused-answer.js";
import { UsageError } from "../errors.js";
import { fileText } from "../safe-text.js";
import type { ServiceOptions } from "./job.js";

type KeySource = Pick<ServiceOptions, "apiKeyEnv"> & Partial<Pick<ServiceOptions, "apiKeyFile" | "apiKeyCommand">>;

export interface KeyOptions {
  /** Called if others can read the key file. */
  readonly warn?: (message: string) => void;
  /** Aborting it ends the key command. */
  readonly signal?: AbortSignal;
  /** The source of the key, for messages; default: the one that the job names. */
  readonly source?: string;
}

/**
 * Reads the service's key from the job's command, file or variable, and trims it. Throws UsageError if there is none, or if it
 * cannot be sent. No error shows the key.
 */
export async function readKey(service: KeySource, env: NodeJS.ProcessEnv, options: KeyOptions = {}): Promise<string> {
  const { apiKeyEnv: name, apiKeyFile: file, apiKeyCommand: command } = service;
  const { source: place = sourceOfKey(service) } = options;
  if (command !== undefined) {
    const output = await runKeyCommand(command, { env, signal: options.signal });
    if (output.trim() === "") throw new UsageError(`no key: ${place} printed nothing`, []);
    return keyFrom(output, `the output of ${place}`);
  }
  if (file !== undefined) {
    const text = await readText(file, "the key file");
    if (await isOpenToOthers(file)) options.warn?.(`${place} can be read by others; chmod 600 ${fileText(file)}`);
    return keyFrom(text, place);
  }
  const value = env[name];
  if (value === undefined)
    throw new UsageError(`no key: the variable ${name} is not set. Set it: export ${name}=…`, []);
  return keyFrom(value, place);
}

/** The source of the key, for messages. */
export function sourceOfKey({ apiKeyEnv, apiKeyFile, apiKeyCommand }: KeySource): string {
  if (apiKeyCommand !== undefined) return commandText(apiKeyCommand);
  return apiKeyFile === undefined ? `the variable ${apiKeyEnv}` : `the key file ${fileText(apiKeyFile)}`;
}

function keyFrom(text: string, place: string): string {
  const key = text.trim();
  if (key === "") throw new UsageError(`no key: ${place} is empty. Put the key of the service there`, []);
  if (/^[\x21-\x7e]+$/.test(key)) return key;
  throw new UsageError(
    `${place === typedKey ? typedKey : `the key in ${place}`} cannot be sent: it holds white space or characters that are not ASCII. Put the key alone there, without "Bearer"`,
    [],
  );
}

/** Whether other users can read a file that this user owns. Files of other owners, such as mounted secrets, are not checked. */
async function isOpenToOthers(file: string): Promise<boolean> {
  const user = process.getuid?.();
  if (user === undefined) return false; // Windows has no such modes
  const { mode, uid } = await stat(file);
  return uid === user && (mode & 0o077) !== 0;
}

interface CommandOptions {
  /** The environment of the command. Its PATH finds the program. */
  readonly env: NodeJS.ProcessEnv;
  /** Timeout in milliseconds; default: 30 s. */
  readonly timeout?: number;
  /** Aborting it ends the command. */
  readonly signal?: AbortSignal | undefined;
}

/** Maximum characters of a key. A longer text is not a key. */
const longest = 100_000;

/** The command's name in messages: only its program, because arguments may be secret. */
function commandText([program = ""]: readonly string[]): string {
  return `the key command ${fileText(program)}`;
}

/**
 * Runs a program with its arguments, without a shell, and returns its stdout. Throws UsageError if it cannot start, fails or times
 * out. Errors never include its output, because even stderr may hold secrets.
 */
export async function runKeyCommand(command: readonly string[], options: CommandOptions): Promise<string> {
  const { env, timeout = 30_000, signal } = options;
  const [program = "", ...args] = command;
  const what = commandText(command);
  const limit = AbortSignal.timeout(timeout);
  const ends = signal ? AbortSignal.any([signal, limit]) : limit;
  try {
    const { output, code, killedBy } = await outputOf(program, args, env, ends);
    if (killedBy !== null) throw failure(`${what} was ended by ${killedBy}`);
    if (code !== 0) throw failure(`${what} failed with exit code ${code}. Run it yourself to see why`);
    return output;
  } catch (error) {
    signal?.throwIfAborted();
    if (limit.aborted) throw failure(`${what} did not end within ${timeout / 1_000} s`);
    if (error instanceof UsageError) throw error;
    throw failure(`cannot run ${what}: ${startError(error)}`);
  }
}

interface Ended {
  readonly output: string;
  readonly code: number | null;
  readonly killedBy: NodeJS.Signals | null;
}

/** The output of a program. Rejects if it cannot start, or if the signal is aborted, which kills it. */
function outputOf(
  program: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv,
  signal: AbortSignal,
): Promise<Ended> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { env, signal, killSignal: "SIGKILL", stdio: ["ignore", "pipe", "ignore"] });
    let output = "";
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      output = (output + text).slice(0, longest);
    });
    child.on("error", (error) => {
      child.stdout.destroy(); // a child process of the program can hold it open
      reject(error);
    });
    child.on("close", (code, killedBy) => resolve({ output, code, killedBy }));
  });
}

const startErrors: Readonly<Record<string, string>> = {
  ENOENT: "there is no such program. Give its full path, or correct PATH",
  EACCES: "it is not executable",
  ENOEXEC: "it is not a program. The first line of a script must say what runs it, as in #!/bin/sh",
};

function startError(error: unknown): string {
  const code = error instanceof Error && "code" in error ? String(error.code) : "unknown error";
  return startErrors[code] ?? `it could not be started (${code})`;
}

function failure(message: string): UsageError {
  return new UsageError(message, []);
}

/**
 * Maximum bytes of a job file. A job with 100,000 documents has 4 MB, so anything larger is not a job file but, for example, a
 * database.
 */
const largest = 16_000_000;

const readErrors: Readonly<Record<string, string>> = {
  ENOENT: "there is no such file",
  ENOTDIR: "there is no such file",
  EISDIR: "it is a folder",
  EACCES: "no permission to read it",
  EPERM: "no permission to read it",
};

/** Reads a UTF-8 file up to this size. `what` names its role (`the job file`). Throws UsageError with one plain sentence on failure. */
export async function readText(file: string, what: string, most = largest): Promise<string> {
  const { text, reason } = await tryRead(file, most);
  if (text === undefined) throw new UsageError(`cannot read ${what} ${fileText(file)}: ${reason}`, []);
  return text;
}

type Read = { readonly text: string; readonly reason?: never } | { readonly text?: never; readonly reason: string };

async function tryRead(file: string, most: number): Promise<Read> {
  try {
    if ((await stat(file)).size > most) return { reason: `it is larger than ${most / 1_000_000} MB` };
    return { text: new TextDecoder("utf-8", { fatal: true }).decode(await readFile(file)) };
  } catch (error) {
    return { reason: readError(error) };
  }
}

function readError(error: unknown): string {
  const code = error instanceof Error && "code" in error ? String(error.code) : "unknown error";
  if (code === "ERR_ENCODING_INVALID_ENCODED_DATA") return "it is not UTF-8 text";
  return readErrors[code] ?? code;
}
