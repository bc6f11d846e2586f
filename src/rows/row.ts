import * as v from "valibot";
import { isMapping } from "../schema.js";

/** A record as the service sent it; nothing of it is checked but that it is an object. */
export type RawRecord = Readonly<Record<string, unknown>>;

/** A row: the columns of its kind, in order. Times are ISO strings, everything else is as JSON has it. */
export type Row = Readonly<Record<string, unknown>>;

/** A row that this program wrote: nothing of it is checked but that it is an object. */
export const rowSchema = v.custom<Row>(isMapping, "an object");
