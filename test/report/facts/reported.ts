import { withSpill } from "../../../src/duckdb/open-duckdb.js";
import { openDump } from "../../../src/dump/open-dump.js";
import { emptyReadProgress } from "../../../src/read-progress.js";
import { html } from "../../../src/report/page/html.js";
import type { Answered, Section } from "../../../src/report/page/page.js";
import type { Table } from "../../../src/report/page/table.js";
import { changesSection } from "../../../src/report/sections/changes.js";
import { duplicatesSection, errorsSection, lengthsSection } from "../../../src/report/sections/chunks.js";
import { freshnessSection } from "../../../src/report/sections/freshness.js";
import { hitsSection } from "../../../src/report/sections/hits.js";
import { stuckSection, timelineSection } from "../../../src/report/sections/indexing.js";
import { verdictSection } from "../../../src/report/sections/verdict.js";
import { loadTables, Source } from "../../../src/report/source.js";

/** A source that keeps the tables that it reads. */
class KeepingSource extends Source {
  readonly tables: Table[] = [];

  override async table(request: Parameters<Source["table"]>[0]): Promise<Table> {
    const table = await super.table(request);
    this.tables.push(table);
    return table;
  }
}

export interface Reported {
  /** Finds a table by the start of its caption, even if the page omits it. */
  readonly table: (caption: string) => Table;
  readonly tables: readonly Table[];
  /** The answer to a question, or the first paragraph of a section, without tags. */
  readonly lead: (id: string) => string;
  readonly short: (id: "verdict" | "stuck" | "hits") => string;
  readonly next: (id: "verdict" | "stuck") => Section["next"];
}

interface ReadOptions {
  readonly database?: string | undefined;
  readonly content?: boolean;
}

/** Loads a run folder and makes every section, like a report. */
export async function reported(folder: string, { database, content = true }: ReadOptions = {}): Promise<Reported> {
  const dump = await openDump(folder, "nothing was reported");
  const signal = new AbortController().signal;
  return withSpill(":memory:", { memory: "800MB", signal }, async (connection) => {
    const loading = { database, signal, isVerified: false, progress: emptyReadProgress() };
    const noHistory = await loadTables(connection, dump, loading);
    const source = new KeepingSource(connection, dump, { content, database, nameFolder: undefined, noHistory });
    const answered: Readonly<Record<string, Answered>> = {
      verdict: await verdictSection(source, undefined),
      stuck: await stuckSection(source),
      hits: await hitsSection(source),
    };
    const sections: readonly Section[] = [
      await timelineSection(source),
      await freshnessSection(source),
      await lengthsSection(source),
      await changesSection(source),
      await errorsSection(source),
      await duplicatesSection(source),
    ];
    return {
      tables: source.tables,
      table: (caption) => {
        const found = source.tables.find((table) => table.caption.startsWith(caption));
        if (!found) throw new Error(`no table ${caption}`);
        return found;
      },
      lead: (id) => textOf(answered[id]?.lead ?? sections.find((section) => section.id === id)?.lead),
      short: (id) => answered[id]?.short ?? "",
      next: (id) => answered[id]?.next,
    };
  });
}

function textOf(value: Parameters<typeof html>[1]): string {
  return html`${value}`.toString().replace(/<[^>]*>/g, "");
}
