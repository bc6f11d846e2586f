import { randomUUID } from "node:crypto";
import { rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { ifAbsent } from "../dump/files/is-there.js";
import { writeAside } from "../dump/files/write-aside.js";
import { isToken } from "../run/work/fence.js";
import { type Hold, type JobFolders, refuseLinks } from "../run/work/job-folders.js";
import { removeFrom } from "../run/work/remove-from.js";
import type { Exchange, OwnExchange, Tried } from "./exchange.js";
import { beginInFolder } from "./folder-attempt.js";
import { entriesIn, type FolderPlace, makePlace, placeOf, readText, refusePlantedLinks } from "./folder-place.js";
import { isName, nameOfReason, requireName, triedFrom } from "./names.js";
import { takeFile } from "./take-file.js";

/** Opens the exchange of a run in the folder of its job, for a worker; makes none. StopError where a link was planted in it. */
export async function openFolderExchange(folders: JobFolders, runId: string): Promise<Exchange> {
  const place = placeOf(folders, runId);
  await refuseLinks(folders);
  await refusePlantedLinks(place);
  return { ...shownAt(place), begin: async (name) => beginInFolder(place, name) };
}

/**
 * Opens it for the coordinator, which holds the job; makes it where there is none. Every change renames something out of the
 * coordinator's own folder or into it, so that a fenced coordinator changes nothing.
 */
export async function ownFolderExchange(hold: Hold, runId: string): Promise<OwnExchange> {
  const place = placeOf(hold, runId);
  await refusePlantedLinks(place);
  await makePlace(hold, place);
  return {
    ...shownAt(place),
    write: async (file, content) =>
      writeAside(join(place.folder, requireName(file)), content, { aside: join(hold.own, `exchange.${file}`) }),
    results: async () =>
      (await entriesIn(place.results)).filter((entry) => entry.isDirectory() && isName(entry.name)).map(nameOf),
    result: async (name) => readResult(join(place.results, requireName(name))),
    tried: async () =>
      (await entriesIn(place.tried)).filter((entry) => entry.isFile()).flatMap(({ name }) => triedIn(name)),
    reason: async (tried) => readText(join(place.tried, nameOfReason(tried))),
    forget: async (name) => {
      const aside = join(hold.own, `forgotten-${randomUUID()}`);
      await rename(join(place.results, requireName(name)), aside).catch(ifAbsent(undefined));
      await rm(aside, { recursive: true, force: true });
    },
    take: async (name, _token, { file, ...facts }, path) =>
      takeFile(join(place.results, requireName(name), requireName(file)), path, facts),
    remove: () => removeFrom(hold, place.folder),
  };
}

/** The members that a worker and its coordinator share. */
function shownAt({ folder }: FolderPlace): Pick<Exchange, "shown" | "read"> {
  return { shown: folder, read: async (file) => readText(join(folder, requireName(file))) };
}

const nameOf = ({ name }: { readonly name: string }): string => name;

function triedIn(file: string): readonly Tried[] {
  const tried = triedFrom(file);
  return tried ? [tried] : [];
}

/** The result in a folder that was handed over. */
async function readResult(folder: string): Promise<string | undefined> {
  const entries = await entriesIn(folder);
  const found = entries.find(({ name }) => name.endsWith(".json") && isToken(name.slice(0, -".json".length)));
  return found?.isFile() ? readText(join(folder, found.name)) : undefined;
}
