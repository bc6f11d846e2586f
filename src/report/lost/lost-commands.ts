import { relative } from "node:path";
import type { Dump } from "../../dump/open-dump.js";
import { commandOf, type NameFolder, runName } from "../commands.js";

/** The commands that show the rest of what is lost, and that plan a restore against the newer run. */
export interface LostCommands {
  readonly diff: string;
  readonly documents: string;
  readonly restore: string;
  /** Writes it: against the service as it stands, not against a run. */
  readonly apply: string;
  /** Plans the restore of one document; of the whole run where the id of the document is none that a command takes. */
  readonly restoreDocument: (document_id: string) => string;
  /** The same with a row that the owner chooses; null where one of the ids is none that a command takes. */
  readonly restoreChosen: (document_id: string, id: string) => string | null;
}

/** The commands for two runs. */
export function commandsFor(old: Dump, fresh: Dump, nameFolder?: NameFolder): LostCommands {
  const { older, newer, flags } = namesOf(old, fresh, nameFolder);
  const restore = (more: readonly string[]) =>
    commandOf("restore", [older, "--lost", "--against", newer, ...more, ...flags]);
  return {
    diff: commandOf("diff", [older, newer, "--text", ...flags]),
    documents: commandOf("diff", [older, newer, "--only", "document", ...flags]),
    restore: restore([]),
    apply: commandOf("restore", [older, "--lost", "--apply", ...flags]),
    restoreDocument: (document) => restore(isTaken(document) ? ["--document", document] : []),
    restoreChosen: (document, id) =>
      isTaken(document) && isTaken(id) ? restore(["--document", document, "--chunk", id]) : null,
  };
}

/** `--dir` holds for both runs: where they lie in different folders, both are named by their paths. */
function namesOf(old: Dump, fresh: Dump, nameFolder: NameFolder = (path) => path) {
  const nameOf = ({ folder, manifest }: Dump) => runName(folder, manifest, nameFolder);
  const [older, newer] = [nameOf(old), nameOf(fresh)];
  if (older.flags.join() === newer.flags.join()) return { older: older.word, newer: newer.word, flags: older.flags };
  const [olderPath, newerPath] = [old, fresh].map(({ folder }) => {
    const name = nameFolder(folder);
    return name === folder ? relative(".", folder) || "." : name;
  });
  return { older: olderPath ?? old.folder, newer: newerPath ?? fresh.folder, flags: [] };
}

/** Whether the command line takes an id: a UUID in lower case. */
function isTaken(id: string): boolean {
  return /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(id);
}
