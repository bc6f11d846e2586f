import { createHash, randomUUID } from "node:crypto";
import { type FileHandle, link, lstat, open, readdir, rename, rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { BusyError, LostError, StopError } from "../../errors.js";
import { ifAbsent, ifPresent, isThere, openRegular } from "../../files/files.js";
import {
  deadAfter,
  isAlive,
  type Owner,
  ownerFrom,
  ownerText,
  silenceText,
  startHeartbeat,
  thisOwner,
} from "./lock-owner.js";

interface LockOptions {
  /** Milliseconds between two heartbeats; default: 10 s. */
  readonly every?: number;
  /** The start of the error if another owner has the lock; default: `another run of this job is active`. */
  readonly busy?: string;
}

/** The lock of a job, owned by this process. */
export interface Lock {
  readonly owner: Owner & { readonly id: string };
  /**
   * The owner whose lock was taken over, and whether its process has certainly ended; undefined if there was no lock, or if it
   * was released.
   */
  readonly replaced: { readonly id: string; readonly isDead: boolean } | undefined;
  /** Aborted with a LostError after we lost the lock: another run took it over because we sent no heartbeat, or it was removed. */
  readonly lost: AbortSignal;
  /** Checks the lock. Rejects with the LostError of `lost`, which names the current owner, if we lost it. */
  readonly confirm: () => Promise<void>;
  /**
   * Releases the lock: marks it through our own file handle, then moves it into `folder`, which only we use. If another run
   * has replaced the lock meanwhile, puts that lock back.
   */
  readonly release: (folder: string) => Promise<void>;
}

/** Our lock file under a name of its own. All its hard links share one heartbeat. */
interface Mine {
  readonly path: string;
  readonly text: string;
  readonly file: FileHandle;
  readonly now: number; // by the disk's clock
  readonly busy: string | undefined;
}

/**
 * Takes the lock of a job. Throws BusyError, naming the owner, if another run has it. Takes over immediately if the lock was
 * released, or if its process ran on this machine and ended. Otherwise takes over after two minutes without a heartbeat, which
 * owners send every 10 s. The lock usually prevents two runs at the same time. It cannot ensure that only one publishes,
 * because a frozen process does not know that it lost the lock; `fenceOthers` does.
 */
export async function lockJob(folder: string, now: Date, { every = 10_000, busy }: LockOptions = {}): Promise<Lock> {
  const path = join(folder, "lock");
  const owner = await thisOwner(now);
  const mine = await makeMine(`${path}.${randomUUID()}`, JSON.stringify(owner), busy);
  let replaced: Lock["replaced"];
  try {
    replaced = await take(path, mine);
    await removeLeftovers(path, mine);
  } catch (error) {
    await mine.file.close();
    if (await isThere(mine.path).catch(() => true)) throw error;
    throw new LostError(`${path} was taken by another run while this one sent no heartbeat, so it ends`, {
      cause: error,
    });
  } finally {
    await rm(mine.path, { force: true });
  }
  const lost = new AbortController();
  const confirm = async () => {
    const found = await readLock(path);
    if (!isLockOf(found, mine.text)) throw new LostError(lostText(path, found?.text));
  };
  const endHeartbeat = startHeartbeat(every, async () => {
    await touch(mine.file, mine.text).catch(() => {}); // perhaps a full disk: the next heartbeat may succeed
    await confirm().catch((error: unknown) => {
      if (error instanceof LostError) lost.abort(error);
    });
  });
  return {
    owner,
    replaced,
    lost: lost.signal,
    confirm,
    release: async (aside) => {
      try {
        await endHeartbeat();
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
    const now = (await file.stat()).mtimeMs; // the disk's clock may differ from this machine's
    return { path, text, file, now, busy };
  } catch (error) {
    await file.close();
    await rm(path, { force: true });
    throw error;
  }
}

/**
 * Puts our lock at `path`, or throws BusyError. To replace a stale lock, a process first locks it with a second lock file, a
 * claim: `<path>.<its id>`. If the stale lock still exists after that, no other process can replace it. If the process dies
 * first, its claim becomes stale and is taken over in the same way. Returns the owner that was replaced.
 */
async function take(path: string, mine: Mine): Promise<Lock["replaced"]> {
  for (;;) {
    // A link appears with its content or not at all, and fails if `path` already exists.
    if (await link(mine.path, path).then(() => true, ifPresent(false))) return undefined;
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

/** Marks our lock as released and moves it to `aside` in our folder. The moved file shows whose lock it was. */
async function letGo(path: string, mine: Mine, aside: string): Promise<void> {
  await mine.file.write(releaseMark, Buffer.byteLength(mine.text)).catch(() => {}); // on a full disk, it is removed without a mark
  if (!isLockOf(await readLock(path), mine.text)) return;
  if (!(await rename(path, aside).then(() => true, ifAbsent(false)))) return; // our folder or the lock is gone
  const moved = await readLock(aside);
  if (!moved) return; // a successor removed our folder after the move
  if (!isLockOf(moved, mine.text)) await link(aside, path).catch(ifPresent(undefined)).catch(ifAbsent(undefined));
  await rm(aside, { force: true });
}

/** Removes files that killed processes left next to the lock, and their claims (see `take`), which refer to earlier locks. */
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

/** Whether the writer of an unused lock file is dead, or has sent no heartbeat for long. */
async function isAbandoned(path: string, mine: Mine): Promise<boolean> {
  const file = await readLock(path).catch(() => undefined); // if it is not a file, it is not ours
  return file !== undefined && !(await holderOf(file, mine.now));
}

function lostText(path: string, text: string | undefined): string {
  const owner = text === undefined ? undefined : ownerFrom(text);
  const what = owner ? `was taken over by process ${owner.pid} on ${owner.host}` : "was removed";
  return `the lock ${path} ${what} while this run was active, so it ends: two runs must not write to one folder`;
}

/** An owner appends this to its lock when it is done. Any process may then take the lock at once. */
const releaseMark = "\nreleased\n";

/** A lock file that was read. */
interface LockFile {
  /** The id of this file with this content. It can be part of a file name. */
  readonly id: string;
  readonly text: string;
  /** Time of the last heartbeat, in milliseconds by the disk's clock. */
  readonly touched: number;
}

/**
 * Reads a lock; undefined if there is none. Opens the file to get its facts, because network drives return stale facts of
 * files that are not open. Throws StopError if the path is not a file.
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

/** Sends a heartbeat: writes the same content again, so that the disk's clock sets the time. */
async function touch(mine: FileHandle, text: string): Promise<void> {
  await mine.write(text, 0);
  await mine.sync();
}

/** Whether the owner released the lock. */
function isReleased({ text }: LockFile): boolean {
  return text.endsWith(releaseMark);
}

/** Whether a lock is the one that was written with this text, released or not. */
function isLockOf(found: LockFile | undefined, text: string): boolean {
  return found?.text === text || found?.text === `${text}${releaseMark}`;
}

interface Holder {
  /** The owner that the lock file names; undefined if its text is invalid. */
  readonly owner: Owner | undefined;
  /** Whether the process of the owner is alive; undefined if unknown: see `isAlive`. */
  readonly alive: boolean | undefined;
  /** Milliseconds since the last heartbeat. */
  readonly age: number;
}

/**
 * The owner of a lock, if the lock is held at the time `now`: its process is alive or, if that is unknown, the last heartbeat is at
 * most `silence` ms old. A heartbeat far in the future does not count.
 */
export async function holderOf(found: LockFile, now: number, silence = deadAfter): Promise<Holder | undefined> {
  const owner = ownerFrom(found.text);
  const alive = owner && (await isAlive(owner));
  const age = now - found.touched;
  const isHeld = !isReleased(found) && (alive ?? Math.abs(age) < silence);
  return isHeld ? { owner, alive, age } : undefined;
}

/** Throws BusyError if a lock is held. `busy`: the start of the message. */
export async function refuseHeld(path: string, found: LockFile, now: number, busy?: string): Promise<void> {
  const holder = await holderOf(found, now);
  if (holder) throw new BusyError(`${busy ?? "another run of this job is active"}: ${busyText(path, holder)}`);
}

function busyText(path: string, { owner, alive, age }: Holder): string {
  const who = owner ? ownerText(owner) : "an unknown process, whose lock file cannot be read";
  if (alive) return `${who}. Wait for its end, or end it (kill ${owner?.pid}); the next run continues where it stopped`;
  return `${who}. ${silenceText(age, "lock")}. If you know that it is gone, remove ${path}`;
}
