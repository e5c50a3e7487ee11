/** Names of errors, as Node has them. */
import { getSystemErrorMap } from "node:util";
import { native } from "./native";

/** Members of errors that those of pages have not. */
export interface OwnMembers {
  /** Of an error of the system, as of Node's own: -2 for ENOENT. */
  readonly errno?: number;
}

export const ownMembers = (number: number): object =>
  number === 0 ? {} : { errno: -number };

/** "NOT_FOUND". */
export const statusName = (status: number): string =>
  native.status_name(status).replace(/^RC_E_/, "");

/** The code of an error of the system. */
export const systemCode = (number: number): string | undefined =>
  getSystemErrorMap().get(-number)?.[0];

export const nameOf = (kind: Function): string => kind.name;

/** A message of the library, whose options the module has named already. */
export const ownWords = (message: string): string => message;
