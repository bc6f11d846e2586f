import { createHash, randomUUID } from "node:crypto";
import { type FileHandle, link, lstat, open, readdir, rename, rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { BusyError, LostError, StopError } from "../../errors.js";
import { ifAbsent, isThere, openRegular } from "../../files/files.js";
import { deadAfter, isAlive, type Owner, ownerFrom, silenceText, thisOwner } from "./lock-owner.js";

interface LockOptions {
  /** Milliseconds between two heartbeats. */
  readonly every?: number;
  /** Called when the lock is no longer ours: another took it over, because we sent no heartbeat, or it was removed. */
  readonly onLost?: (error: LostError) => void;
  /** Says what is at work where another holds the lock: `another run of this job is at work` by default. */
  readonly busy?: string;
}

/** The lock of a job, which this process holds. */
export interface Lock {
  readonly owner: Owner & { readonly id: string };
  /** The owner whose lock was taken over, and whether its process is proved dead; undefined if there was none, or if it had let go. */
  readonly replaced: { readonly id: string; readonly isDead: boolean } | undefined;
  /** The error that names the present holder; undefined if the lock is ours. */
  readonly lossOf: () => Promise<LostError | undefined>;
  /**
   * Lets the lock go. It is marked through our own handle first, and then moved into `folder`, which only we use: a lock that
   * another put in its place meanwhile is put back, never removed.
   */
  readonly release: (folder: string) => Promise<void>;
}

/** Our own lock file, under a name of its own; wherever it is linked to, it is one file, and one heartbeat. */
interface Mine {
  readonly path: string;
  readonly text: string;
  readonly file: FileHandle;
  readonly now: number; // by the clock of the drive
  readonly busy: string | undefined;
}

/**
 * Takes the lock of a job. A second run gets a BusyError that says who holds it. The lock of a process of this machine
 * that has ended, or that was released, is taken over at once; any other after two minutes without a heartbeat, which the owner
 * sends every 10 s. The lock usually keeps two runs from working at the same time. Fencing (fence.ts) ensures that they cannot
 * both publish, because a process that was frozen does not know that it lost the lock.
 */
export async function lockJob(folder: string, now: Date, options: LockOptions = {}): Promise<Lock> {
  const path = join(folder, "lock");
  const owner = await thisOwner(now);
  const mine = await makeMine(`${path}.${randomUUID()}`, JSON.stringify(owner), options.busy);
  let replaced: Lock["replaced"];
  try {
    replaced = await take(path, mine);
    await removeLeftovers(path, mine);
  } catch (error) {
    await mine.file.close();
    if (await isThere(mine.path).catch(() => true)) throw error;
    throw new LostError(`${path} was taken by another run while this one gave no sign of life, so it ends`, {
      cause: error,
    });
  } finally {
    await rm(mine.path, { force: true });
  }
  const end = startHeartbeat(path, mine, options);
  return {
    owner,
    replaced,
    lossOf: async () => {
      const found = await readLock(path);
      return isLockOf(found, mine.text) ? undefined : new LostError(lostText(path, found?.text));
    },
    release: async (aside) => {
      try {
        await end();
        await letGo(path, mine, join(aside, "lock"));
      } finally {
        await mine.file.close();
      }
    },
  };
}

async function makeMine(path: string, text: string, busy: string | undefined): Promise<Mine> {
  const file = await open(path, "wx", 0o600);
  try {
    await touch(file, text);
    const now = (await file.stat()).mtimeMs; // the clock of the drive need not be that of this machine
    return { path, text, file, now, busy };
  } catch (error) {
    await file.close();
    await rm(path, { force: true });
    throw error;
  }
}

/**
 * Puts our lock at `path`, or throws BusyError. Replacing a stale lock takes a lock on exactly that one, `<path>.<its id>`: a
 * process that holds it and still finds the stale one knows that no other can replace it. If that process dies first, its own lock
 * becomes stale and is taken over the same way. Returns the owner that was replaced.
 */
async function take(path: string, mine: Mine): Promise<Lock["replaced"]> {
  for (;;) {
    // A link appears with its content or not at all, and fails where there is one already.
    if (await link(mine.path, path).then(() => true, unless("EEXIST", false))) return undefined;
    const dead = await readLock(path);
    if (!dead) {
      if ((await lstat(path).catch(ifAbsent(undefined)))?.isSymbolicLink())
        throw new StopError(`${path} is a symbolic link that leads nowhere; remove it`);
      continue;
    }
    await refuseHeld(path, dead, mine.now, mine.busy);
    const claim = `${path}.${dead.id}`;
    await take(claim, mine);
    try {
      if ((await readLock(path))?.id !== dead.id) continue;
      await link(mine.path, `${mine.path}.new`);
      await rename(`${mine.path}.new`, path);
      const owner = isReleased(dead) ? undefined : ownerFrom(dead.text);
      return owner?.id ? { id: owner.id, isDead: (await isAlive(owner)) === false } : undefined;
    } finally {
      await rm(claim, { force: true });
    }
  }
}

/** Marks our lock and takes it away, by a name in a folder of ours: the move shows which lock it was that stood there. */
async function letGo(path: string, mine: Mine, aside: string): Promise<void> {
  await mine.file.write(releaseMark, Buffer.byteLength(mine.text)).catch(() => {}); // on a full disk it is taken away without a mark
  if (!isLockOf(await readLock(path), mine.text)) return;
  if (!(await rename(path, aside).then(() => true, ifAbsent(false)))) return; // our folder was fenced, or the lock is gone
  const moved = await readLock(aside);
  if (!moved) return; // our folder was fenced after the move
  if (!isLockOf(moved, mine.text))
    await link(aside, path).catch(unless("EEXIST", undefined)).catch(ifAbsent(undefined));
  await rm(aside, { force: true });
}

/** Removes what killed processes left beside the lock. Locks on locks mean nothing any more: all of them are on others than ours. */
async function removeLeftovers(path: string, mine: Mine): Promise<void> {
  const [folder, name] = [dirname(path), basename(path)];
  const own = (await readLock(path))?.id;
  for (const other of (await readdir(folder)).filter((other) => other.startsWith(`${name}.`))) {
    const rest = other.slice(name.length + 1);
    const file = join(folder, other);
    const isClaim = /^[0-9a-f]{16}(\.|$)/.test(rest) && rest.slice(0, 16) !== own;
    if (isClaim || (await isAbandoned(file, mine))) await rm(file, { force: true, recursive: false });
  }
}

/** Whether who wrote a file that was to become a lock is no more: a dead process of this machine, or one silent for long. */
async function isAbandoned(path: string, mine: Mine): Promise<boolean> {
  const file = await readLock(path).catch(() => undefined); // what is no file is nothing of ours
  return file !== undefined && !(await holderOf(file, mine.now));
}

/** Touches the lock now and then, until the function that it gives is called. Never keeps the process alive. */
function startHeartbeat(
  path: string,
  mine: Mine,
  { every = 10_000, onLost = () => {} }: LockOptions,
): () => Promise<void> {
  let beat: Promise<void> = Promise.resolve();
  let lost = false;
  const refresh = async () => {
    await touch(mine.file, mine.text).catch(() => {}); // a full disk, perhaps: the next one may succeed
    const found = await readLock(path).catch(() => ({ text: mine.text }));
    if (found?.text === mine.text || lost) return;
    lost = true;
    onLost(new LostError(lostText(path, found?.text)));
  };
  const timer = setInterval(() => {
    beat = beat.then(refresh);
  }, every).unref();
  return async () => {
    clearInterval(timer);
    await beat;
  };
}

function lostText(path: string, text: string | undefined): string {
  const owner = text === undefined ? undefined : ownerFrom(text);
  const what = owner ? `was taken over by process ${owner.pid} on ${owner.host}` : "was removed";
  return `the lock ${path} ${what} while this run was at work, so it ends: two runs must not write to one folder`;
}

/** A holder appends this to its lock when it is done. Any process may then take the lock at once. */
const releaseMark = "\nreleased\n";

/** A lock file as it is found. */
interface LockFile {
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

/** Shows that we live: the same content once more, so that the drive, not this machine, tells the time. */
async function touch(mine: FileHandle, text: string): Promise<void> {
  await mine.write(text, 0);
  await mine.sync();
}

/** Whether the holder of a lock said that it is done. */
function isReleased({ text }: LockFile): boolean {
  return text.endsWith(releaseMark);
}

/** Whether a lock is the one with this text, released or not. */
function isLockOf(found: LockFile | undefined, text: string): boolean {
  return found?.text === text || found?.text === `${text}${releaseMark}`;
}

interface Holder {
  /** Undefined if its lock file cannot be read. */
  readonly owner: Owner | undefined;
  /** Undefined if that cannot be known from here. */
  readonly alive: boolean | undefined;
  /** Milliseconds since the lock was touched. */
  readonly age: number;
}

/**
 * The holder of a lock at the time `now`, if the lock is held: its process lives or, where that cannot be known, it was touched within
 * `silence` ms. A time far ahead of `now` is none that a living process gave.
 */
export async function holderOf(found: LockFile, now: number, silence = deadAfter): Promise<Holder | undefined> {
  const owner = ownerFrom(found.text);
  const alive = owner && (await isAlive(owner));
  const age = now - found.touched;
  const isHeld = !isReleased(found) && (alive ?? Math.abs(age) < silence);
  return isHeld ? { owner, alive, age } : undefined;
}

/** Throws BusyError if a lock is held. `busy` says what is at work. */
export async function refuseHeld(path: string, found: LockFile, now: number, busy?: string): Promise<void> {
  const holder = await holderOf(found, now);
  if (holder) throw new BusyError(`${busy ?? "another run of this job is at work"}: ${busyText(path, holder)}`);
}

function busyText(path: string, { owner, alive, age }: Holder): string {
  const who = owner
    ? `process ${owner.pid} on ${owner.host} since ${owner.since}`
    : "an unknown process, whose lock file cannot be read";
  if (alive) return `${who}. Wait for its end, or end it (kill ${owner?.pid}); the next one goes on where it stopped`;
  return `${who}. ${silenceText(age, "lock")}. If you know that it is gone, remove ${path}`;
}

/** Turns the error of that code into a value, and lets every other one pass. */
function unless<T>(code: string, value: T): (error: unknown) => T {
  return (error) => {
    if (error instanceof Error && "code" in error && error.code === code) return value;
    throw error;
  };
}
