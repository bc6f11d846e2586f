import { type DatasetPlan, type MoveFrom, wishedName } from "../../restore/copy/copy-plan.js";
import { isMade } from "../../restore/copy/copy-result.js";
import { nameAndId, nameText } from "../../words.js";
import { wrapToWidth } from "../display-width.js";
import { type Page, terminalText } from "../text.js";
import { renderDocuments } from "./documents-table.js";
import { renderLosses } from "./losses.js";

const margin = "  ";
/** On fewer columns, lines that go on have no margin of their own, as an id would not fit beside it. */
const roomy = 60;

/** Characters that a service takes as the name of a dataset (POST /datasets of the Knowledge API). */
const longestName = 40;

/**
 * Renders the plan of a dataset: the one that takes its documents, with settings, fields and tags; its documents; its losses. `isSplit`:
 * several datasets take the documents of the one of the dump.
 */
export function renderDatasetPlan(
  plan: DatasetPlan,
  { from, isSplit }: { readonly from: MoveFrom; readonly isSplit: boolean },
  { paint, columns }: Page,
): readonly string[] {
  const inner = { paint, columns: columns - margin.length };
  const isUsed = plan.target.kind === "there" || isMade(plan);
  const facts = isUsed
    ? [targetText(plan), ...(isSplit ? [splitText(plan)] : []), ...settingLines(plan), ...fieldLines(plan)]
    : [noTarget];
  const lines = [
    ...facts.flatMap((text) => wrapToWidth(text, inner.columns, columns < roomy ? "" : margin)),
    ...renderDocuments(plan.documents, from, inner),
    ...renderLosses(plan, inner),
  ];
  const { dataset_id: id, dataset_name: name } = plan;
  const head = wrapToWidth(nameAndId(name === id ? null : name, terminalText(id, 80)), columns, margin);
  return [...head.map(paint.strong), ...lines.map((line) => margin + line)];
}

const noTarget = "→ no dataset is made, as no document of it comes";

function targetText(plan: DatasetPlan): string {
  const { dataset_name, target } = plan;
  const wished = wishedName(plan);
  if (target.kind === "there") return `→ the dataset ${nameAndId(target.name, terminalText(target.id, 80))}`;
  if (target.name === dataset_name) return "→ a new dataset of the same name";
  if (target.name === wished) return `→ a new dataset, ${nameText(target.name)}`;
  const why = [...wished].length > longestName ? `is longer than ${longestName} characters` : "is taken there";
  return `→ a new dataset, ${nameText(target.name)}, as the name ${why}`;
}

function splitText({ documents: [first] }: DatasetPlan): string {
  const form = terminalText(first?.doc_form ?? "", 40);
  return `one dataset for each form, as the service demands: this one takes documents of the form ${form}`;
}

/** The settings of a new dataset that cost something, or that the service may not have. */
function settingLines({ target, settings }: DatasetPlan): readonly string[] {
  if (target.kind === "there") return ["settings: they stay as they are"];
  const { indexing_technique, embedding_model: model, embedding_model_provider: provider, permission } = settings;
  const from = provider === null ? "" : ` of ${provider}`;
  const all = [indexing_technique, model === null ? null : `embeddings by ${model}${from}`, permission];
  return [`settings: ${terminalText(all.filter(Boolean).join(", "), 300)}`];
}

function fieldLines({ fields, built_in_fields, tags }: DatasetPlan): readonly string[] {
  const own = fields.map(({ name, type }) => `${name} (${type})`);
  const all = [...own, ...(built_in_fields ? ["the built-in ones"] : [])];
  return [
    ...(all.length > 0 ? [`metadata fields: ${terminalText(all.join(", "), 400)}`] : []),
    ...(tags.length > 0 ? [`tags: ${terminalText(tags.join(", "), 400)}`] : []),
  ];
}
