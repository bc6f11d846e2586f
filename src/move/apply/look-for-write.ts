import { SkipError } from "../../errors.js";
import { type LookOptions, lookFor } from "../../restore/look-for.js";

/** The signs that a write was done, as reading shows them: ids at the service of what it made, in order. */
export interface Found {
  readonly ids: readonly string[];
  /** The batch of a document; null where it is not known. */
  readonly batch?: string | null;
}

/** Looks whether a write was done; undefined where nothing shows it. SkipError where nothing can be read. */
export type Find = () => Promise<Found | undefined>;

/** `unknown`: the service could not be read when time was up. */
export type Looked = Found | "not done" | "unknown";

/** Looks for a write until `until`, in milliseconds since 1970. While the service cannot be read, it goes on looking. */
export async function lookForWrite(find: Find, until: number, options: LookOptions): Promise<Looked> {
  let isUnread = false;
  const findIfReadable = async () => {
    try {
      isUnread = false;
      return await find();
    } catch (error) {
      if (!(error instanceof SkipError)) throw error;
      isUnread = error.status !== 404;
      return undefined;
    }
  };
  const found = await lookFor(findIfReadable, until, options);
  return found ?? (isUnread ? "unknown" : "not done");
}
