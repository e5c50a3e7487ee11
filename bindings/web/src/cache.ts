/** What has been fetched and kept, in the storage of the page's origin. */
import { theEngine } from "./engine.js";
import { shown } from "./handle.js";

/** A file that was fetched. */
export interface CachedModel {
  readonly url: string;
  /** Bytes that are there. */
  readonly bytes: number;
  /** Bytes that the file has; 0: not known. */
  readonly total: number;
  /** Whether all of it is there. */
  readonly complete: boolean;
  /** That it was checked by, or "". */
  readonly sha256: string;
}

/** The files that are kept, whole or in part. */
export async function cachedModels(): Promise<CachedModel[]> {
  return (await theEngine()).call("cachedModels", []);
}

/**
 * Removes a file from what is kept; a model that was loaded from it stays usable.
 * NotFoundError: it is not there; BusyError: it is being fetched.
 */
export async function removeCachedModel(url: string | URL): Promise<void> {
  if (typeof url !== "string" && !(url instanceof URL)) {
    throw new TypeError(`url must be a URL, not ${shown(url)}`);
  }
  const { href } = new URL(url, document.baseURI);
  await (await theEngine()).call("removeCachedModel", [href]);
}
