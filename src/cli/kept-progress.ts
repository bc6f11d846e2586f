import { countText, numberText } from "../amounts.js";
import { InterruptedError, LostError, StopError, UntoldError } from "../errors.js";
import type { RunTally } from "../job/run-tally.js";

/** The error of a worker with a word on what it leaves. */
export function withWork(error: unknown, { documentsDone }: Pick<RunTally, "documentsDone">): unknown {
  if (!(error instanceof InterruptedError)) return error;
  const read = `${countText(documentsDone, "document")} read`;
  const message = [error.message, read, "documents that it had not finished are given back"].join("; ");
  return new InterruptedError(error.exitCode === 130 ? "SIGINT" : "SIGTERM", message);
}

/** The error of a run with a word on what it leaves: nothing is added where nothing was kept, or another run took over. */
export function withProgress(error: unknown, tally: RunTally, { fresh }: { readonly fresh: boolean }): unknown {
  if (!tally.isKept || error instanceof LostError || error instanceof UntoldError) return error;
  const again = `run the same command${fresh ? " without --fresh" : ""} to resume`;
  const done = tally.documentsDone - tally.documentsFailed;
  const read = done > 0 ? [`${numberText(done)} of ${countText(tally.documents, "document")} read`] : [];
  if (error instanceof InterruptedError) {
    const message = [error.message, ...read, "progress is kept", again].join("; ");
    return new InterruptedError(error.exitCode === 130 ? "SIGINT" : "SIGTERM", message);
  }
  if (!(error instanceof StopError)) return error;
  const { status, code } = error;
  const kept = /what was read is kept/i.test(error.message) ? [] : ["what was read is kept"];
  const message = [error.message.replace(/\.$/, ""), ...read, ...kept, again].join("; ");
  const failure = { ...(status === undefined ? {} : { status }), ...(code === undefined ? {} : { code }) };
  return new StopError(message, { ...failure, cause: error });
}
