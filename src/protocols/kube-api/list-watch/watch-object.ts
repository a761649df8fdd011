import type { KubeObject } from './kube-object.ts'
import { runListWatch } from './run-list-watch.ts'
import type { ListWatchDeps } from './run-list-watch.ts'

export interface WatchObjectDeps<T extends KubeObject> extends Omit<
  ListWatchDeps<T>,
  'query' | 'onReplace' | 'onEvent'
> {
  readonly name: string
  /** First what is there, then each change; undefined for an object that does not exist. */
  readonly onObject: (object: T | undefined) => void
}

/** Follows one object of a collection by its name, which is all that some clients may. */
export function watchObject<T extends KubeObject>(deps: WatchObjectDeps<T>, signal: AbortSignal): Promise<never> {
  const { name, onObject } = deps
  return runListWatch<T>(
    {
      ...deps,
      query: { fieldSelector: `metadata.name=${name}` },
      onReplace: (items) => onObject(items[0]),
      onEvent: ({ type, object }) => onObject(type === 'DELETED' ? undefined : object),
    },
    signal,
  )
}
