/** Other words that the service takes for a status in the filter of the list of documents. */
const aliases: Readonly<Record<string, string>> = { active: "available", enabled: "available" };

const known: ReadonlySet<string> = new Set([
  "queuing",
  "indexing",
  "paused",
  "error",
  "available",
  "disabled",
  "archived",
]);

/**
 * Whether a document of this status is asked for. Case does not matter, and a status that the service does not know is no
 * filter, as there. A document of which nobody knows the status is in no filtered list.
 */
export function statusFilter(statuses: readonly string[]): ((status: string | null) => boolean) | undefined {
  const named = statuses.map((status) => status.toLowerCase()).map((status) => aliases[status] ?? status);
  const wanted = new Set(named.filter((status) => known.has(status)));
  return wanted.size === 0 ? undefined : (status) => status !== null && wanted.has(status);
}

/** The status that a document shows; older services leave it to the reader. Null where it is not known. */
export function shownStatus(listed: Readonly<Record<string, unknown>>): string | null {
  const { display_status, indexing_status, enabled, archived } = listed;
  if (typeof display_status === "string") return display_status.toLowerCase();
  switch (indexing_status) {
    case "waiting":
      return "queuing";
    case "paused":
    case "error":
      return indexing_status;
    case "parsing":
    case "cleaning":
    case "splitting":
    case "indexing":
      return "indexing";
    case "completed":
      if (archived === true) return "archived";
      if (archived !== false || typeof enabled !== "boolean") return null;
      return enabled ? "available" : "disabled";
    default:
      return null;
  }
}
