import type { KubeObject } from '../list-watch/kube-object.ts'
import type { ListWatchDeps } from '../list-watch/run-list-watch.ts'

/** What it takes to follow something of the API. */
export type FollowerDeps = Pick<ListWatchDeps<KubeObject>, 'client' | 'clock' | 'random' | 'log' | 'apiReturn'>
