import { readRowsBy } from "../read-by-sql.js";
import { selectRows } from "./sql.js";

export const readRows = readRowsBy(selectRows);
