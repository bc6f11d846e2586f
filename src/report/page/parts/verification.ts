import { countText } from "../../../amounts.js";
import type { VerificationFacts } from "../../state-facts.js";
import { stateText } from "../cells.js";
import { type Html, html } from "../html.js";
import { renderNotes } from "./notes.js";

/** The findings of reading every file of the dump again. */
export function renderVerification(facts: VerificationFacts | undefined): Html {
  if (!facts) {
    return html`<p>${stateText("quiet", "Not verified")} This report was made without reading the files of the dump again. <code>kbdump verify</code> does that.</p>`;
  }
  const { status, files, findings, finding_count, notes } = facts;
  const read = `kbdump read ${files === 1 ? "the file" : `all ${countText(files, "file")}`} of this dump again`;
  const result =
    status === "sound"
      ? html`<p>${stateText("good", "Sound")} ${read}: hashes, counts and ids agree with its manifest.</p>`
      : html`<p>${stateText("bad", countText(finding_count, "difference"))} ${read}. The files are not as the run wrote them: restore them from a copy, or run the job again.</p>
${renderNotes(findings, finding_count, "difference")}`;
  return html`${result}${notes.length > 0 && html`<p>Checks that were not possible:</p>${renderNotes(notes, notes.length, "check")}`}`;
}
