import { bytesText, numberText } from "../../amounts.js";
import type { DocumentPlan, MoveFrom } from "../../restore/copy/copy-plan.js";
import { nameText } from "../../words.js";
import { wrapToWidth } from "../display-width.js";
import { layOutTable, type TableColumn } from "../table.js";
import { type Page, terminalText } from "../text.js";
import { stateOf } from "./document-state.js";

/** Documents of one state that are shown. */
const mostDocuments = 20;

const shortest = { least: 14 };
const remark = { wraps: true };

/** The columns of a move word for word, and of one that uploads files. Counts are left out first where there is no room. */
const columnsOf: Readonly<Record<MoveFrom, readonly (TableColumn & { readonly head: string })[]>> = {
  chunks: [
    { head: "document", ...shortest },
    { head: "form", drop: 2 },
    { head: "chunks", right: true },
    { head: "children", right: true, drop: 3 },
    { head: "disabled", right: true, drop: 1 },
    { head: "characters", right: true },
    { head: "", ...remark },
  ],
  originals: [
    { head: "document", ...shortest },
    { head: "form", drop: 1 },
    { head: "file", least: 10, drop: 2 },
    { head: "size", right: true },
    { head: "", ...remark },
  ],
};

/** Renders the documents that come, then those that are there already; nothing where there are none of both. */
export function renderDocuments(
  documents: readonly DocumentPlan[],
  from: MoveFrom,
  { paint, columns: width }: Page,
): readonly string[] {
  const ofState = (state: "comes" | "there") => documents.filter((each) => stateOf(each) === state);
  const [coming, there] = [ofState("comes"), ofState("there")];
  if (coming.length + there.length === 0) return [];
  const columns = columnsOf[from];
  const rows = [
    columns.map(({ head }) => head),
    ...[...coming.slice(0, mostDocuments), ...there.slice(0, mostDocuments)].map((each) => rowOf(each, from)),
  ];
  const [head = [], ...lines] = layOutTable(rows, { columns, width });
  const more = (all: readonly DocumentPlan[], text: string) =>
    all.length > mostDocuments
      ? wrapToWidth(`… and ${numberText(all.length - mostDocuments)} ${text}: --json lists all`, width)
      : [];
  const shown = Math.min(coming.length, mostDocuments);
  return [
    ...head.map(paint.faint),
    ...lines.slice(0, shown).flat(),
    ...more(coming, "more").map(paint.faint),
    ...lines.slice(shown).flat(),
    ...more(there, "more that are there already").map(paint.faint),
  ];
}

function rowOf(document: DocumentPlan, from: MoveFrom): readonly string[] {
  const { document_name, document_id, doc_form, original } = document;
  const name = document_name === document_id ? "" : nameText(document_name);
  const first = [name || terminalText(document_id, 80), terminalText(doc_form, 40)];
  const file = [terminalText(original?.name ?? "", 60), bytesText(original?.bytes ?? 0)];
  const counts = [document.chunks, document.children, document.disabled, document.characters];
  const cells = from === "originals" ? file : counts.map(numberText);
  return [...first, ...cells, remarksOn(document).join("; ")];
}

function remarksOn({ earlier, enabled, archived }: DocumentPlan): readonly string[] {
  if (earlier?.state === "restored") return ["there already"];
  return [
    ...(earlier === null ? [] : [earlier.reason === null ? "begun earlier" : "failed earlier"]),
    ...(enabled ? [] : ["ends disabled"]),
    ...(archived ? ["ends archived"] : []),
  ];
}
