/** Files that were fetched and kept, in the storage of the page's origin. */
import { theEngine } from "./engine.js";
import { shown } from "./handle.js";

/** A file that was fetched. */
export interface CachedModel {
  readonly url: string;
  /** The bytes that are stored. */
  readonly bytes: number;
  /** The size of the file in bytes; 0: unknown. */
  readonly total: number;
  /** Whether all of it is stored. */
  readonly complete: boolean;
  /** The sum that it was checked against, or "". */
  readonly sha256: string;
}

/** The files that are kept, whole or in part. */
export async function cachedModels(): Promise<CachedModel[]> {
  return (await theEngine()).call("cachedModels", []);
}

/**
 * Removes a file from the cache; a model that was loaded from it stays usable.
 * NotFoundError: it is not in the cache; BusyError: it is being fetched.
 */
export async function removeCachedModel(url: string | URL): Promise<void> {
  if (typeof url !== "string" && !(url instanceof URL)) {
    throw new TypeError(`url must be a URL, not ${shown(url)}`);
  }
  const { href } = new URL(url, document.baseURI);
  await (await theEngine()).call("removeCachedModel", [href]);
}
