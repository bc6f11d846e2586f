import { createHash } from "node:crypto";
import type { FileHandle } from "node:fs/promises";
import { ifAbsent } from "../../dump/files/is-there.js";
import { openRegular } from "../../dump/files/regular-file.js";
import { BusyError } from "../../errors.js";
import { type Holder, holderFrom, isAlive } from "./lock-holder.js";

/** Milliseconds after which a lock that nobody has touched is stale, wherever its process is or was. */
export const deadAfter = 120_000;

/** A holder appends this to its lock when it is done. Any process may then take the lock at once. */
const releaseMark = "\nreleased\n";

/** A lock file as it is found. */
export interface LockFile {
  /** Tells this file with this content from every other; safe in a name. */
  readonly id: string;
  readonly text: string;
  /** When it was touched last, in milliseconds by the clock of the drive. */
  readonly touched: number;
}

/**
 * Reads a lock; undefined when there is none. A network drive gives the newest facts to who opens a file. StopError where
 * something else than a file has its name.
 */
export async function readLock(path: string): Promise<LockFile | undefined> {
  const file = await openRegular(path).catch(ifAbsent(undefined));
  if (!file) return undefined;
  try {
    const [{ ino, mtimeMs }, text] = [await file.stat(), await file.readFile("utf8")];
    const id = createHash("sha256").update(`${ino} ${text}`).digest("hex").slice(0, 16);
    return { id, text, touched: mtimeMs };
  } finally {
    await file.close();
  }
}

/** The time by the clock of the drive, which need not be that of this machine: a file of ours that is written to says it. */
export async function driveTime(mine: FileHandle, text: string): Promise<number> {
  await touch(mine, text);
  return (await mine.stat()).mtimeMs;
}

/** Shows that we live: the same content once more, so that the drive, not this machine, tells the time. */
export async function touch(mine: FileHandle, text: string): Promise<void> {
  await mine.write(text, 0);
  await mine.sync();
}

/** Says in the own lock that its holder is done. */
export async function markReleased(mine: FileHandle, text: string): Promise<void> {
  await mine.write(releaseMark, Buffer.byteLength(text));
}

/** Whether the holder of a lock said that it is done. */
export function isReleased({ text }: LockFile): boolean {
  return text.endsWith(releaseMark);
}

/** Whether a lock is the one with this text, released or not. */
export function isLockOf(found: LockFile | undefined, text: string): boolean {
  return found?.text === text || found?.text === `${text}${releaseMark}`;
}

/**
 * Throws BusyError when a lock is held: its process lives or, where that cannot be known, it was touched of late. A time far
 * ahead of `now` is none that a living process gave. `busy` says what is at work.
 */
export async function refuseHeld(path: string, found: LockFile, now: number, busy?: string): Promise<void> {
  const { isHeld, holder, alive, age } = await lookAtLock(found, now);
  if (isHeld)
    throw new BusyError(`${busy ?? "another run of this job is at work"}: ${busyText(path, holder, alive, age)}`);
}

/** The process that holds a lock at the time `now`; null where its lock file cannot be read, undefined if nobody holds it. */
export async function holderOf(found: LockFile, now: number): Promise<Holder | null | undefined> {
  const { isHeld, holder } = await lookAtLock(found, now);
  return isHeld ? (holder ?? null) : undefined;
}

async function lookAtLock(found: LockFile, now: number) {
  const holder = holderFrom(found.text);
  const alive = holder && (await isAlive(holder));
  const age = now - found.touched;
  return { holder, alive, age, isHeld: !isReleased(found) && (alive ?? Math.abs(age) < deadAfter) };
}

function busyText(path: string, holder: Holder | undefined, alive: boolean | undefined, age: number): string {
  const who = holder
    ? `process ${holder.pid} on ${holder.host} since ${holder.since}`
    : "an unknown process, whose lock file cannot be read";
  if (alive) return `${who}. Wait for its end, or end it (kill ${holder?.pid}); the next one goes on where it stopped`;
  const [seen, left] = [Math.max(0, age), deadAfter - age].map((time) => Math.ceil(time / 1000));
  const wait = `It gave its last sign of life ${seen} s ago; without another one, its lock is taken over in ${left} s`;
  return `${who}. ${wait}. If you know that it is gone, remove ${path}`;
}

/** Turns the error of that code into a value, and lets every other one pass. */
export function unless<T>(code: string, value: T): (error: unknown) => T {
  return (error) => {
    if (error instanceof Error && "code" in error && error.code === code) return value;
    throw error;
  };
}
