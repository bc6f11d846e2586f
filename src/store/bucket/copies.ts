import { randomUUID } from "node:crypto";
import { readdir, rm, stat, utimes, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { copiesFolder } from "../../dump/run-id.js";
import { StopError, UsageError } from "../../errors.js";
import { fileErrorText } from "../../file-error.js";
import { makeFolder, makeFolders } from "../../files/files.js";
import { homeFolder, prefixFromUrl } from "../../job/s3-url.js";

/** Local copies of bucket files for one command. They are removed at the end of the scope. */
export interface Copies extends AsyncDisposable {
  /**
   * Creates and returns the folder for copies of files at an address. No other function creates it, so a late write cannot
   * bring it back after its removal.
   */
  readonly folderOf: (url: string) => Promise<string>;
  /** Runs `work`. If the disk fails, the error says that copies cannot be stored, and what to do. */
  readonly explain: <T>(work: () => Promise<T>) => Promise<T>;
}

/** Opens the copies of a command. Writes nothing before the first copy. `setting`: the setting that names the folder, for errors. */
export function openCopies(env: NodeJS.ProcessEnv, home = homeFolder, setting = "KBDUMP_COPIES"): Copies {
  const root = copiesRoot(env, home);
  const own = root === undefined ? undefined : join(root, copiesFolder(randomUUID()));
  let making: Promise<void> | undefined;
  const explain = async <T>(work: () => Promise<T>) => {
    try {
      return await work();
    } catch (error) {
      const reason = error instanceof StopError ? undefined : fileErrorText(error)?.replace(/: \/.*$/s, "");
      if (reason === undefined) throw error;
      const remedy = `Solve that, or let ${setting} name another folder`;
      throw new StopError(`copies of buckets cannot be kept in ${root}: ${reason}. ${remedy}`, { cause: error });
    }
  };
  return {
    folderOf: async (url) => {
      if (root === undefined || own === undefined)
        throw new UsageError("This user has no home folder to keep copies of buckets in: set KBDUMP_COPIES", []);
      const { bucket, prefix } = prefixFromUrl(url);
      const path = join("s3", bucket, ...prefix.split("/").filter((part) => part !== ""));
      await explain(async () => {
        making ??= makeFolderOfOwner(root, own);
        await making;
        await utimes(join(own, ownerFile), new Date(), new Date()); // marks the folder as in use
        await makeFolders(own, join(path, "copy"));
      });
      return join(own, path);
    },
    explain,
    [Symbol.asyncDispose]: async () => {
      if (own === undefined || making === undefined) return;
      await rm(own, { recursive: true, force: true, maxRetries: 5 }).catch(() => {}); // the next command removes leftovers
    },
  };
}

/** The folder in KBDUMP_COPIES, else `kbdump` in XDG_STATE_HOME, else `~/.local/state/kbdump`; undefined for a user without a home. */
export function copiesRoot(env: NodeJS.ProcessEnv, home: () => string | undefined): string | undefined {
  const { KBDUMP_COPIES, XDG_STATE_HOME, HOME } = env;
  if (KBDUMP_COPIES) return resolve(KBDUMP_COPIES);
  if (XDG_STATE_HOME) return resolve(XDG_STATE_HOME, "kbdump");
  const folder = HOME || home();
  return folder === undefined ? undefined : resolve(folder, ".local", "state", "kbdump");
}

/** Creates the folder for the copies of this process. Removes folders of killed processes. */
async function makeFolderOfOwner(root: string, own: string): Promise<void> {
  const { thisOwner } = await import("../folder/lock-owner.js");
  await makeFolder(own);
  await writeFile(join(own, ownerFile), JSON.stringify(await thisOwner(new Date())), { mode: 0o600 });
  for (const other of await readdir(root))
    if (isCopiesFolder.test(other) && (await isAbandoned(join(root, other))))
      await rm(join(root, other), { recursive: true, force: true });
}

const ownerFile = "owner.json";
const isCopiesFolder = new RegExp(`^${copiesFolder("[0-9a-f-]{36}").replace(".", "\\.")}$`);

/** Copies older than this many milliseconds are removed if it is unknown whether their process still runs. */
const keptFor = 7 * 86_400_000;

async function isAbandoned(folder: string): Promise<boolean> {
  const { holderOf, readLock } = await import("../folder/lock.js");
  const found = await readLock(join(folder, ownerFile)).catch(() => undefined);
  if (found) return !(await holderOf(found, Date.now(), keptFor));
  const facts = await stat(folder).catch(() => undefined); // killed before it wrote the file, or about to write it
  return facts !== undefined && Date.now() - facts.mtimeMs > keptFor;
}
