import { UsageError } from "../../errors.js";
import type { RestoreOptions } from "../restore-options.js";

/**
 * The address of the service to restore to: the one that was named, else the one that the run came from. UsageError where the
 * owner's settings name another host than the run: a run of somebody else must not decide where the key is sent.
 */
export function addressOf(runUrl: string, { to, own }: Pick<RestoreOptions, "to" | "own">): string {
  if (to !== undefined) return to.replace(/\/+$/, "");
  if (own === undefined || originOf(own.url) === originOf(runUrl)) return runUrl;
  const message = `the run came from ${runUrl}, and ${own.place} names ${own.url}; name the service to restore to with --to`;
  throw new UsageError("It is not clear which service to restore to:", [{ path: "--to", message }]);
}

function originOf(url: string): string {
  return URL.canParse(url) ? new URL(url).origin : url;
}
