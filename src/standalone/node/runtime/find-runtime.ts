import type { RuntimeAnswer, StatusDeps } from '../node-deps.ts'
import { findContainerd } from './containerd.ts'
import type { ContainerdPaths } from './containerd-config.ts'

/** The runtime of a node, as "status" and "why" show it. */
export interface FoundRuntime {
  readonly text: string
  readonly answers: boolean
}

/** Asks the runtime that the user named, or looks for the private containerd. */
export async function findRuntime(
  { askRuntime }: Pick<StatusDeps, 'askRuntime'>,
  paths: ContainerdPaths,
  endpoint: string | undefined,
  signal: AbortSignal,
): Promise<FoundRuntime> {
  if (endpoint !== undefined) return describeRuntime(endpoint, await askRuntime(endpoint, signal))
  const pid = await findContainerd(paths)
  return { text: pid === undefined ? 'stopped' : `containerd (pid ${pid})`, answers: pid !== undefined }
}

function describeRuntime(endpoint: string, answer: RuntimeAnswer): FoundRuntime {
  switch (answer) {
    case 'docker':
      return { text: `Docker at ${endpoint}`, answers: true }
    case 'other':
      return { text: endpoint, answers: true }
    case 'nothing':
      return { text: `${endpoint} is away: nothing listens there, so no pod can be started or stopped`, answers: false }
    case 'silent':
      return { text: `${endpoint} does not answer, so no pod can be started or stopped`, answers: false }
  }
}
