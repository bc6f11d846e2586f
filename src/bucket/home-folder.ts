import { homedir } from "node:os";

/** The home of this user; undefined where there is none, as for a user id that the container does not know. */
export function homeFolder(): string | undefined {
  try {
    return homedir();
  } catch {
    return undefined;
  }
}
