import { StopError } from "../errors.js";

/** A file of a result is not there, or has other bytes than its worker wrote. Its document can be read again. */
export class DamagedFileError extends StopError {
  /** `place`: the path or address of the file. */
  constructor(place: string, difference: string, cause?: unknown) {
    super(
      `${place} is not what a worker wrote there: ${difference}. Its document has to be read again. Check the disk or the store`,
      { cause },
    );
  }
}
