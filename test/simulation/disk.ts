import * as fs from "node:fs";
import { integer, type Random } from "../servers/random.js";
import type { SimulatedClock } from "./clock.js";
import { forever, type Life } from "./life.js";

/** The bytes that a stream reads. `end` is inclusive. */
export interface ReadRange {
  readonly start?: number | undefined;
  readonly end?: number | undefined;
}

/**
 * The disk of a simulation. It uses real files but synchronous operations, so that only the clock decides in which order they end. A
 * process can die in the middle of a write, the disk can fill up, and a power cut loses data that was not flushed.
 */
export class SimulatedDisk {
  /** The current process. */
  life: Life | undefined;
  readonly #clock: SimulatedClock;
  readonly #random: Random;
  readonly #report: (line: string) => void;
  /** Path → flushed bytes, for files that also have unflushed ones. */
  readonly #unflushed = new Map<string, number>();
  readonly #open = new Set<number>();

  constructor(clock: SimulatedClock, random: Random, report: (line: string) => void) {
    this.#clock = clock;
    this.#random = random;
    this.#report = report;
  }

  /** Runs an operation of node:fs/promises. Rejects operations that the simulation does not support. */
  async run(name: string, args: readonly unknown[]): Promise<unknown> {
    const path = String(args[0]);
    if (name === "writeFile" || name === "appendFile") return this.#write(name, path, args, name === "writeFile");
    await this.#turn(`${name} ${path}`);
    if (name === "open") return this.#openFile(path, args);
    if (name === "rename") this.#moved(path, String(args[1]));
    if (name === "rm" || name === "unlink") this.#unflushed.delete(path);
    return call(`${name}Sync`, args);
  }

  /** Does what the stream of `createReadStream` does, but can only be iterated. */
  async *read(path: string, { start = 0, end = Number.POSITIVE_INFINITY }: ReadRange): AsyncGenerator<Buffer> {
    await this.#turn(`read ${path}`);
    const bytes = fs.readFileSync(path).subarray(start, end + 1);
    const piece = this.#random() < 0.1 ? integer(this.#random, 1, 4_000) : 65_536;
    for (let at = 0; at < bytes.length; at += piece) yield bytes.subarray(at, at + piece);
  }

  /** Closes the files of a process. After a power cut, files keep their flushed bytes, and perhaps a few more. */
  closeAll(powerCut: boolean): void {
    for (const fd of this.#open) fs.closeSync(fd);
    this.#open.clear();
    for (const [path, flushed] of powerCut ? this.#unflushed : []) {
      const size = fs.statSync(path, { throwIfNoEntry: false })?.size ?? 0;
      if (size > flushed) fs.truncateSync(path, integer(this.#random, flushed, size));
    }
    if (powerCut) this.#unflushed.clear();
  }

  /** Flushes everything in a folder, as a run does before it publishes. */
  flush(folder: string): void {
    for (const path of this.#unflushed.keys()) if (path.startsWith(`${folder}/`)) this.#unflushed.delete(path);
  }

  async #turn(what: string): Promise<void> {
    const { life } = this;
    if (!life?.step()) return forever();
    await this.#clock.sleep(this.#random() < 0.02 ? 50 * this.#random() : this.#random(), life);
    this.#report(`disk: ${what.slice(0, what.indexOf(" "))} ${what.slice(what.lastIndexOf("/") + 1)}`);
  }

  async #write(name: string, path: string, args: readonly unknown[], isNew: boolean, file?: number): Promise<unknown> {
    const [, data, ...rest] = args;
    const target = file ?? path;
    if (isNew) this.#unflushed.set(path, 0);
    else if (!this.#unflushed.has(path)) this.#unflushed.set(path, fs.statSync(path).size);
    const { life } = this;
    const bytes = Buffer.isBuffer(data) ? data : Buffer.from(String(data));
    const torn = () =>
      call(`${name}Sync`, [target, bytes.subarray(0, integer(this.#random, 0, bytes.length)), ...rest]);
    if (life?.alive && !life.step()) torn();
    if (!life?.alive) return forever();
    await this.#clock.sleep(this.#random(), life);
    this.#report(`disk: write ${bytes.length} to ${path.slice(path.lastIndexOf("/") + 1)}`);
    if (!life.diskIsFull) return call(`${name}Sync`, [target, bytes, ...rest]);
    torn();
    throw Object.assign(new Error("ENOSPC: no space left on device, write"), { code: "ENOSPC", syscall: "write" });
  }

  #openFile(path: string, [, flags = "r"]: readonly unknown[]): object {
    const file = fs.openSync(path, typeof flags === "number" ? flags : String(flags), 0o600);
    this.#open.add(file);
    if (String(flags).startsWith("w")) this.#unflushed.set(path, 0);
    return this.#handle(path, file);
  }

  #handle(path: string, file: number): object {
    const flushed = async (name: string) => {
      await this.#turn(`${name} ${path}`);
      fs.fsyncSync(file);
      this.#unflushed.delete(path);
    };
    return {
      fd: file,
      writeFile: (data: unknown) => this.#write("appendFile", path, [path, data], false, file),
      appendFile: (data: unknown) => this.#write("appendFile", path, [path, data], false, file),
      read: async (buffer: Buffer, offset: number, length: number, position: number | null) => {
        await this.#turn(`read ${path}`);
        return { bytesRead: fs.readSync(file, buffer, offset, length, position) };
      },
      sync: () => flushed("sync"),
      datasync: () => flushed("datasync"),
      stat: async () => {
        await this.#turn(`stat ${path}`);
        return fs.fstatSync(file);
      },
      truncate: async (length: number) => {
        await this.#turn(`truncate ${path}`);
        fs.ftruncateSync(file, length);
      },
      close: async () => {
        await this.#turn(`close ${path}`);
        if (this.#open.delete(file)) fs.closeSync(file);
      },
    };
  }

  #moved(from: string, to: string): void {
    const flushed = this.#unflushed.get(from);
    this.#unflushed.delete(from);
    this.#unflushed.delete(to);
    if (flushed !== undefined) this.#unflushed.set(to, flushed);
  }
}

function call(name: string, args: readonly unknown[]): unknown {
  const operation: unknown = Reflect.get(fs, name);
  if (typeof operation !== "function") throw new Error(`node:fs has no ${name}`);
  return Reflect.apply(operation, fs, [...args]);
}
