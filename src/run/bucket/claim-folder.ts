import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { ifAbsent, isThere } from "../../dump/files/is-there.js";
import { writeAside } from "../../dump/files/write-aside.js";
import { isRunId } from "../../dump/manifest/run-id.js";
import { UsageError } from "../../errors.js";
import type { Hold } from "../work/job-folders.js";

/** The file in a work folder that names the place in a bucket whose runs it follows. */
const markName = "bucket";

/**
 * Makes sure that the folder of a job is for nothing else: the runs of a local folder are its dumps, and a work folder removes whatever
 * its bucket does not list. `url`: the place of the job in its bucket; undefined: it has none. UsageError where the folder has another use.
 */
export async function claimFolder(hold: Hold, url: string | undefined): Promise<void> {
  const mark = join(hold.private, markName);
  const owner = (await readFile(mark, "utf8").catch(ifAbsent(undefined)))?.trim();
  if (owner === url) return;
  if (owner !== undefined)
    throw refusal(
      `${hold.folder} is the work folder of ${owner}`,
      `Let ${url === undefined ? "output.dir" : "output.work_dir"} name another folder`,
    );
  if ((await readdir(hold.runs)).some(isRunId) || (await isThere(hold.database)))
    throw refusal(
      `${hold.folder} holds runs or a database of its own, which a work folder of ${url} would remove`,
      "Let output.work_dir name another folder",
    );
  await writeAside(mark, `${url}\n`, { aside: join(hold.own, markName) });
}

function refusal(problem: string, remedy: string): UsageError {
  return new UsageError(`${problem}. ${remedy}`, []);
}
