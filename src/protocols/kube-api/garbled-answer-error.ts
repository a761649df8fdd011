import { KubeUnreachableError } from './kube-client.ts'

/** What came is not what a Kubernetes API sends: a watcher can no longer know what it missed. */
export class GarbledAnswerError extends KubeUnreachableError {}
