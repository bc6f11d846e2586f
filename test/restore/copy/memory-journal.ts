import { Journal, type JournalOptions } from "../../../src/journal/journal.js";
import type { JournalLine } from "../../../src/journal/journal-schema.js";

/** A journal in memory, and the lines that it recorded. */
export function memoryJournal(lines: readonly JournalLine[] = [], options: Partial<JournalOptions> = {}) {
  const noted: JournalLine[] = [...lines];
  const file = {
    append: async (line: object) => {
      noted.push(line as JournalLine);
    },
    close: async () => {},
  };
  const full = {
    ...{ runId: "20260301T000000000Z", baseUrl: "https://kb.example.com/v1" },
    ...{ now: () => new Date(0), checkOwn: async () => {} },
    ...options,
  };
  const journal = new Journal("journal.jsonl", file, full);
  for (const line of lines) journal.take(line);
  journal.beginWith(null);
  return { journal, noted };
}
