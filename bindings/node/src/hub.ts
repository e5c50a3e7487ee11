/** Fetching models from a hub, and the cached models. */
import { pathOf, type Path } from "./handle";
import { native } from "./native";

export interface FetchOptions {
  /** The branch, tag or commit, if the source does not name one. */
  revision?: string | undefined;
  /** The folder of the cache. */
  cache?: Path | undefined;
  /** The file to write, instead of the cache. */
  to?: Path | undefined;
}

/** The models in the cache. Sizes are bytes. */
export interface CachedModels {
  folder: string;
  models: {
    name: string;
    bytes: number;
    shared_bytes: number;
    incomplete_bytes: number;
    revisions: {
      commit: string;
      names: string[];
      files: { name: string; bytes: number }[];
    }[];
  }[];
}

const folderOf = (path: Path | undefined): string =>
  path === undefined ? "" : pathOf(path);

/** @c rc_model_fetch */
export async function fetchModel(
  source: string,
  options: FetchOptions = {},
): Promise<string> {
  return native.model_fetch_later(
    source,
    options.revision ?? "",
    folderOf(options.cache),
    folderOf(options.to),
  );
}

/** @c rc_cached_models */
export async function cachedModels(cache?: Path): Promise<CachedModels> {
  return JSON.parse(await native.cached_models_later(folderOf(cache)));
}

/** @c rc_cached_model_remove */
export async function removeCachedModel(
  source: string,
  cache?: Path,
): Promise<void> {
  await native.cached_model_remove_later(source, folderOf(cache));
}
