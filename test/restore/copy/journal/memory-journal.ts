import { CopyJournal, type CopyJournalOptions } from "../../../../src/restore/copy/journal.js";
import type { JournalLine } from "../../../../src/restore/copy/journal-lines.js";

/** A journal on no disk, and the lines that it has noted. */
export function memoryJournal(lines: readonly JournalLine[] = [], options: Partial<CopyJournalOptions> = {}) {
  const noted: JournalLine[] = [...lines];
  const file = {
    append: async (line: object) => {
      noted.push(line as JournalLine);
    },
    close: async () => {},
  };
  const full = {
    ...({ runId: "20260301T000000000Z", baseUrl: "https://kb.example.com/v1", from: "chunks" } as const),
    ...{ now: () => new Date(0), checkOwn: async () => {} },
    ...options,
  };
  return { journal: new CopyJournal("journal.jsonl", file, full, lines), noted };
}
