import { SkipError } from "../../errors.js";

/** Reads something; undefined where the service answers 404. */
export async function ifThere<T>(read: () => Promise<T>): Promise<T | undefined> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof SkipError && error.status === 404) return undefined;
    throw error;
  }
}
