import { countText } from "../../amounts.js";
import type { Environment } from "../../cli/command.js";
import type { Dialogue } from "../../cli/dialogue.js";
import { type Page, pageFor } from "../../cli/text.js";
import type { ListedLoss } from "../../compare/lost/restore-plan.js";
import type { CopyResult } from "../../restore/copy/copy-result.js";
import type { Confirmed, RestoreResult } from "../../restore/restore-options.js";
import { nameText } from "../../words.js";
import { renderCopyPlan } from "../copy/plan.js";
import { renderPlan, sortListed } from "./plan.js";
import { placeOf } from "./rows.js";

/** Rows that are asked for, one by one. Where more lack evidence, none of those is: they are too many to read. */
const mostQuestions = 50;
const mostWithoutEvidence = 20;

/** Shows the plan and asks what else to restore, and whether to go on. With `yes`, nothing is asked. */
export async function askToApply(planned: RestoreResult, yes: boolean, environment: Environment): Promise<Confirmed> {
  const dialogue = yes ? undefined : await dialogueBelow(environment, (page) => renderPlan(planned, page));
  return dialogue === undefined ? { go: true, chosen: [] } : askAbout(planned, dialogue);
}

/** Shows the plan of a move and asks whether to go on. With `yes`, or where nothing is to be written, nothing is asked. */
export async function askToCopy(planned: CopyResult, yes: boolean, environment: Environment): Promise<boolean> {
  const { base_url, counts } = planned;
  if (yes || counts.writes === 0) return true;
  const dialogue = await dialogueBelow(environment, (page) => renderCopyPlan(planned, page));
  const documents = countText(counts.documents, "document");
  return dialogue === undefined || askToSend(counts.writes, base_url, documents, dialogue);
}

/** Prints a plan and opens the terminal for questions about it; undefined where there is none. */
async function dialogueBelow(environment: Environment, render: (page: Page) => string): Promise<Dialogue | undefined> {
  const terminal = environment.openTerminal?.();
  if (terminal === undefined) return undefined;
  const { openDialogue } = await import("../../cli/dialogue.js"); // heavy; --yes does without
  environment.stderr.write(`${render(pageFor(environment.stderr, environment.env))}\n\n`);
  return openDialogue(terminal, environment.signal, "Nothing was written.");
}

/** The last question: whether to send the writes. */
async function askToSend(writes: number, baseUrl: string, things: string, dialogue: Dialogue): Promise<boolean> {
  const answer = await dialogue.choose({
    message: `Send ${countText(writes, "write request")} or more to ${new URL(baseUrl).host}?`,
    choices: [
      { value: "no", label: "No, write nothing" },
      { value: "yes", label: `Yes, restore ${things}` },
    ],
  });
  return answer === "yes";
}

/** Asks for each row that can be chosen, then for the whole. Nothing to write needs no question. */
export async function askAbout({ plan, counts, base_url }: RestoreResult, dialogue: Dialogue): Promise<Confirmed> {
  const chosen = await askRows(choosableRows(plan.documents), dialogue);
  const writes = counts.writes + chosen.length;
  if (writes === 0) return { go: true, chosen };
  const go = await askToSend(writes, base_url, countText(counts.rows + chosen.length, "row"), dialogue);
  return { go, chosen };
}

/** A listed row and its document. */
interface AskedRow {
  readonly loss: ListedLoss;
  readonly document: string;
}

function choosableRows(documents: RestoreResult["plan"]["documents"]): readonly AskedRow[] {
  const rows = documents.flatMap(({ document_name: name, document_id: id, listed }) =>
    sortListed(listed)
      .filter(({ choice }) => choice !== null)
      .map((loss) => ({ loss, document: nameText(name ?? "") || id })),
  );
  const hasEvidence = ({ loss }: AskedRow) => loss.why !== "no evidence";
  const others = rows.filter((row) => !hasEvidence(row));
  return [...rows.filter(hasEvidence), ...(others.length > mostWithoutEvidence ? [] : others)].slice(0, mostQuestions);
}

async function askRows(rows: readonly AskedRow[], dialogue: Dialogue): Promise<readonly string[]> {
  const chosen: string[] = [];
  for (const [at, { loss, document }] of rows.entries()) {
    dialogue.say(`${at + 1} of ${rows.length}: ${placeOf(loss)} of ${document}`);
    dialogue.say(`${loss.why}: ${loss.reason}`);
    if (loss.now !== null) dialogue.say(`- ${loss.now}`);
    dialogue.say(`+ ${loss.content}`);
    const answer = await dialogue.choose({
      message: `Restore this ${loss.level === "chunk" ? "chunk" : "child chunk"}, too?`,
      choices: [
        { value: "leave", label: "No, leave it alone" },
        { value: "restore", label: `Yes, ${loss.choice === "replace" ? "in place of the text there" : "at the end"}` },
        { value: "stop", label: "No, and none of the others" },
      ],
    });
    if (answer === "stop") break;
    if (answer === "restore") chosen.push(loss.id);
  }
  return chosen;
}
