import { cutText } from "../../safe-text.js";
import type { Verification } from "../../verify/verification.js";
import type { VerificationFacts } from "../state-facts.js";

/** Findings and notes that are shown of each, and the UTF-16 units of one. */
const [mostShown, longest] = [20, 500];

/** The facts of a verification. Findings and notes may quote the service: without content they are left out. */
export function verificationFacts(
  { status, finding_count, findings, checked }: Verification,
  content: boolean,
): VerificationFacts {
  const shown = (texts: readonly string[]) =>
    content ? texts.slice(0, mostShown).map((text) => cutText(text, longest)) : [];
  return {
    status,
    finding_count,
    findings: shown(findings.map(({ file, message }) => `${file}: ${message}`)),
    files: checked.files,
    notes: shown(checked.notes),
  };
}
