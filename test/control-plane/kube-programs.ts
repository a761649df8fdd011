import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'
import process from 'node:process'

/** Names the folder with the programs of a real control plane; tests that need one are skipped when it is not set. */
export const KUBE_BIN = 'KUBE_BIN'

/** Paths of the programs of a control plane. */
export interface KubePrograms {
  readonly etcd: string
  readonly apiServer: string
  readonly controllerManager: string
  readonly scheduler: string
  /** Of the folder where it has one, else the machine's own. */
  readonly kubectl: string
}

/** What has to be in the folder; etcd may also be on the machine's own path. */
export const WANTED_PROGRAMS = ['kube-apiserver', 'kube-controller-manager', 'kube-scheduler', 'etcd'] as const

/** The programs of the folder that KUBE_BIN names, undefined when it is not set. Throws when the folder lacks one. */
export function findKubePrograms(environment: NodeJS.ProcessEnv = process.env): KubePrograms | undefined {
  const folder = environment[KUBE_BIN]
  if (folder === undefined || folder === '') return undefined
  const elsewhere = (environment['PATH'] ?? '').split(delimiter)
  const find = (name: string, folders: readonly string[]) =>
    folders.map((each) => join(each, name)).find((path) => isProgram(path))
  const paths = WANTED_PROGRAMS.map((name) => find(name, name === 'etcd' ? [folder, ...elsewhere] : [folder]))
  const missing = WANTED_PROGRAMS.filter((_, index) => paths[index] === undefined)
  if (missing.length > 0) throw new Error(`Cannot use ${KUBE_BIN}=${folder}: no program ${missing.join(', ')} in it`)
  const [apiServer = '', controllerManager = '', scheduler = '', etcd = ''] = paths
  return { etcd, apiServer, controllerManager, scheduler, kubectl: find('kubectl', [folder]) ?? 'kubectl' }
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}
