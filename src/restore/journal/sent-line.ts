import * as v from "valibot";
import { count, text } from "../../schema.js";

/** A write that is being sent. One without such a line was not sent. It is noted again if the service asks to send it later. */
export const sentLine = v.object({
  kind: v.literal("sent"),
  number: count,
  time: v.pipe(text, v.isoTimestamp("a time")),
});
