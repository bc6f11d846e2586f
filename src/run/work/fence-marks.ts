import { lstat, readdir, rm, rmdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { ifAbsent } from "../../dump/files/is-there.js";
import { readSharedJson } from "../../dump/files/json-file.js";
import { refuseLink } from "../../dump/files/regular-file.js";
import { count, object, text, valueIf } from "../../schema.js";
import { type Hold, makeFolder } from "./job-folders.js";
import type { Holder } from "./lock-holder.js";

/** Milliseconds for which marks are kept. A process frozen for longer cannot name its successor. */
const keptFor = 30 * 86_400_000;

const folderOf = ({ private: hidden }: Pick<Hold, "private">) => join(hidden, "fenced");

const markSchema = object({ pid: count, host: text, at: text });

/** Writes down who fenced a holder, for its error message should it wake. Nothing else depends on this mark. */
export async function leaveMark(hold: Hold, token: string, { pid, host }: Holder, now: Date): Promise<void> {
  const mark = JSON.stringify({ pid, host, at: now.toISOString() });
  const write = async () => {
    await makeFolder(folderOf(hold));
    await writeFile(join(folderOf(hold), token), mark, { mode: 0o600 });
  };
  await write()
    .catch(write) // another may have removed the folder when it was empty
    .catch(() => {});
}

/** Removes marks older than `keptFor`, and the folder once it is empty. StopError where a link is in its place: its target has other files. */
export async function forgetOldMarks(hold: Hold, now: Date): Promise<void> {
  const folder = folderOf(hold);
  await refuseLink(folder);
  const names = await readdir(folder).catch(ifAbsent(undefined));
  if (!names) return;
  for (const name of names) {
    const facts = await lstat(join(folder, name)).catch(() => undefined);
    const isOld = facts !== undefined && now.getTime() - facts.mtimeMs > keptFor;
    if (isOld) await rm(join(folder, name), { force: true, recursive: true });
  }
  await rmdir(folder).catch(() => {}); // stays as long as there are marks
}

/** Says who fenced a holder and when; undefined if there is no mark. */
export async function successorOf(hold: Pick<Hold, "private" | "token">): Promise<string | undefined> {
  const said = valueIf(markSchema, await readSharedJson(join(folderOf(hold), hold.token)));
  return said && `process ${said.pid} on ${said.host} (at ${said.at})`;
}
