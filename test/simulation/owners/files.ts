import { basename, dirname, join } from "node:path";
import { wrapFunctions } from "../wrap-functions.js";
import { current, type SimulatedProcess } from "./process.js";
import { fs } from "./real-fs.js";

/** Replaces a file operation; undefined: run it unchanged. */
export type FileSabotage = (name: string, args: readonly unknown[]) => (() => unknown) | undefined;

export const place: { sabotage: FileSabotage | undefined } = { sabotage: undefined };

/** `node:fs/promises`, whose functions wait for the schedule when a simulated process calls them. */
export function scheduledPromises(actual: object): object {
  return wrapFunctions(actual, (name, original, args) => {
    const process = current.getStore();
    return process ? run(process, name, args) : original();
  });
}

/** `node:fs`, whose streams wait for the schedule before each read. */
export function scheduledFs(actual: object): object {
  const original: unknown = Reflect.get(actual, "createReadStream");
  const createReadStream = (...args: unknown[]) => {
    const process = current.getStore();
    if (process) return readInTurn(process, String(args[0]), args[1]);
    return typeof original === "function" ? Reflect.apply(original, actual, args) : undefined;
  };
  return { ...actual, createReadStream, default: { ...actual, createReadStream } };
}

async function* readInTurn(process: SimulatedProcess, path: string, options: unknown): AsyncGenerator<Buffer> {
  await process.turn();
  const end: unknown = typeof options === "object" && options !== null ? Reflect.get(options, "end") : undefined;
  yield fs.readFileSync(path).subarray(0, typeof end === "number" ? end + 1 : undefined);
}

async function run(process: SimulatedProcess, name: string, args: readonly unknown[]): Promise<unknown> {
  const replaced = place.sabotage?.(name, args);
  if (replaced) {
    await process.turn();
    return replaced();
  }
  if (name === "rm") return remove(process, String(args[0]), args[1]);
  if (name === "open") return openFile(process, args);
  const inFolders = resolveFolders(name, args);
  try {
    await process.turn();
    return call(`${name}Sync`, inFolders.args);
  } finally {
    inFolders.close();
  }
}

/**
 * The operations that look up their folders when they start, so that renaming a parent folder afterwards does not stop them; with
 * the number of their path arguments.
 */
const pathsOf: Readonly<Record<string, number>> = { rename: 2, link: 2, symlink: 2, mkdir: 1, rmdir: 1, unlink: 1 };

/**
 * Opens the folders first, and makes the change when it is scheduled, like a kernel or a network drive. A rename that started before
 * its folder was renamed still succeeds, as long as the folder and the source exist.
 */
function resolveFolders(name: string, args: readonly unknown[]): { args: readonly unknown[]; close: () => void } {
  const opened: number[] = [];
  const resolved = args.map((arg, at) => {
    const isPath = at < (pathsOf[name] ?? 0) && !(name === "symlink" && at === 0);
    const isPlain = isPath && !(name === "mkdir" && isRecursive(args[1]));
    if (!isPlain) return arg;
    try {
      const folder = fs.openSync(dirname(String(arg)), fs.constants.O_RDONLY | fs.constants.O_DIRECTORY);
      opened.push(folder);
      return join(`/proc/self/fd/${folder}`, basename(String(arg)));
    } catch {
      return arg; // the operation fails with its own error later
    }
  });
  return { args: resolved, close: () => opened.map((folder) => fs.closeSync(folder)) };
}

const isRecursive = (options: unknown) =>
  typeof options === "object" && options !== null && Reflect.get(options, "recursive") === true;

/** `rm`, scheduled separately for each entry. */
async function remove(process: SimulatedProcess, path: string, options: unknown): Promise<void> {
  const force = typeof options === "object" && options !== null && Reflect.get(options, "force") === true;
  try {
    await process.turn();
    const facts = fs.lstatSync(path);
    if (!facts.isDirectory()) return fs.unlinkSync(path);
    if (!isRecursive(options)) return fs.rmSync(path);
    for (const name of fs.readdirSync(path)) await remove(process, join(path, name), options);
    await process.turn();
    fs.rmdirSync(path);
  } catch (error) {
    if (!(force && error instanceof Error && Reflect.get(error, "code") === "ENOENT")) throw error;
  }
}

async function openFile(process: SimulatedProcess, [path, flags = "r", mode]: readonly unknown[]): Promise<object> {
  await process.turn();
  const file = process.opened(Number(call("openSync", [path, flags, mode ?? 0o600])));
  const later =
    (name: string, ...first: readonly unknown[]) =>
    async () => {
      await process.turn();
      return call(name, first);
    };
  const write = async (data: unknown) => {
    await process.turn();
    fs.writeFileSync(file, typeof data === "string" || data instanceof Uint8Array ? data : String(data));
  };
  const close = async () => {
    await process.turn();
    process.close(file);
  };
  return {
    fd: file,
    writeFile: write,
    appendFile: write,
    write: async (data: string, position: number) => {
      await process.turn();
      return { bytesWritten: fs.writeSync(file, data, position) };
    },
    read: async (buffer: Buffer, offset: number, length: number, position: number | null) => {
      await process.turn();
      return { bytesRead: fs.readSync(file, buffer, offset, length, position) };
    },
    readFile: async (encoding?: BufferEncoding) => {
      await process.turn();
      return fs.readFileSync(file, encoding);
    },
    sync: later("fsyncSync", file),
    datasync: later("fdatasyncSync", file),
    stat: later("fstatSync", file),
    close,
    [Symbol.asyncDispose]: close,
  };
}

function call(name: string, args: readonly unknown[]): unknown {
  const operation: unknown = Reflect.get(fs, name);
  if (typeof operation !== "function") throw new Error(`node:fs has no ${name}`);
  return Reflect.apply(operation, fs, [...args]);
}
