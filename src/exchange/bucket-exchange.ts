import { rm } from "node:fs/promises";
import { DamagedError } from "../bucket/fetch-file.js";
import type { Remote } from "../run/work/remote.js";
import { attemptFolder, beginForBucket, resultKey } from "./bucket-attempt.js";
import {
  type BucketPlace,
  markUnderWay,
  namesBelow,
  placeIn,
  readObject,
  removePlace,
  type Store,
} from "./bucket-place.js";
import { resultFrom } from "./bucket-result.js";
import { DamagedFileError } from "./damaged-file.js";
import type { Exchange, OwnExchange } from "./exchange.js";
import { isName, nameOfReason, requireName, triedFrom } from "./names.js";

/** Opens the exchange of a run in a bucket, for a worker, which keeps what it reads in a local folder of its own; sends no request. */
export function openBucketExchange(store: Store, runId: string, folder: string): Exchange {
  const place = placeIn(store, runId);
  return { ...shownIn(place), begin: async (name) => beginForBucket(place, name, folder) };
}

/**
 * Opens it for the coordinator, which holds the job; makes it where there is none. The hold is confirmed before each change. A
 * coordinator that is frozen right after that may still remove results of its successor, which then reads these documents again.
 */
export async function ownBucketExchange(remote: Remote, runId: string): Promise<OwnExchange> {
  const { bucket, outlast, confirm } = remote;
  const place = placeIn(remote, runId);
  const change = async (work: () => Promise<unknown>) => {
    await outlast(confirm);
    await outlast(work);
  };
  await change(() => markUnderWay(place));
  return {
    ...shownIn(place),
    write: async (file, content) => {
      const key = `${place.prefix}/${requireName(file)}`;
      await change(() => markUnderWay(place)); // a coordinator that was fenced may have removed it
      await change(() => bucket.put(key, Buffer.from(content)));
    },
    results: async () => (await namesBelow(place, "results")).flatMap(documentOf),
    result: async (name) => resultFrom(await readObject(place, resultKey(place, name)))?.result,
    tried: async () => (await namesBelow(place, "tried")).flatMap((name) => triedFrom(name) ?? []),
    reason: async (tried) => readObject(place, `${place.prefix}/tried/${nameOfReason(tried)}`),
    forget: async (name) => {
      const key = resultKey(place, name);
      await change(() => bucket.remove([key]));
    },
    take: async (name, token, { file, ...facts }, path) => {
      const key = `${attemptFolder(place, { name, token })}/${requireName(file)}`;
      await rm(path, { force: true });
      await outlast(() => bucket.fetchFile(key, path, facts)).catch((error: unknown) => {
        if (!(error instanceof DamagedError)) throw error;
        throw new DamagedFileError(`${bucket.url}/${key}`, "it is not there, or has other bytes", error);
      });
    },
    remove: () => change(() => removePlace(place)),
  };
}

/** The members that a worker and its coordinator share. */
function shownIn(place: BucketPlace): Pick<Exchange, "shown" | "read"> {
  const { bucket, prefix } = place;
  return {
    shown: `${bucket.url}/${prefix}`,
    read: async (file) => readObject(place, `${prefix}/${requireName(file)}`),
  };
}

/** The document whose result has this name; none for any other name. */
function documentOf(file: string): readonly string[] {
  const name = file.endsWith(".json") ? file.slice(0, -".json".length) : "";
  return isName(name) ? [name] : [];
}
